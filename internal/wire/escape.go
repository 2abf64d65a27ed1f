package wire

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/internal/envelope"
)

// plainString is the maximum length of a string that is first checked as a whole, because most
// strings of that length need no escape.
const plainString = 128

// AppendString appends s as a JSON string to b. It escapes only what JSON requires, and replaces
// bytes that are not UTF-8 by U+FFFD.
func AppendString[S ~string](b []byte, s S) []byte { return appendString(b, string(s)) }

func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	if len(s) <= plainString && isPlain(s) {
		b = append(b, s...)
		return append(b, '"')
	}
	start := len(b)
	b, seen := appendEscaped(b, s, 0)
	if seen&envelope.Highs != 0 && !utf8.ValidString(s) {
		b = b[:start]
		for _, r := range s {
			if r < utf8.RuneSelf {
				b, _ = appendEscaped(b, string(r), 0)
			} else {
				b = utf8.AppendRune(b, r)
			}
		}
	}
	return append(b, '"')
}

// appendEscaped appends the characters of s, with escapes where they are required. seen collects
// bytes that are not ASCII.
func appendEscaped(b []byte, s string, seen uint64) ([]byte, uint64) {
	for len(s) > 0 {
		// Even source code has fewer escapes than one in six characters. If the room is too small,
		// the only cost is a copy.
		b = slices.Grow(b, len(s)+len(s)/6+escapeRoom)
		var written, read int
		written, read, seen = escape(b[len(b):cap(b)], s, seen)
		b, s = b[:len(b)+written], s[read:]
	}
	return b, seen
}

// escapeRoom is how much room escape needs to make progress: one word before an escape, and one for
// the escape.
const escapeRoom = 16

// escape writes the characters at the beginning of s to out, with escapes where they are required,
// until s or out ends. It copies words up to the next escape. Escapes often come in groups, such as
// the end of a line and the tabs after it, so the bytes after an escape are read one by one.
func escape(out []byte, s string, seen uint64) (written, read int, _ uint64) {
	o, r := out, s
	for len(r) >= 8 && len(o) >= escapeRoom {
		w := load(r)
		seen |= w
		binary.LittleEndian.PutUint64(o, w)
		m := envelope.Special(w)
		if m == 0 {
			o, r = o[8:], r[8:]
			continue
		}
		n := bits.TrailingZeros64(m) >> 3 & 7 // never more than 7; the mask removes bounds checks
		o, r = o[n:], r[n:]
		for len(r) > 0 && len(o) >= 8 {
			form := forms[r[0]]
			if form>>56 == 1 {
				break
			}
			binary.LittleEndian.PutUint64(o, form)
			o, r = o[form>>56&7:], r[1:]
		}
	}
	for len(r) > 0 && len(r) < 8 && len(o) >= 8 {
		form := forms[r[0]]
		seen |= uint64(r[0])
		binary.LittleEndian.PutUint64(o, form)
		o, r = o[form>>56&7:], r[1:]
	}
	return len(out) - len(o), len(s) - len(r), seen
}

// forms maps each byte to its form in a string: up to six characters, and their number in the top
// byte.
var forms = func() (all [256]uint64) {
	for c := range all {
		form := string([]byte{byte(c)})
		if i := strings.IndexByte("\"\\\n\t\r\b\f", byte(c)); i >= 0 {
			form = `\` + `"\ntrbf`[i:i+1]
		} else if c < 0x20 {
			form = fmt.Sprintf(`\u%04x`, c)
		}
		var word [8]byte
		copy(word[:], form)
		word[7] = byte(len(form))
		all[c] = binary.LittleEndian.Uint64(word[:])
	}
	return all
}()

// isPlain reports whether s is ASCII and needs no escape.
func isPlain(s string) bool {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if w := load(s[i:]); envelope.Special(w)|w&envelope.Highs != 0 {
			return false
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// load reads eight bytes as a little-endian word. The compiler makes it one instruction.
func load(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
