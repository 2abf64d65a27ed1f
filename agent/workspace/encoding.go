package workspace

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

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

// The encodings of files that begin with a byte order mark, which is kept.
var (
	littleEndian = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	bigEndian    = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
)

// inUTF16 returns the text of a file in UTF-16 that begins with its mark, and its encoding. The encoding is
// nil for another file, and for one that would not be written as it was read.
func inUTF16(at *localfs.Place) (string, encoding.Encoding) {
	raw, _ := at.Bytes(2 * maxText) // nil after an error
	var of encoding.Encoding
	switch {
	case bytes.HasPrefix(raw, []byte("\xff\xfe")) && !bytes.HasPrefix(raw, []byte("\xff\xfe\x00\x00")): // not UTF-32
		of = littleEndian
	case bytes.HasPrefix(raw, []byte("\xfe\xff")):
		of = bigEndian
	default:
		return "", nil
	}
	text, _ := of.NewDecoder().Bytes(raw) // what is invalid is replaced
	if again, err := of.NewEncoder().Bytes(text); err != nil || !bytes.Equal(again, raw) {
		return "", nil
	}
	return string(text), of
}

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
		text, _ := littleEndian.NewDecoder().Bytes(raw[first : len(raw)-(len(raw)-first)%2]) // what is invalid is replaced
		return string(text)
	}
	var text strings.Builder
	for len(raw) > 0 {
		r, n := utf8.DecodeRune(raw)
		if r == utf8.RuneError && n == 1 {
			r = charmap.Windows1252.DecodeByte(raw[0])
		}
		text.WriteRune(r)
		raw = raw[n:]
	}
	return text.String()
}
