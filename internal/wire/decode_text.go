package wire

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/internal/envelope"
)

const (
	// Strings of one message up to shortString bytes share allocations. The first one has
	// firstBlock bytes; if there are many strings, later ones have up to textBlock bytes. A string
	// that is kept for long keeps no more than one of them in memory.
	shortString = 256
	firstBlock  = 256
	textBlock   = 1 << 10
)

// text makes the strings of one message.
type text struct {
	block strings.Builder
	room  int
	next  int // the size of the next block
}

// take returns s as a string that shares its memory with others of the message, and charges it to
// d.
func (t *text) take(d *Decoder, s []byte) string {
	if len(s) == 0 {
		return ""
	}
	if len(s) > shortString {
		d.Hold(len(s))
		return string(s)
	}
	if len(s) > t.room {
		// The rest of the message needs at most its own length, and s was already read.
		t.next = min(max(2*t.next, firstBlock), textBlock)
		t.room = max(min(len(d.b)-d.i+len(s), t.next), len(s))
		t.block = strings.Builder{}
		t.block.Grow(t.room)
		d.Hold(t.room)
	}
	start := t.block.Len()
	t.block.Write(s)
	t.room -= len(s)
	return t.block.String()[start:]
}

// readString consumes the string whose opening quote is next.
func (d *Decoder) readString() string {
	start := d.i
	if seg, ok := d.segment(); ok {
		return d.text.take(d, seg)
	}
	d.i = start
	raw, escaped := d.quoted()
	if len(raw) <= shortString {
		var buf [3 * shortString]byte
		return d.text.take(d, appendUnescaped(buf[:0], raw))
	}
	d.Hold(len(raw))
	var s strings.Builder
	unescape(&s, raw, escaped)
	return s.String()
}

// unquote consumes a string and returns it unescaped. The result may point into the message.
func (d *Decoder) unquote() []byte {
	start := d.i
	if seg, ok := d.segment(); ok {
		return seg
	}
	d.i = start
	raw, _ := d.quoted()
	return appendUnescaped(nil, raw)
}

// segment consumes the next string if it is UTF-8 without escapes, and returns its bytes in the
// message. Otherwise ok is false, and the position of the decoder is anywhere in the string.
func (d *Decoder) segment() (seg []byte, ok bool) {
	b, start := d.b, d.i+1
	i, high := start, uint64(0) // high collects bytes that are not ASCII
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		if m := envelope.Special(w); m != 0 {
			n := bits.TrailingZeros64(m) >> 3
			high |= w & (1<<(n*8) - 1)
			i += n
			break
		}
		high |= w
	}
	for ; i < len(b) && b[i] >= 0x20 && b[i] != '"' && b[i] != '\\'; i++ {
		high |= uint64(b[i])
	}
	if i >= len(b) || b[i] != '"' {
		d.i = i
		return nil, false
	}
	d.i = i + 1
	seg = b[start:i]
	return seg, high&envelope.Highs == 0 || utf8.Valid(seg)
}

// quoted consumes the next string and returns the bytes between its quotes, and whether they
// contain escapes. It looks only for quotes, many bytes at a time, and is meant for long strings.
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

// unescape writes the text of a long string. The length of the raw form is a good estimate of the
// room: escapes shrink, and only bytes that are not UTF-8 grow.
func unescape(s *strings.Builder, raw []byte, escaped bool) {
	s.Grow(len(raw))
	if !escaped && utf8.Valid(raw) {
		s.Write(raw)
		return
	}
	var block [2 << 10]byte
	for rest, seen := raw, uint64(0); ; {
		var n, read int
		n, read, seen = unescapeBlock(block[:], rest, seen)
		s.Write(block[:n])
		if rest = rest[read:]; len(rest) > 0 {
			continue
		}
		if seen&envelope.Highs != 0 && !utf8.Valid(raw) {
			s.Reset()
			s.Write(appendUnescaped(nil, raw))
		}
		return
	}
}

// unescapeBlock writes the text at the beginning of raw to out, which has room for at least 16
// bytes. It copies words up to the next backslash. Escapes often come in groups, such as the end of
// a line and the tabs after it, so the bytes after an escape are read one by one. seen collects
// bytes that are not ASCII.
func unescapeBlock(out, raw []byte, seen uint64) (written, read int, _ uint64) {
	o, r := out, raw
	for len(r) >= 9 && len(o) >= 8+utf8.UTFMax { // an escape may begin with the last byte of the word
		w := binary.LittleEndian.Uint64(r)
		seen |= w
		binary.LittleEndian.PutUint64(o, w)
		slash := w ^ envelope.Ones*'\\'
		m := (slash - envelope.Ones) &^ slash & envelope.Highs
		if m == 0 {
			o, r = o[8:], r[8:]
			continue
		}
		n := bits.TrailingZeros64(m) >> 3 & 7 // never more than 7; the mask removes bounds checks
		o, r = o[n:], r[n:]
		for len(r) >= 2 && r[0] == '\\' && len(o) >= utf8.UTFMax {
			if c := envelope.ShortEscapes[r[1]]; c != 0 {
				o[0] = c
				o, r = o[1:], r[2:]
				continue
			}
			c, size := decodeEscape(r)
			o, r = o[utf8.EncodeRune(o[:utf8.UTFMax], c):], r[size:]
		}
	}
	for len(r) > 0 && len(r) < 9 && len(o) >= utf8.UTFMax {
		if c := r[0]; c != '\\' {
			seen |= uint64(c)
			o[0] = c
			o, r = o[1:], r[1:]
			continue
		}
		c, size := decodeEscape(r)
		o, r = o[utf8.EncodeRune(o[:utf8.UTFMax], c):], r[size:]
	}
	return len(out) - len(o), len(raw) - len(r), seen
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

// decodeEscape reads the escape at the beginning of raw, or two that make one character. A lone
// surrogate becomes U+FFFD. n is the number of bytes read, at least one.
func decodeEscape(raw []byte) (r rune, n int) {
	if len(raw) < 2 {
		return utf8.RuneError, len(raw)
	}
	if c := envelope.ShortEscapes[raw[1]]; c != 0 {
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

// hexRune reads the \u escape at the beginning of raw. It returns a negative number if there is
// none.
func hexRune(raw []byte) rune {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range raw[2:6] {
		v := envelope.HexValue(c)
		if v < 0 {
			return -1
		}
		r = r<<4 | v
	}
	return r
}
