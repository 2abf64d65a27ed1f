package workspace

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/internal/localfs"
)

// mark is the byte order mark, with which some files begin. It is part of their text.
const mark = "\ufeff"

// inFormOf returns a new text with the line ends and the byte order mark of the text that it replaces,
// because models write neither.
func inFormOf(old, text string) string {
	if strings.HasPrefix(old, mark) && !strings.HasPrefix(text, mark) {
		text = mark + text
	}
	return withLineEnds(old, text)
}

// withLineEnds returns a text with the line ends \r\n if the old one has only those, and the new one has
// none of them.
func withLineEnds(old, text string) string {
	if n := strings.Count(old, "\r\n"); n == 0 || n != strings.Count(old, "\n") || strings.Contains(text, "\r\n") {
		return text
	}
	return strings.ReplaceAll(text, "\n", "\r\n")
}

// byteOrder is the order of the bytes of UTF-16.
type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// inUTF16 returns the text of a file in UTF-16 that begins with its byte order mark, and its order. The order
// is nil for another file, and for one that would not be written as it was read.
func inUTF16(at *localfs.Place) (string, byteOrder) {
	raw, _ := at.Bytes(2 * maxText) // nil after an error
	var order byteOrder
	switch {
	case bytes.HasPrefix(raw, []byte("\xff\xfe")) && !bytes.HasPrefix(raw, []byte("\xff\xfe\x00\x00")): // not UTF-32
		order = binary.LittleEndian
	case bytes.HasPrefix(raw, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return "", nil
	}
	text := fromUTF16(raw, order)
	if toUTF16(text, order) != string(raw) {
		return "", nil
	}
	return text, order
}

// fromUTF16 replaces what is invalid, and leaves out half a unit at the end.
func fromUTF16(raw []byte, order byteOrder) string {
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = order.Uint16(raw[2*i:])
	}
	return string(utf16.Decode(units))
}

func toUTF16(text string, order byteOrder) string {
	var raw []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		raw = order.AppendUint16(raw, unit)
	}
	return string(raw)
}

// windows1252 has the characters of the bytes 0x80 to 0x9f in the code page of most old programs. The other
// bytes are those of Latin-1.
var windows1252 = []rune("€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ")

// readable returns the output of a command as text. Programs of Windows write UTF-16, and old ones the
// characters of a code page.
func readable(raw []byte) string {
	var zeros [2]int // at even and odd places
	for i, b := range raw {
		if b == 0 {
			zeros[i%2]++
		}
	}
	first := 0 // which may be cut off
	if zeros[0] > zeros[1] {
		first = 1
	}
	if zeros[1-first] > len(raw)/4 && zeros[first] <= zeros[1-first]/8 {
		return fromUTF16(raw[first:], binary.LittleEndian)
	}
	var text strings.Builder
	for len(raw) > 0 {
		r, n := utf8.DecodeRune(raw)
		if r == utf8.RuneError && n == 1 {
			if r = rune(raw[0]); r < 0xa0 {
				r = windows1252[r-0x80]
			}
		}
		text.WriteRune(r)
		raw = raw[n:]
	}
	return text.String()
}
