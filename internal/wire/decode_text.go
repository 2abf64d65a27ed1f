package wire

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// Strings up to shortString bytes of one message share allocations of up to
	// textBlock bytes. A string that is kept for long keeps no more than that.
	shortString = 256
	textBlock   = 1 << 10
)

// text makes the strings of one message.
type text struct {
	block strings.Builder
	room  int
}

// take returns s as a string that shares its memory with others of the message.
// left bounds the bytes that the rest of the message may still need.
func (t *text) take(s []byte, left int) string {
	if len(s) == 0 {
		return ""
	}
	if len(s) > shortString {
		return string(s)
	}
	if len(s) > t.room {
		t.room = max(min(left, textBlock), len(s))
		t.block = strings.Builder{}
		t.block.Grow(t.room)
	}
	start := t.block.Len()
	t.block.Write(s)
	t.room -= len(s)
	return t.block.String()[start:]
}

// readString consumes the string whose opening quote is next.
func (d *Decoder) readString() string {
	start := d.i
	left := len(d.b) - start
	if seg, ok := d.segment(); ok {
		return d.text.take(seg, left)
	}
	d.i = start
	raw, escaped := d.quoted()
	if len(raw) <= shortString {
		var buf [3 * shortString]byte
		return d.text.take(appendUnescaped(buf[:0], raw), left)
	}
	var s strings.Builder
	unescape(&s, raw, escaped)
	return s.String()
}

// unquote consumes a string and returns it unescaped; the bytes may be a part of
// the message.
func (d *Decoder) unquote() []byte {
	start := d.i
	if seg, ok := d.segment(); ok {
		return seg
	}
	d.i = start
	raw, _ := d.quoted()
	return appendUnescaped(nil, raw)
}

// segment consumes the string whose opening quote is next if it stands in the
// message as it is: ASCII without escapes. Otherwise ok is false and the decoder
// is anywhere in the string.
func (d *Decoder) segment() (seg []byte, ok bool) {
	start := d.i + 1
	end, ascii := plainASCII(d.b, start)
	d.i = end
	if end >= len(d.b) || d.b[end] != '"' {
		return nil, false
	}
	d.i = end + 1
	seg = d.b[start:end]
	return seg, ascii || utf8.Valid(seg)
}

// plainASCII is plain, and tells whether all bytes on the way were ASCII.
func plainASCII(b []byte, i int) (end int, ascii bool) {
	var seen uint64
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		if m := special(w); m != 0 {
			n := bits.TrailingZeros64(m) >> 3
			seen |= w & (1<<(n*8) - 1)
			return i + n, seen&highs == 0
		}
		seen |= w
	}
	for ; i < len(b); i++ {
		c := b[i]
		if c < 0x20 || c == '"' || c == '\\' {
			break
		}
		seen |= uint64(c)
	}
	return i, seen&highs == 0
}

// quoted consumes the string whose opening quote is next and returns what stands
// between the quotes, and whether there are escapes in it. It looks for quotes
// only, many bytes at a time, and is meant for long strings.
func (d *Decoder) quoted() (raw []byte, escaped bool) {
	start := d.i + 1
	for end := start; ; end++ {
		n := bytes.IndexByte(d.b[min(end, len(d.b)):], '"')
		if n < 0 {
			d.i = len(d.b)
			return d.b[min(start, len(d.b)):], true
		}
		end += n
		slashes := 0
		for end-slashes > start && d.b[end-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			d.i = end + 1
			raw = d.b[start:end]
			return raw, bytes.IndexByte(raw, '\\') >= 0
		}
	}
}

// unescape writes the text of a long string. The room it takes is what the raw
// form needs: escapes shrink, and only bytes that are not UTF-8 grow.
func unescape(s *strings.Builder, raw []byte, escaped bool) {
	s.Grow(len(raw))
	if !escaped && utf8.Valid(raw) {
		s.Write(raw)
		return
	}
	var block [1 << 10]byte
	for rest, seen := raw, uint64(0); ; {
		var n, read int
		n, read, seen = unescapeBlock(block[:], rest, seen)
		s.Write(block[:n])
		if rest = rest[read:]; len(rest) > 0 {
			continue
		}
		if seen&highs != 0 && !utf8.Valid(raw) {
			s.Reset()
			s.Write(appendUnescaped(nil, raw))
		}
		return
	}
}

// unescapeBlock fills out, which has room for 16 bytes at least, with the text at
// the beginning of raw. It copies eight bytes at a time, up to the next backslash,
// and does not look at what is not ASCII: that is collected in seen.
func unescapeBlock(out, raw []byte, seen uint64) (written, read int, _ uint64) {
	i, j := 0, 0
	for i+8 <= len(raw) && j+7+utf8.UTFMax <= len(out) { // an escape may stand behind seven bytes
		w := binary.LittleEndian.Uint64(raw[i:])
		binary.LittleEndian.PutUint64(out[j:], w)
		seen |= w
		slash := w ^ ones*'\\'
		m := (slash - ones) &^ slash & highs
		if m == 0 {
			i += 8
			j += 8
			continue
		}
		n := bits.TrailingZeros64(m) >> 3
		i += n
		j += n
		if i+1 < len(raw) {
			if c := shortEscapes[raw[i+1]]; c != 0 {
				out[j] = c
				i += 2
				j++
				continue
			}
		}
		r, n := decodeEscape(raw[i:])
		i += n
		j += utf8.EncodeRune(out[j:j+4], r)
	}
	if i+8 <= len(raw) {
		return j, i, seen
	}
	for i < len(raw) && j+4 <= len(out) {
		c := raw[i]
		seen |= uint64(c)
		if c != '\\' {
			out[j] = c
			i++
			j++
			continue
		}
		r, n := decodeEscape(raw[i:])
		i += n
		j += utf8.EncodeRune(out[j:j+4], r)
	}
	return j, i, seen
}

// appendUnescaped is unescape for short strings and for those that are not UTF-8.
func appendUnescaped(out, raw []byte) []byte {
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '\\':
			r, n := decodeEscape(raw[i:])
			out = utf8.AppendRune(out, r)
			i += n
		case c < utf8.RuneSelf:
			out = append(out, c)
			i++
		default:
			r, n := utf8.DecodeRune(raw[i:])
			out = utf8.AppendRune(out, r)
			i += n
		}
	}
	return out
}

// shortEscapes are the bytes behind the escapes of two characters.
var shortEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// decodeEscape reads the escape at the beginning of raw, or two that make one
// character. A lone surrogate reads as U+FFFD. It returns how many bytes it has
// read, at least one.
func decodeEscape(raw []byte) (r rune, n int) {
	if len(raw) < 2 {
		return utf8.RuneError, len(raw)
	}
	if c := shortEscapes[raw[1]]; c != 0 {
		return rune(c), 2
	}
	r = hexRune(raw)
	if r < 0 {
		return utf8.RuneError, 2
	}
	if utf16.IsSurrogate(r) {
		if both := utf16.DecodeRune(r, hexRune(raw[6:])); both != utf8.RuneError {
			return both, 12
		}
		return utf8.RuneError, 6
	}
	return r, 6
}

// hexRune reads the escape of six characters at the beginning of raw; negative
// means there is none.
func hexRune(raw []byte) rune {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range raw[2:6] {
		v := hexValue(c)
		if v < 0 {
			return -1
		}
		r = r<<4 | v
	}
	return r
}
