package envelope

import (
	"bytes"
	"unicode/utf8"
)

// separators are the line ends that may stand unescaped in a string of JSON. Programs that read lines
// split them there: readline of Node.js at the last two, splitlines of Python at all.
var separators = [...]struct{ raw, escaped string }{
	{"\u0085", `\u0085`},
	{"\u2028", `\u2028`},
	{"\u2029", `\u2029`},
}

// OneLine returns a JSON text of the same value that every program reads as one line: separators are
// escaped, which stand in strings, and line feeds and carriage returns become spaces, which stand
// between tokens. It returns msg itself if there are none.
func OneLine(msg []byte) []byte {
	const ends = "\n\r"
	for i := range len(ends) {
		if bytes.IndexByte(msg, ends[i]) >= 0 {
			msg = bytes.ReplaceAll(msg, []byte{ends[i]}, []byte{' '})
		}
	}
	for _, s := range separators {
		if raw := []byte(s.raw); bytes.Contains(msg, raw) {
			msg = bytes.ReplaceAll(msg, raw, []byte(s.escaped))
		}
	}
	return msg
}

// Trim removes white space and byte order marks from both ends. White space is what JavaScript
// counts as such, because most peers are written in it and trim lines that way.
func Trim(line []byte) []byte {
	line = trimStart(line)
	for len(line) > 0 {
		if c := line[len(line)-1]; c > ' ' && c < utf8.RuneSelf {
			break
		}
		r, n := utf8.DecodeLastRune(line)
		if !isSpace(r) {
			break
		}
		line = line[:len(line)-n]
	}
	return line
}

func trimStart(line []byte) []byte {
	for len(line) > 0 {
		if c := line[0]; c > ' ' && c < utf8.RuneSelf {
			break
		}
		r, n := utf8.DecodeRune(line)
		if !isSpace(r) {
			break
		}
		line = line[n:]
	}
	return line
}

func isSpace(r rune) bool {
	switch r {
	case ' ', '\t', '\n', '\v', '\f', '\r',
		0x00A0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return 0x2000 <= r && r <= 0x200A
}
