package view

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
)

// part is a piece of a formatted message. A piece with Fold is a long text, of which Text is the
// beginning; Fold is its number.
type part struct {
	Text string `json:"text"`
	Fold int    `json:"fold,omitempty"`
	Size int    `json:"size,omitempty"` // of the long text, in bytes
}

const (
	foldAbove = 512     // a longer text is folded
	foldShows = 96      // how much of it is shown
	partsMost = 2 << 20 // of a formatted message; what follows is a fold
)

// format returns a message as indented JSON, with numbers as they were written. Long texts are
// folded.
func format(rec *recording.Record) []part {
	if rec.Raw == nil {
		return fold(nil, strconv.Quote(rec.Line), 1)
	}
	var indented bytes.Buffer
	if json.Indent(&indented, rec.Raw, "", "  ") != nil {
		return fold(nil, strconv.Quote(string(rec.Raw)), 1)
	}
	var parts []part
	text, folds, begin := indented.Bytes(), 0, 0
	for i := 0; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		end := endOfString(text, i)
		if end-i > foldAbove {
			parts = append(parts, part{Text: valid(text[begin:i])})
			folds++
			parts = fold(parts, string(text[i:end]), folds)
			begin = end
		}
		i = end - 1
	}
	rest := text[begin:]
	if len(rest) > partsMost { // of an endless list, say
		parts = append(parts, part{Text: valid(rest[:partsMost]) + "\n… " + plural(int64(len(rest)-partsMost), "byte") + " more: see the file"})
		return parts
	}
	return append(parts, part{Text: valid(rest)})
}

// endOfString returns the index behind the string that begins at text[i].
func endOfString(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// fold appends a JSON string, folded if it is long.
func fold(parts []part, quoted string, number int) []part {
	if len(quoted) <= foldAbove {
		return append(parts, part{Text: valid([]byte(quoted))})
	}
	cut := foldShows
	for !utf8.RuneStart(quoted[cut]) {
		cut--
	}
	return append(parts, part{Text: valid([]byte(quoted[:cut])), Fold: number, Size: len(quoted) - 2})
}

// unfolded returns the long text with a number.
func unfolded(rec *recording.Record, number int) (text string, ok bool) {
	if rec.Raw == nil {
		return valid([]byte(rec.Line)), number == 1
	}
	raw := rec.Raw
	for i := 0; i < len(raw); i++ {
		if raw[i] != '"' {
			continue
		}
		end := endOfString(raw, i)
		if end-i > foldAbove {
			if number--; number == 0 {
				return text, json.Unmarshal(raw[i:end], &text) == nil
			}
		}
		i = end - 1
	}
	return "", false
}

func valid(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// plural returns a number with its word.
func plural(n int64, word string) string {
	if word == "version" || word == "error" {
		return word + " " + strconv.FormatInt(n, 10)
	}
	if n != 1 {
		word += "s"
	}
	return strconv.FormatInt(n, 10) + " " + word
}
