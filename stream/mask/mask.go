// Package mask hides credentials in JSON: by the names of members, by the shapes of values, and by the words
// before them in texts. Experimental: it may change in any release. Recordings of acp tap and the questions
// of package client/permission use it. A credential without a telling name and shape stays.
package mask

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
)

// Masked is in the place of each credential that was a text. A number becomes 0.
const Masked = "[masked]"

// longBase64 is the length from which base64 becomes a digest.
const longBase64 = 4 << 10

// maxDepth is more than any message is nested.
const maxDepth = 10_000

// Masker hides credentials. The zero Masker is ready to use, by one goroutine at a time.
type Masker struct {
	rules map[string]rule // of names of members that were seen
	out   []byte
	found []span // in the text at hand
	plain []byte // the text at hand, without escapes
}

// span is a part of a text, and what takes its place.
type span struct {
	from, to int
	by       string
}

// frame is an object or an array that is open.
type frame struct {
	object bool
	key    bool // the next text is the name of a member
	hide   rule // for all that is in it
	member rule // for the value of the current member
	pair   bool // it is an object in a list, such as {"name": "PATH", "value": "/bin"}: its name is shown
	named  bool // the current member is called "name"
	flag   flag // the last text of the list
}

// JSON returns text with [Masked] in the place of credentials, and a digest in the place of each base64 of more
// than 4 KiB. Changed reports whether there is any. Text may be incomplete, or be no JSON at all; what is returned
// for JSON is JSON. The result is valid until the next call.
func (m *Masker) JSON(text []byte) (result []byte, changed bool) {
	m.out = m.out[:0]
	copied := 0 // how much of text is in out, or replaced
	replace := func(from, to int, by string) {
		m.out = append(append(m.out, text[copied:from]...), by...)
		copied = to
	}
	stack := make([]frame, 1, 32)
	for i := 0; i < len(text); i++ {
		top := &stack[len(stack)-1]
		switch c := text[i]; c {
		case '{', '[':
			if len(stack) > maxDepth { // which is no message
				replace(i, len(text), Masked)
				return m.out, true
			}
			f := frame{object: c == '{', key: c == '{', hide: top.below(c == '['), pair: c == '{' && !top.object}
			stack = append(stack, f)
		case '}', ']':
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
		case ',':
			top.key = top.object
		case '"':
			end := endOfText(text, i+1)
			value := text[i+1 : end]
			switch {
			case top.key:
				top.key = false
				top.member, top.named = m.rule(value), string(value) == "name"
			case top.hides(), top.likely() && looksSecret(value):
				replace(i+1, end, Masked)
				top.flag = noFlag
			case top.flag.credential(value) >= 0:
				replace(i+1+top.flag.credential(value), end, Masked)
				top.flag = noFlag
			default:
				m.text(value, i+1, replace)
				if top.flag = noFlag; !top.object {
					top.flag = m.flagOf(value)
				}
			}
			i = end
		case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '-':
			end := i + 1
			for end < len(text) && bytes.IndexByte([]byte("0123456789+-.eE"), text[end]) >= 0 {
				end++
			}
			if top.hides() {
				replace(i, end, "0")
			}
			top.flag = noFlag
			i = end - 1
		}
	}
	if copied == 0 {
		return text, false
	}
	m.out = append(m.out, text[copied:]...)
	return m.out, true
}

// below returns the rule for all that is in an object or a list that begins in the frame.
func (f *frame) below(list bool) rule {
	switch {
	case f.hide == all, f.object && f.member == all:
		return all
	case list && f.hide == secret, list && f.object && f.member == secret:
		return secret
	case f.hide != plain, f.object && f.member != plain:
		return likely
	}
	return plain
}

// hides reports whether a text or a number in the frame is a credential.
func (f *frame) hides() bool {
	if f.object {
		return f.member >= secret || f.hide == all && !(f.pair && f.named)
	}
	return f.hide >= secret || f.flag == valueFlag
}

// likely reports whether a text in the frame is a credential if it looks like one.
func (f *frame) likely() bool { return f.hide == likely || f.object && f.member == likely }

// endOfText returns where the text that begins at i ends: the index of its quotation mark, or of
// the end of b.
func endOfText(b []byte, i int) int {
	for i < len(b) {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n
		slashes := i
		for slashes > 0 && b[slashes-1] == '\\' {
			slashes--
		}
		if (i-slashes)%2 == 0 {
			return i
		}
		i++
	}
	return i
}

// text hides credentials in the inside of a JSON string, by their shape and by the words before them.
// At is where the string begins.
func (m *Masker) text(text []byte, at int, replace func(from, to int, by string)) {
	if bytes.IndexByte(text, '\\') < 0 {
		m.find(text)
		for _, s := range m.found {
			replace(at+s.from, at+s.to, s.by)
		}
		return
	}
	m.plain = appendPlain(m.plain[:0], text)
	if m.find(m.plain); len(m.found) == 0 {
		return
	}
	raw, read := 0, 0 // the same place with escapes and without
	place := func(want int) int {
		for read < want && raw < len(text) {
			n, made := escaped(text[raw:])
			raw, read = raw+n, read+made
		}
		return raw
	}
	for _, s := range m.found {
		from := place(s.from)
		replace(at+from, at+place(s.to), s.by)
	}
}

// appendPlain appends the inside of a JSON string without its escapes, each of which becomes as many
// bytes as escaped says. What is beyond ASCII need not be right: no credential is made of it.
func appendPlain(b, text []byte) []byte {
	for len(text) > 0 {
		n := 1
		if text[0] != '\\' {
			b = append(b, text[0])
		} else {
			n, _ = escaped(text)
			b = append(b, escape(text[:n]))
		}
		text = text[n:]
	}
	return b
}

// escaped returns the length of the character that text begins with, as it is written and as it is
// without escapes.
func escaped(text []byte) (n, made int) {
	switch {
	case text[0] != '\\' || len(text) == 1:
		return 1, 1
	case text[1] == 'u':
		return min(6, len(text)), 1
	}
	return 2, 1
}

// escape returns the character of an escape. A character beyond ASCII becomes a byte that is no part
// of any word.
func escape(text []byte) byte {
	if len(text) == 6 {
		if code, err := strconv.ParseUint(string(text[2:]), 16, 16); err == nil && code < 0x80 {
			return byte(code)
		}
		return 0xff
	}
	if i := strings.IndexByte(`nrtbf`, text[len(text)-1]); len(text) == 2 && i >= 0 {
		return "\n\r\t\b\f"[i]
	}
	return text[len(text)-1]
}

func digest(base64 []byte) string {
	return fmt.Sprintf("[base64, %d bytes, sha256 %x]", len(base64), sha256.Sum256(base64))
}
