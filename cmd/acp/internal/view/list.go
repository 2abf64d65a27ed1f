package view

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
)

// hits are the messages that contain the text that was last searched for.
type hits struct {
	mu   sync.Mutex // guards all below
	text string
	in   []bool // by position; messages that were added after the search are not in it
}

// search returns for each message, so far, whether it contains a text in lower case.
func (r *Recording) search(text string) ([]bool, error) {
	r.hits.mu.Lock()
	defer r.hits.mu.Unlock()
	if text != r.hits.text {
		r.hits.text, r.hits.in = text, []bool{}
	}
	r.mu.RLock()
	entries := r.entries // whose offsets and sizes do not change
	r.mu.RUnlock()
	for i := len(r.hits.in); i < len(entries); i++ {
		rec, err := r.record(&entries[i])
		if err != nil {
			return nil, err
		}
		r.hits.in = append(r.hits.in, bytes.Contains(bytes.ToLower(rec.Raw), []byte(text)) || strings.Contains(strings.ToLower(rec.Line), text))
	}
	return r.hits.in, nil
}

// choose returns the positions of the messages of a session, in order. It leaves out messages with
// another method, unless method is empty, messages without a fault if faults is set, and messages that
// are not among the hits of a search, unless hits is nil.
func (r *Recording) choose(of *session, method string, faults bool, hits []bool) (positions []int32) {
	if method == "" && !faults && hits == nil {
		return of.positions
	}
	for _, pos := range of.positions {
		e := &r.entries[pos]
		if (method == "" || e.Method == method) && (!faults || e.Faults != nil) && (hits == nil || int(pos) < len(hits) && hits[pos]) {
			positions = append(positions, pos)
		}
	}
	return positions
}

// rows returns the messages at the positions.
func (r *Recording) rows(positions []int32) ([]row, error) {
	rows := make([]row, 0, len(positions))
	for _, pos := range positions {
		e := &r.entries[pos]
		rec, err := r.record(e)
		if err != nil {
			return nil, err
		}
		one := e.row
		one.ID, one.Text = string(rec.ID), summary(rec)
		rows = append(rows, one)
	}
	return rows, nil
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
	case rec.Kind == recording.End:
		text = "sends nothing more " + rec.Line
	case rec.Size > 0:
		text = "not recorded: " + plural(rec.Size, "byte")
	case rec.Raw != nil:
		text = strings.Join(values(rec), " ")
	}
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
var known = map[string]bool{"jsonrpc": true, "id": true, "method": true, "type": true, "data": true, "mimeType": true}

// values returns the texts and numbers at the beginning of a message, and its ids at last. Numbers and
// ids have the name of their member.
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

// plot is the traffic over time, in equal parts of the recording.
type plot struct {
	Client  []int   `json:"client"` // messages
	Agent   []int   `json:"agent"`
	Faults  []int   `json:"faults"`
	Latency []int64 `json:"latency"` // the longest, in microseconds
}

// plotParts is how many parts a plot has.
const plotParts = 240

// plot returns the traffic of a session.
func (r *Recording) plot(of *session) plot {
	p := plot{make([]int, plotParts), make([]int, plotParts), make([]int, plotParts), make([]int64, plotParts)}
	for _, pos := range of.positions {
		e := &r.entries[pos]
		part := int(e.At * plotParts / (r.length + 1))
		if e.Dir == recording.Client {
			p.Client[part]++
		} else {
			p.Agent[part]++
		}
		p.Faults[part] += len(e.Faults)
		if e.Latency != nil {
			p.Latency[part] = max(p.Latency[part], *e.Latency)
		}
	}
	return p
}
