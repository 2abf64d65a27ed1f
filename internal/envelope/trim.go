package envelope

import "unicode/utf8"

// Trim removes white space and byte order marks from both ends. White space is what JavaScript
// counts as such, because most peers are written in it and trim lines that way.
func Trim(line []byte) []byte { return trimEnd(trimStart(line)) }

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

func trimEnd(line []byte) []byte {
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

func isSpace(r rune) bool {
	switch r {
	case ' ', '\t', '\n', '\v', '\f', '\r',
		0x00A0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return 0x2000 <= r && r <= 0x200A
}
