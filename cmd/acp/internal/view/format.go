package view

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
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
	partsMost = 2 << 20 // of a formatted message without its long texts
)

// format returns a message as indented JSON, with numbers as they were written. Long texts are
// folded.
func format(rec *recording.Record) (parts []part) {
	text := []byte(strconv.Quote(rec.Line + string(rec.Raw)))
	var indented bytes.Buffer
	if rec.Raw != nil && json.Indent(&indented, rec.Raw, "", "  ") == nil {
		text = indented.Bytes()
	}
	from := 0
	for begin, end := range longTexts(text, foldAbove) {
		cut := begin + foldShows
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		parts = append(parts, part{Text: string(text[from:begin])}, part{string(text[begin:cut]), len(parts)/2 + 1, end - begin - 2})
		from = end
	}
	rest := text[from:]
	if more := len(rest) - partsMost; more > 0 { // of an endless list, say
		rest = append(rest[:partsMost:partsMost], "\n… "+plural(more, "byte")+" more: see the file"...)
	}
	return append(parts, part{Text: string(rest)})
}

// longTexts returns where the texts of JSON that have more than so many bytes begin and end, with
// their quotation marks.
func longTexts(text []byte, above int) iter.Seq2[int, int] {
	return func(yield func(begin, end int) bool) {
		for i := 0; i < len(text); i++ {
			if text[i] != '"' {
				continue
			}
			begin := i
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if end := min(i+1, len(text)); end-begin > above && !yield(begin, end) {
				return
			}
		}
	}
}

// unfolded returns the long text with a number.
func unfolded(rec *recording.Record, number int) (text string, ok bool) {
	if rec.Raw == nil {
		return rec.Line, number == 1
	}
	for begin, end := range longTexts(rec.Raw, foldAbove) {
		if number--; number == 0 {
			return text, json.Unmarshal(rec.Raw[begin:end], &text) == nil
		}
	}
	return "", false
}
