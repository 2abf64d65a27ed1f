package view

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
)

// joined returns the beginning of a text that arrived in chunks, of which e is the first, at pos.
func (r *Recording) joined(e *entry, pos int32) string {
	positions := r.sessions[e.Session].positions
	i, _ := slices.BinarySearch(positions, pos)
	var text strings.Builder
	for _, next := range positions[i:min(i+int(e.chunks), len(positions))] {
		rec, err := r.record(&r.entries[next])
		if err != nil {
			break
		}
		text.WriteString(chunkText(rec))
		if text.Len() > utf8.UTFMax*summaryLength {
			break
		}
	}
	return short(text.String())
}

// chunkText returns the text of a chunk.
func chunkText(rec *recording.Record) string {
	var m struct {
		Params struct {
			Update struct {
				Content struct{ Text, Type string }
			}
		}
	}
	_ = json.Unmarshal(rec.Raw, &m) // what cannot be read has no text
	content := m.Params.Update.Content
	if content.Text == "" && content.Type != "text" && content.Type != "" {
		return "[" + content.Type + "]"
	}
	return content.Text
}

// A list shows so many characters of a message, which are in its first summaryReads bytes.
const (
	summaryLength = 160
	summaryReads  = 4 << 10
)

// summary says what is in a message.
func summary(rec *recording.Record) string {
	text := rec.Line
	switch {
	case rec.Kind == recording.Gap:
		text = "messages are missing: " + plural(rec.Dropped, "record") + " of " + plural(rec.Bytes, "byte") + " dropped, because the disk was too slow"
	case rec.Kind == recording.Cut:
		text = "the recording ends here, and the traffic went on: " + rec.Line
		if rec.Dropped > 0 {
			text += ": " + plural(rec.Dropped, "message") + " of " + plural(rec.Bytes, "byte") + " missing"
		}
	case rec.Kind == recording.End:
		text = "sends nothing more " + rec.Line
	case rec.Size > 0:
		text = "not recorded: " + plural(rec.Size, "byte")
	case rec.Raw != nil:
		text = strings.Join(values(rec), " ")
	}
	return short(text)
}

// short returns the beginning of a text on one line.
func short(text string) string {
	text = strings.Join(strings.Fields(text[:min(len(text), summaryReads)]), " ")
	if utf8.RuneCountInString(text) > summaryLength {
		text = string([]rune(text)[:summaryLength]) + "…"
	}
	return text
}

// scalar is a name of a member, a text or a number in JSON.
var scalar = regexp.MustCompile(`("(?:[^"\\]|\\.)*")\s*(:?)|-?[0-9][0-9.eE+-]*`)

// known are members that a summary leaves out: the list has them in other columns, or they say nothing
// to people.
var known = map[string]bool{"jsonrpc": true, "id": true, "method": true, "type": true, "data": true, "mimeType": true, "sessionUpdate": true, "messageId": true}

// values returns the texts and numbers at the beginning of a message, and then its ids. Numbers and ids stand
// behind the name of their member. The message is not parsed, because its beginning is no whole JSON.
func values(rec *recording.Record) []string {
	raw := []byte(rec.Raw)
	if len(raw) > summaryReads {
		raw = append(bytes.Clone(raw[:summaryReads]), '"') // the text that is cut
	}
	var list, ids []string
	name := ""
	for _, m := range scalar.FindAllSubmatch(raw, -1) {
		text := string(m[0])
		if m[1] != nil && json.Unmarshal(m[1], &text) != nil {
			text = string(m[1])
		}
		switch {
		case len(m[2]) > 0:
			name = text
		case known[name], text == "", name == "sessionId" && rec.Kind != recording.Response:
		case strings.HasSuffix(name, "Id"):
			ids = append(ids, name, text)
		case m[1] == nil:
			list = append(list, name, text)
		default:
			list = append(list, text)
		}
	}
	return append(list, ids...)
}

// plural returns a number with its word.
func plural[N int | int64](n N, word string) string {
	if n != 1 {
		word += "s"
	}
	return strconv.FormatInt(int64(n), 10) + " " + word
}
