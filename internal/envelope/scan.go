package envelope

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// MaxDepth is how deep objects and arrays may nest in one message.
const MaxDepth = 1000

// ErrTooDeep means that a JSON value nests deeper than the caller allows. The value may otherwise
// be well formed.
var ErrTooDeep = errors.New("json: nested too deep")

// SyntaxError means that bytes are not JSON.
type SyntaxError struct {
	Offset int // index of the first byte that does not fit
	Msg    string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("json: %s at offset %d", e.Msg, e.Offset)
}

func syntax(at int, msg string) (int, error) {
	return at, &SyntaxError{Offset: at, Msg: msg}
}

// Skip checks the JSON value at b[i], after optional white space, and returns the index after it.
// It does not look at what follows.
//
// depth is how many levels of objects and arrays the value may have: 0 allows only scalars, and a
// whole message gets MaxDepth. A deeper value is ErrTooDeep. Every other error is a *SyntaxError.
//
// Strings may contain bytes that are not UTF-8 and escapes of lone surrogates, because peers send
// them. Member names may repeat. Everything else is checked strictly.
func Skip(b []byte, i, depth int) (end int, err error) {
	i = SkipSpace(b, i)
	if i >= len(b) {
		return syntax(i, "unexpected end")
	}
	switch c := b[i]; c {
	case '"':
		return SkipString(b, i)
	case '{':
		return skipObject(b, i, depth)
	case '[':
		return skipArray(b, i, depth)
	case 't':
		return skipLiteral(b, i, "true")
	case 'f':
		return skipLiteral(b, i, "false")
	case 'n':
		return skipLiteral(b, i, "null")
	default:
		if c == '-' || IsDigit(c) {
			return skipNumber(b, i)
		}
		return syntax(i, "unexpected character")
	}
}

func skipObject(b []byte, i, depth int) (int, error) {
	if depth <= 0 {
		return i, ErrTooDeep
	}
	i = SkipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1, nil
	}
	for {
		if i >= len(b) {
			return syntax(i, "unexpected end")
		}
		if b[i] != '"' {
			return syntax(i, "expected a member name")
		}
		var err error
		if i, err = SkipString(b, i); err != nil {
			return i, err
		}
		if i = SkipSpace(b, i); i >= len(b) || b[i] != ':' {
			return syntax(i, "expected ':'")
		}
		if i, err = Skip(b, i+1, depth-1); err != nil {
			return i, err
		}
		if i = SkipSpace(b, i); i >= len(b) {
			return syntax(i, "unexpected end")
		}
		switch b[i] {
		case ',':
			i = SkipSpace(b, i+1)
		case '}':
			return i + 1, nil
		default:
			return syntax(i, "expected ',' or '}'")
		}
	}
}

func skipArray(b []byte, i, depth int) (int, error) {
	if depth <= 0 {
		return i, ErrTooDeep
	}
	i = SkipSpace(b, i+1)
	if i < len(b) && b[i] == ']' {
		return i + 1, nil
	}
	for {
		var err error
		if i, err = Skip(b, i, depth-1); err != nil {
			return i, err
		}
		if i = SkipSpace(b, i); i >= len(b) {
			return syntax(i, "unexpected end")
		}
		switch b[i] {
		case ',':
			i++
		case ']':
			return i + 1, nil
		default:
			return syntax(i, "expected ',' or ']'")
		}
	}
}

func skipLiteral(b []byte, i int, word string) (int, error) {
	for k := range len(word) {
		if i+k >= len(b) {
			return syntax(i+k, "unexpected end")
		}
		if b[i+k] != word[k] {
			return syntax(i+k, "unexpected character")
		}
	}
	return i + len(word), nil
}

func skipNumber(b []byte, i int) (int, error) {
	if b[i] == '-' {
		i++
	}
	if i >= len(b) || !IsDigit(b[i]) {
		return syntax(i, "expected a digit")
	}
	if b[i] == '0' {
		i++
	} else {
		i = skipDigits(b, i)
	}
	if i < len(b) && b[i] == '.' {
		if i++; i >= len(b) || !IsDigit(b[i]) {
			return syntax(i, "expected a digit")
		}
		i = skipDigits(b, i)
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if i >= len(b) || !IsDigit(b[i]) {
			return syntax(i, "expected a digit")
		}
		i = skipDigits(b, i)
	}
	return i, nil
}

// SkipString checks the string whose opening quote is b[i] and returns the index after
// its closing quote.
func SkipString(b []byte, i int) (int, error) {
	i++
	for {
		if i = Plain(b, i); i >= len(b) {
			return syntax(i, "unexpected end")
		}
		switch b[i] {
		case '"':
			return i + 1, nil
		case '\\':
			// Escapes often come in groups, such as the end of a line and the tabs after it.
			for i+1 < len(b) && b[i] == '\\' && ShortEscapes[b[i+1]] != 0 {
				i += 2
			}
			if i >= len(b) || b[i] != '\\' {
				continue
			}
			end, err := skipUnicode(b, i)
			if err != nil {
				return end, err
			}
			i = end
		default:
			return syntax(i, "control character in a string")
		}
	}
}

// skipUnicode checks the \u escape, which has six characters, at b[i].
func skipUnicode(b []byte, i int) (int, error) {
	for k := i + 1; k < i+6; k++ {
		switch {
		case k >= len(b):
			return syntax(k, "unexpected end")
		case k == i+1 && b[k] != 'u':
			return syntax(k, "unknown escape")
		case k > i+1 && HexValue(b[k]) < 0:
			return syntax(k, "expected a hexadecimal digit")
		}
	}
	return i + 6, nil
}

// Ones has the lowest bit of each byte of a word, Highs the highest.
const (
	Ones  = 0x0101010101010101
	Highs = 0x8080808080808080
)

// ShortEscapes maps the second character of an escape of two characters to the byte that the escape
// stands for.
var ShortEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// Special sets the top bit of each byte of a little-endian word that is a quote, a backslash or a
// control character. Only the lowest of these bits is exact.
func Special(w uint64) uint64 {
	quote := w ^ Ones*'"'
	slash := w ^ Ones*'\\'
	return ((quote-Ones)&^quote | (slash-Ones)&^slash | (w-Ones*0x20)&^w) & Highs
}

// Plain returns the index of the first quote, backslash or control character from b[i] on, or
// len(b).
func Plain(b []byte, i int) int {
	for ; i+32 <= len(b); i += 32 {
		s := b[i : i+32 : i+32]
		m0 := Special(binary.LittleEndian.Uint64(s))
		if m0 != 0 {
			return i + bits.TrailingZeros64(m0)>>3
		}
		m1 := Special(binary.LittleEndian.Uint64(s[8:]))
		if m1 != 0 {
			return i + 8 + bits.TrailingZeros64(m1)>>3
		}
		m2 := Special(binary.LittleEndian.Uint64(s[16:]))
		if m2 != 0 {
			return i + 16 + bits.TrailingZeros64(m2)>>3
		}
		m3 := Special(binary.LittleEndian.Uint64(s[24:]))
		if m3 != 0 {
			return i + 24 + bits.TrailingZeros64(m3)>>3
		}
	}
	for ; i+8 <= len(b); i += 8 {
		if m := Special(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < 0x20 || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}

// SkipSpace returns the index of the first byte from b[i] on that is not JSON white
// space, or len(b).
func SkipSpace(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && IsDigit(b[i]) {
		i++
	}
	return i
}

// IsDigit reports whether c is a decimal digit.
func IsDigit(c byte) bool { return c-'0' <= 9 }

// HexValue returns the value of a hexadecimal digit, or a negative number.
func HexValue(c byte) int32 {
	switch {
	case IsDigit(c):
		return int32(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int32(c|0x20-'a') + 10
	default:
		return -1
	}
}
