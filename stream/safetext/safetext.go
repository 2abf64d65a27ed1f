// Package safetext makes texts of a peer safe to print on a terminal. Experimental: it may change in any release. A text of
// an agent, or of whoever an agent reads from, may hold sequences that repaint the screen, name another target than they
// show, turn the text around, or imitate a line of the program that prints it.
//
// [OneLine] is for whatever a person decides by: names, titles, paths, commands and addresses. It hides
// nothing. [Label] is the same within the length that a label, a title or a question may have. [Lines] is for texts to be read: messages, output and logs. It removes what cannot be read.
//
// The package imports the standard library only, so that every program can use it.
package safetext

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// more takes the place of what is beyond the limit.
const more = "..."

// OneLine returns at most limit bytes of a text as one line; pass len(text) for all of it. Characters
// that control a terminal, end a line, change the direction of the text or cannot be seen are replaced
// by escapes, such as \n. So is each space after another space, because many spaces would push the rest
// to the next line. A text that is longer ends in "...", and what was cut costs nothing.
func OneLine(text string, limit int) string {
	text, cut := first(text, limit)
	var b strings.Builder
	b.Grow(len(text))
	const none = rune(-1)
	before := none // the character that was printed last, unless it was an escape
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		rest := text[n:]
		switch gap := unicode.Is(unicode.Zs, r) && unicode.Is(unicode.Zs, before); {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
			before = none
		case r == ' ' && gap:
			b.WriteString(`\x20`)
			before = none
		case gap, blank(r), hidden(before, r, rest):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
			before = none
		default:
			b.WriteRune(r)
			before = r
		}
		text = rest
	}
	return b.String() + cut
}

// labelRunes is the most that a label has. What is longer pushes out of sight what stands beside it.
const labelRunes = 200

// Label returns a text as OneLine does, in at most 200 characters. A text that is longer ends in "...". A
// label of a label is the same label.
func Label(text string) string {
	line := []rune(OneLine(text, labelRunes*utf8.UTFMax))
	if len(line) > labelRunes {
		line = append(line[:labelRunes-len(more)], []rune(more)...)
	}
	return string(line)
}

// Lines returns at most limit bytes of a text with its lines and tabs; pass len(text) for all of it.
// Every way to end a line becomes "\n". Sequences for terminals and characters that control one, change
// the direction of the text or cannot be seen are removed. A text that is longer ends in "...", and
// what was cut costs nothing.
//
// The parts of a text that arrives in pieces may be passed one by one: what is left of a sequence that
// was cut is harmless.
func Lines(text string, limit int) string {
	text, cut := first(text, limit)
	var b strings.Builder
	b.Grow(len(text))
	before := rune(-1) // the character that was printed last
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		rest := text[n:]
		switch {
		case r == escape:
			text = afterSequence(rest)
			continue
		case r == '\r' && (rest == "" || rest[0] == '\n'):
			text = rest
			continue
		case r == '\r', r == '\v', r == '\f', r == '\u0085', unicode.In(r, unicode.Zl, unicode.Zp):
			r = '\n'
		case r == '\n', r == '\t':
		case blank(r): // it looks like a space, and is joined and cut like one
			r = ' '
		case hidden(before, r, rest):
			text = rest
			continue
		}
		b.WriteRune(r)
		before, text = r, rest
	}
	return b.String() + cut
}

// first returns the first limit bytes of a text without a part of a character at the end, and what
// takes the place of the rest.
func first(text string, limit int) (string, string) {
	if len(text) <= limit {
		return text, ""
	}
	for limit = max(limit, 0); limit > 0 && !utf8.RuneStart(text[limit]); limit-- {
	}
	return text[:limit], more
}

const (
	escape          = '\x1b'
	bell            = '\a'
	enclosingKeycap = '\u20e3'
	// The joiners are parts of words and of emoji, and so are the selectors of their form.
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
	textForm           = '\ufe0e'
	emojiForm          = '\ufe0f'
)

// hidden reports whether a character is not to be printed as it is: because it acts on a terminal or on
// the text around it, or because it cannot be seen. Joiners and selectors are printed where they belong:
// behind a character outside of ASCII.
func hidden(before, r rune, rest string) bool {
	switch r {
	case zeroWidthJoiner, zeroWidthNonJoiner:
		return before < utf8.RuneSelf || unicode.Is(unicode.Zs, before) || before != emojiForm && unseen(before)
	case textForm, emojiForm:
		keycap := strings.HasPrefix(rest, string(enclosingKeycap))
		return before < utf8.RuneSelf && !keycap || unseen(before)
	}
	return unseen(r)
}

// blank reports whether a symbol has an empty form: the braille pattern without dots, and a notehead.
func blank(r rune) bool { return r == '\u2800' || r == '\U0001d159' }

func unseen(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// afterSequence returns what follows a sequence whose escape was read: ESC [ parameters letter, or
// a string such as ESC ] text BEL. A sequence that does not end before the next control character is
// none, so every byte is looked at once.
func afterSequence(text string) string {
	if text == "" {
		return text
	}
	switch text[0] {
	case '[':
		for i := 1; i < len(text) && text[i] >= ' ' && text[i] <= '~'; i++ {
			if text[i] >= '@' {
				return text[i+1:]
			}
		}
	case ']', 'P', 'X', '^', '_':
		for i := 1; i < len(text); i++ {
			switch {
			case text[i] == bell:
				return text[i+1:]
			case strings.HasPrefix(text[i:], "\x1b\\"):
				return text[i+2:]
			case text[i] < ' ':
				return text
			}
		}
	}
	return text
}
