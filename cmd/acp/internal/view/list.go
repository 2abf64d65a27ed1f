package view

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
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

// filter says which messages a list has.
type filter struct {
	session *session
	what    string          // of row.What; empty for all
	dir     recording.Dir   // empty for both
	only    string          // "faults", "errors" or "slow"; empty for all
	hits    []bool          // of a search; nil for all
	folded  bool            // chunks of one text are one row
	open    map[uint64]bool // the numbers of first chunks whose others are listed
}

// slow is how long a response takes that the list calls slow, in microseconds.
const slow = 1_000_000

func (f *filter) has(e *entry, pos int32) bool {
	switch {
	case f.what != "" && e.What != f.what, f.dir != "" && e.Dir != f.dir, f.hits != nil && (int(pos) >= len(f.hits) || !f.hits[pos]):
		return false
	}
	switch f.only {
	case "faults":
		return e.Faults != nil
	case "errors":
		return e.Failed
	case "slow":
		return e.Latency != nil && *e.Latency >= slow
	}
	return true
}

// choose returns the positions of the rows of a list, in order, and how many messages they stand for.
func (r *Recording) choose(f *filter) (positions []int32, messages int) {
	for _, pos := range f.session.positions {
		e := &r.entries[pos]
		if !f.has(e, pos) {
			continue
		}
		messages++
		if f.isFolded(r, e, pos) {
			continue
		}
		positions = append(positions, pos)
	}
	return positions, messages
}

// isFolded reports whether a chunk is shown by the row of the first one. With a filter that may leave out
// the first one, and with a fault, it has a row.
func (f *filter) isFolded(r *Recording, e *entry, pos int32) bool {
	if !f.folded || e.first == pos || e.Faults != nil {
		return false
	}
	first := &r.entries[e.first]
	return f.has(first, e.first) && !f.open[first.Seq]
}

// rows returns the messages at the positions of a list.
func (r *Recording) rows(positions []int32, f *filter) ([]row, error) {
	rows := make([]row, 0, len(positions))
	for _, pos := range positions {
		e := &r.entries[pos]
		rec, err := r.record(e)
		if err != nil {
			return nil, err
		}
		one := e.row
		one.ID, one.Text = string(rec.ID), summary(rec)
		if f.folded && e.chunks > 1 {
			one.Chunks, one.Open = int(e.chunks), f.open[e.Seq]
			if !one.Open {
				one.Text = r.joined(e, pos)
			}
		}
		rows = append(rows, one)
	}
	return rows, nil
}

// joined returns the beginning of a text that arrived in chunks.
func (r *Recording) joined(e *entry, pos int32) string {
	positions := r.sessions[e.Session].positions
	i, _ := slices.BinarySearch(positions, pos)
	text := ""
	for _, next := range positions[i:min(i+int(e.chunks), len(positions))] {
		rec, err := r.record(&r.entries[next])
		if err != nil {
			break
		}
		text += chunkText(rec)
		if len(text) > 4*summaryLength {
			break
		}
	}
	return short(text)
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
	Stderr  []int   `json:"stderr"`  // lines
	Crashed []bool  `json:"crashed"` // the agent, or the recording was cut
	Latency []int64 `json:"latency"` // the longest, in microseconds
}

// plotParts is how many parts a plot has.
const plotParts = 240

// plot returns the traffic of a session.
func (r *Recording) plot(of *session) plot {
	p := plot{
		Client: make([]int, plotParts), Agent: make([]int, plotParts), Faults: make([]int, plotParts),
		Stderr: make([]int, plotParts), Crashed: make([]bool, plotParts), Latency: make([]int64, plotParts),
	}
	for _, pos := range of.positions {
		e := &r.entries[pos]
		part := int(e.At * plotParts / (r.length + 1))
		switch {
		case e.Kind == recording.Stderr:
			p.Stderr[part]++
		case e.Kind == recording.Exit, e.Kind == recording.Cut:
			p.Crashed[part] = p.Crashed[part] || e.Failed
		case e.Dir == recording.Client:
			p.Client[part]++
		default:
			p.Agent[part]++
		}
		p.Faults[part] += len(e.Faults)
		if e.Latency != nil {
			p.Latency[part] = max(p.Latency[part], *e.Latency)
		}
	}
	return p
}
