package wire

import (
	"encoding/binary"
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
	b = append(b, '"')
	if len(s) <= escapeBlock && isPlain(s) {
		b = append(b, s...)
		return append(b, '"')
	}
	if len(s) >= longString {
		// Text has few escapes: a sixth is room enough nearly always, and too
		// little only costs a copy.
		b = slices.Grow(b, len(s)+len(s)/6+6*escapeBlock)
	}
	start, seen := len(b), uint64(0)
	for rest := s; len(rest) > 0; {
		block := rest[:min(len(rest), escapeBlock)]
		b, seen = appendBlock(b, block, seen)
		rest = rest[len(block):]
	}
	if seen&highs != 0 && !utf8.ValidString(s) {
		b = b[:start]
		for _, r := range s {
			if r < utf8.RuneSelf {
				b, _ = appendBlock(b, string(r), 0)
			} else {
				b = utf8.AppendRune(b, r)
			}
		}
	}
	return append(b, '"')
}

// escapeBlock is how much of a string is escaped before room is made again. A byte
// needs up to six.
const escapeBlock = 128

// appendBlock appends the characters of s, escaped where they must be. It copies
// eight bytes at a time, up to the next one that is special, and does not look at
// what is not ASCII: that is collected in seen.
func appendBlock(b []byte, s string, seen uint64) ([]byte, uint64) {
	j := len(b)
	b = slices.Grow(b, 6*len(s)+8)
	b = b[:cap(b)]
	i := 0
	for i+8 <= len(s) {
		w := load(s[i:])
		binary.LittleEndian.PutUint64(b[j:], w)
		seen |= w
		m := special(w)
		if m == 0 {
			i += 8
			j += 8
			continue
		}
		n := bits.TrailingZeros64(m) >> 3
		i += n
		j = putEscape(b, j+n, s[i])
		i++
	}
	for ; i < len(s); i++ {
		c := s[i]
		seen |= uint64(c)
		if c < 0x20 || c == '"' || c == '\\' {
			j = putEscape(b, j, c)
		} else {
			b[j] = c
			j++
		}
	}
	return b[:j], seen
}

// letters are the second characters of the short escapes.
var letters = [256]byte{'"': '"', '\\': '\\', '\n': 'n', '\t': 't', '\r': 'r', '\b': 'b', '\f': 'f'}

func putEscape(b []byte, j int, c byte) int {
	b[j] = '\\'
	if letter := letters[c]; letter != 0 {
		b[j+1] = letter
		return j + 2
	}
	return j + copy(b[j:], []byte{'\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15]})
}

const hexDigits = "0123456789abcdef"

// isPlain tells whether s stands in JSON as it is, and is ASCII.
func isPlain(s string) bool {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if w := load(s[i:]); special(w)|w&highs != 0 {
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

// load reads eight bytes as a little-endian word; the compiler makes it one
// instruction.
func load(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}
