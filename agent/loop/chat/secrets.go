package chat

import (
	"net/url"
	"regexp"
	"strings"
)

const (
	minSecret = 8 // bytes of a part of a secret; a shorter one may be any word
	redacted  = "[API_KEY]"
)

// secretsOf returns what no text may contain.
func secretsOf(o *Options, base *url.URL) (all []string) {
	add := func(secret string) {
		if secret = strings.TrimSpace(secret); secret != "" {
			all = append(all, secret)
		}
	}
	add(o.Key)
	if password, ok := base.User.Password(); ok {
		add(password)
	}
	for _, named := range []map[string][]string{base.Query(), o.Header} {
		for _, values := range named {
			for _, v := range values {
				if v = strings.TrimPrefix(v, "Bearer "); len(v) >= minSecret {
					add(v)
				}
			}
		}
	}
	return all
}

var (
	link   = regexp.MustCompile(`(https?://)(?:[^\s/@"'<>]*@)?([^\s?#"'<>)]*)(?:[?#][^\s"'<>)]*)?`)
	masked = regexp.MustCompile(`([\w-]*)(?:\*{2,}|•{2,}|…|\.{3,})([\w-]*)`)
)

// clean removes secrets from the text of a server, and the user and the query of each URL. It comes
// before the text is cut, because a part of a key is secret too.
func (m *Model) clean(text string) string {
	text = link.ReplaceAllString(text, "$1$2")
	for _, secret := range m.secrets {
		text = redact(text, secret)
	}
	return text
}

func redact(text, secret string) string {
	if len(secret) < minSecret { // only where a value stands, because the text may have the same word
		short := regexp.MustCompile("((?:[:=]|Bearer)\\s*[\"'`]?|[\"'`])" + regexp.QuoteMeta(secret) + `($|[^\w-])`)
		return short.ReplaceAllString(text, "${1}"+redacted+"${2}")
	}
	text = masked.ReplaceAllStringFunc(text, func(word string) string { // services repeat the ends of a key
		parts := masked.FindStringSubmatch(word)
		if len(parts[1]) > 1 && strings.HasPrefix(secret, parts[1]) || len(parts[2]) > 1 && strings.HasSuffix(secret, parts[2]) {
			return redacted
		}
		return word
	})
	var out strings.Builder
	for i := 0; i < len(text); {
		n := minSecret
		if i+n > len(text) || !strings.Contains(secret, text[i:i+n]) {
			out.WriteByte(text[i])
			i++
			continue
		}
		for i+n < len(text) && strings.Contains(secret, text[i:i+n+1]) {
			n++
		}
		out.WriteString(redacted)
		i += n
	}
	return out.String()
}
