package errs

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
)

// LogText returns the text of err for a log. It removes the query, the fragment and the
// user from each URL in the text, because queries can contain keys and the errors of
// net/http contain the whole URL. It cuts a text of more than 4 KiB.
func LogText(err error) string {
	if isNil(err) {
		return fmt.Sprintf("a nil %T in an error", err)
	}
	return LogString(fmt.Sprint(err)) // fmt.Sprint recovers a panic of the Error method
}

// LogString returns a text for a log, as LogText does.
func LogString(text string) string {
	if len(text) > maxLogText {
		text = strings.ToValidUTF8(text[:maxLogText], "") + "..."
	}
	return redactURLs(text)
}

// maxLogText bounds a text in the log: a peer may have named a part of it.
const maxLogText = 4 << 10

// LogAttr returns err as an attribute of a log record. An error that implements slog.LogValuer
// determines its own form.
func LogAttr(key string, err error) slog.Attr {
	if v, ok := err.(slog.LogValuer); ok {
		return slog.Any(key, v)
	}
	return slog.String(key, LogText(err))
}

// logged marks the error inside as one that is in the log already. A connection looks for
// its methods Logged and ErrorID.
type logged struct {
	error
	id string
}

func (l *logged) Unwrap() error        { return l.error }
func (*logged) Logged() bool           { return true }
func (l *logged) ErrorID() string      { return l.id }
func (l *logged) LogValue() slog.Value { return LogAttr("", l.error).Value }

// Logged returns err with the mark that it is in the log already, and with its id or a new one.
func Logged(err error) error { return &logged{err, cmp.Or(ErrorID(err), NewErrorID())} }

// IsLogged reports whether err, or something that it wraps, is in the log already.
func IsLogged(err error) bool {
	l, ok := As[interface{ Logged() bool }](err)
	return ok && l.Logged()
}

// ErrorID returns the id under which err is in the log, and "" if it has none.
func ErrorID(err error) string {
	if l, ok := As[interface{ ErrorID() string }](err); ok {
		return l.ErrorID()
	}
	return ""
}

// NewErrorID returns an id under which a person who reads an internal error finds it in the
// log. A connection logs each internal error with one and sends it in data.errorId.
func NewErrorID() string { return strings.ToLower(rand.Text()[:8]) }

// urlMark matches the parts that distinguish a URL from other text: the end of a scheme, or a
// query.
var urlMark = regexp.MustCompile("://|\\?[^\\s\"'`<>\\\\]*=")

// redactURLs shortens everything in s that looks like a URL.
func redactURLs(s string) string {
	var b strings.Builder
	done := 0 // how much of s is in b, or left out
	for {
		mark := urlMark.FindStringIndex(s[done:])
		if mark == nil {
			return b.String() + s[done:]
		}
		at, rest := done+mark[0], done+mark[0] // rest: what the query or the fragment can stand in
		if s[at] == ':' {
			rest = done + mark[1]
		}
		url := s[rest : rest+lengthOfURL(s[:at], s[rest:])]
		b.WriteString(s[done:rest])
		done = rest
		if rest > at { // the user stands before the host
			host := url
			if i := strings.IndexAny(url, "/?#"); i >= 0 {
				host = url[:i]
			}
			if i := strings.LastIndexByte(host, '@'); i >= 0 {
				b.WriteString("..." + host[i:])
			} else {
				b.WriteString(host)
			}
			done += len(host)
		}
		if i := strings.IndexAny(url, "?#"); i >= 0 {
			b.WriteString(s[done:rest+i+1] + "...")
			done = rest + len(url)
		}
	}
}

// lengthOfURL returns the length of the rest of a URL that begins in the text before. A URL that
// begins after a quotation mark ends before the next one, and may contain anything.
func lengthOfURL(before, left string) int {
	if i := strings.LastIndexFunc(before, endsURL); i >= 0 && strings.IndexByte("\"'`", before[i]) >= 0 {
		escapes := i - len(strings.TrimRight(before[:i], `\`))
		if n := untilQuote(left, before[i], escapes); n >= 0 {
			return n
		}
	}
	if i := strings.IndexFunc(left, endsURL); i >= 0 {
		return i
	}
	return len(left)
}

// untilQuote returns the index of the quotation mark that ends a text, with its backslashes,
// or -1. Each quotation around the text doubles the backslashes inside.
func untilQuote(s string, quote byte, escapes int) int {
	run := 0 // backslashes before s[i]
	for i := range len(s) {
		switch {
		case s[i] == '\\':
			run++
		case s[i] == quote && run%(2*(escapes+1)) == escapes:
			return i - escapes
		default:
			run = 0
		}
	}
	return -1
}

func endsURL(r rune) bool {
	return r <= ' ' || r == '"' || r == '\'' || r == '`' || r == '<' || r == '>' || r == '\\'
}
