package endpoint

import (
	"strings"
	"unicode"
)

// Printable removes from a text of the peer what could act on a terminal or turn the text
// around: control characters and the marks of writing direction. White space becomes a
// space, so that the result is one line.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t' || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
