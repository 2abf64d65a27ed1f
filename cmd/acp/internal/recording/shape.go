package recording

import (
	"bytes"
	"regexp"
)

// class says which bytes words have, as keys and names do, and which bytes runs have, as base64 does.
var class [256]struct{ word, run bool }

func init() {
	for c := range class {
		class[c].word = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' || c == '~'
		class[c].run = class[c].word || c == '+' || c == '/' || c == '='
	}
}

// keyShape matches keys that begin with the mark of their service, and signed tokens (JWT).
var keyShape = regexp.MustCompile(`^(?:(?:sk-|[sr]k_|gh[opsur]_|github_pat_|glpat-|xox[abprs]-|xapp-|AKIA|ASIA|AIza|ya29\.|npm_|hf_|gsk_|xai-|pypi-|dop_v1_|shpat_|AGE-SECRET-KEY-).{16}|eyJ[^.]+\..{20})`)

// isKey reports whether a word has the shape of a key.
func isKey(word []byte) bool {
	return len(word) >= 16 && bytes.ContainsAny(word, "0123456789") && keyShape.Match(word)
}

// text hides credentials in the text of a JSON string by their shape. At is where the text begins.
func (m *masker) text(text []byte, at int, replace func(from, to int, by string)) {
	if i := bytes.Index(text, []byte("-----BEGIN ")); i >= 0 && bytes.Contains(text[i:], []byte("PRIVATE KEY")) {
		replace(at, at+len(text), masked)
		return
	}
	var before []byte // the last word before a single space
	for i := 0; i < len(text); {
		c := text[i]
		if c == '\\' && i+1 < len(text) && text[i+1] != '/' {
			if i, before = i+2, nil; text[i-1] == 'u' {
				i = min(i+4, len(text))
			}
			continue
		}
		end := endOfRun(text, i)
		if end == i {
			if c == ':' && bytes.HasPrefix(text[i:], []byte("://")) {
				i = hideUser(text, i+3, at, replace)
				continue
			}
			if c != ' ' {
				before = nil
			}
			i++
			continue
		}
		run := text[i:end]
		scheme := bytes.EqualFold(before, []byte("bearer")) || bytes.EqualFold(before, []byte("basic"))
		switch {
		case len(run) > longBase64:
			replace(at+i, at+end, digest(run))
		case scheme && len(run) >= 16 && bytes.ContainsAny(run, "0123456789="):
			replace(at+i, at+end, masked)
		case len(run) >= 16, bytes.IndexByte(run, '=') > 0:
			end = m.run(text, i, end, at, replace)
		}
		i, before = end, run
	}
}

// endOfRun returns where the run that begins at i ends. A slash may be escaped.
func endOfRun(text []byte, i int) int {
	for i < len(text) {
		switch {
		case class[text[i]].run:
			i++
		case text[i] == '\\' && i+1 < len(text) && text[i+1] == '/':
			i += 2
		default:
			return i
		}
	}
	return i
}

// run hides the keys in text[i:end], which are words of it, and what is assigned to the name of a
// credential: KEY=value, --key=value or ?key=value. It returns where the search goes on.
func (m *masker) run(text []byte, i, end, at int, replace func(from, to int, by string)) int {
	for i < end {
		word := i
		for i < end && class[text[i]].word {
			i++
		}
		if i < end && text[i] == '=' && m.isAssigned(text, word, i) {
			value := i + 1
			for i = value; i < len(text) && bytes.IndexByte([]byte(" \"'`\\&;,<>|"), text[i]) < 0; i++ {
			}
			if i > value {
				replace(at+value, at+i, masked)
			}
			return i
		}
		// In JSON within JSON, the word may follow the letter of an escape, such as the n of \n.
		if isKey(text[word:i]) || word > 0 && text[word-1] == '\\' && isKey(text[min(word+1, i):i]) {
			replace(at+word, at+i, masked)
		}
		i++
	}
	return end
}

// isAssigned reports whether text[word:end] names a credential in a place where names stand.
func (m *masker) isAssigned(text []byte, word, end int) bool {
	name, before := text[word:end], text[:word]
	if bytes.HasSuffix(before, []byte("?")) || bytes.HasSuffix(before, []byte("&")) || bytes.HasSuffix(before, []byte(`\u0026`)) {
		return m.rule(name) == secret || string(name) == "key" || string(name) == "sig" || string(name) == "signature"
	}
	return m.rule(name) == secret && (name[0] == '-' || bytes.Equal(name, bytes.ToUpper(name)))
}

// hideUser hides the user of a URL, whose host begins at i, if there is a password or if the user
// may be one. It returns where the search goes on.
func hideUser(text []byte, i, at int, replace func(from, to int, by string)) int {
	end := bytes.IndexAny(text[i:], "/?#\"'\\<> ")
	if end < 0 {
		end = len(text) - i
	}
	user := bytes.LastIndexByte(text[i:i+end], '@')
	if user < 0 || user < 16 && bytes.IndexByte(text[i:i+user], ':') < 0 {
		return i
	}
	replace(at+i, at+i+user, masked)
	return i + user
}
