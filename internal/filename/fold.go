// Package filename tells which names file systems take for the same: some ignore the case of letters,
// the form of Unicode or a dot at the end, whatever the operating system, and some have a second, short
// name for each file.
package filename

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Fold returns a text that is equal for all names which any file system takes for the same, but for short
// names. It may be equal for other names, too.
func Fold(name string) string {
	if isPlain(name) {
		return name
	}
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ToValidUTF8(name, "\ufffd")) {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) { // HFS+ and ext4 ignore them
			continue
		}
		if r = smallest(r); r < 0x80 {
			b.WriteByte(byte(r))
		} else if text, ok := long[r]; ok {
			b.WriteString(strings.Map(smallest, text))
		} else {
			b.WriteRune(r)
		}
	}
	folded := norm.NFD.String(b.String())
	if short := strings.TrimRight(folded, ". "); short != "" { // Windows and vfat remove them
		return short
	}
	return folded
}

// isPlain reports whether Fold returns the name unchanged, as it does most.
func isPlain(name string) bool {
	for i := range len(name) {
		if c := name[i]; c >= 0x80 || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return !strings.HasSuffix(name, ".") && !strings.HasSuffix(name, " ")
}

// smallest returns the same character for all cases of a letter: the lower case of ASCII, and the first of
// the others.
func smallest(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if 'A' <= least && least <= 'Z' {
		return least + 'a' - 'A'
	}
	return least
}

// long are the letters that have several in another case.
var long = map[rune]string{
	smallest('ß'): "ss", smallest('ŉ'): "ʼn", smallest('ẚ'): "aʾ", smallest('և'): "եւ", smallest('ı'): "i", // the last in Turkish
	'ﬀ': "ff", 'ﬁ': "fi", 'ﬂ': "fl", 'ﬃ': "ffi", 'ﬄ': "ffl", smallest('ﬅ'): "st",
	'ﬓ': "մն", 'ﬔ': "մե", 'ﬕ': "մի", 'ﬖ': "վն", 'ﬗ': "մխ",
}
