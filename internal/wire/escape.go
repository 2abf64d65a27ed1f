package wire

import (
	"math/bits"
	"slices"
	"unicode/utf8"
)

// longString is the length from which it pays to make room before writing.
const longString = 1 << 10

// AppendString writes s as a JSON string behind b. Only what JSON demands is
// escaped; bytes that are not UTF-8 leave as U+FFFD.
func AppendString[S ~string](b []byte, s S) []byte { return appendString(b, string(s)) }

func appendString(b []byte, s string) []byte {
	if len(s) >= longString {
		// Text has few escapes: an eighth is room enough nearly always, and too
		// little only costs a copy.
		b = slices.Grow(b, len(s)+len(s)/8+2)
	}
	b = append(b, '"')
	start := 0
	for {
		i, ascii := plainString(s, start)
		if !ascii && !utf8.ValidString(s[start:i]) {
			b = appendValid(b, s[start:i])
		} else {
			b = append(b, s[start:i]...)
		}
		if i == len(s) {
			return append(b, '"')
		}
		b = appendEscape(b, s[i])
		start = i + 1
	}
}

const hexDigits = "0123456789abcdef"

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\t':
		return append(b, '\\', 't')
	case '\r':
		return append(b, '\\', 'r')
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	default:
		return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
	}
}

// appendValid copies s with U+FFFD in the place of bytes that are not UTF-8.
func appendValid(b []byte, s string) []byte {
	for _, r := range s {
		b = utf8.AppendRune(b, r)
	}
	return b
}

// plainString is plain for strings. It also tells whether all bytes on the way
// were ASCII.
func plainString(s string, i int) (end int, ascii bool) {
	var seen uint64
	for ; i+8 <= len(s); i += 8 {
		w := load(s[i:])
		m := special(w)
		if m != 0 {
			n := bits.TrailingZeros64(m) >> 3
			seen |= w & (1<<(n*8) - 1)
			return i + n, seen&highs == 0
		}
		seen |= w
	}
	for ; i < len(s); i++ {
		c := s[i]
		if c < 0x20 || c == '"' || c == '\\' {
			break
		}
		seen |= uint64(c)
	}
	return i, seen&highs == 0 && seen&0x80 == 0
}

// load reads eight bytes as a little-endian word; the compiler makes it one
// instruction.
func load(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
