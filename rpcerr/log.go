package rpcerr

import (
	"fmt"
	"log/slog"
	"strings"
)

// LogText returns the text of err for a log. It removes the query, the fragment and the
// user from each URL in the text, because queries can contain keys and the errors of
// net/http contain the whole URL. It returns "<nil>" for nil.
func LogText(err error) string { return redactURLs(fmt.Sprint(err)) } // Sprint survives an Error method that panics

// logAttr returns err for a log. An error that knows what a log may hold decides itself.
func logAttr(key string, err error) slog.Attr {
	if v, ok := err.(slog.LogValuer); ok {
		return slog.Any(key, v)
	}
	return slog.String(key, LogText(err))
}

// redactURLs shortens everything in s that looks like a URL.
func redactURLs(s string) string {
	const mark = "://"
	at := strings.Index(s, mark)
	if at < 0 {
		return s
	}
	var b strings.Builder
	for ; at >= 0; at = strings.Index(s, mark) {
		at += len(mark)
		b.WriteString(s[:at])
		s = s[at:]
		end := strings.IndexFunc(s, endsURL)
		if end < 0 {
			end = len(s)
		}
		url := s[:end]
		s = s[end:]
		url, cut := cutQuery(url)
		host, path, slash := strings.Cut(url, "/")
		if i := strings.LastIndexByte(host, '@'); i >= 0 {
			host = "..." + host[i:]
		}
		b.WriteString(host)
		if slash {
			b.WriteString("/" + path)
		}
		b.WriteString(cut)
	}
	b.WriteString(s)
	return b.String()
}

// cutQuery removes what follows the path, and returns what to write in its place.
func cutQuery(url string) (path, mark string) {
	if i := strings.IndexAny(url, "?#"); i >= 0 {
		return url[:i], url[i:i+1] + "..."
	}
	return url, ""
}

func endsURL(r rune) bool {
	return r <= ' ' || r == '"' || r == '\'' || r == '`' || r == '<' || r == '>' || r == '\\'
}
