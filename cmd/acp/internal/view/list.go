package view

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
	"github.com/acpkit/go-sdk/internal/passive"
)

// filter chooses messages. The zero value of a field chooses all.
type filter struct {
	session int // an index of a session, or -1
	method  string
	faults  bool
	search  string // in the text of the message, in lower case
}

// list is the positions that a filter has chosen from the first entries.
type list struct {
	filter    filter
	positions []int32
	seen      int // entries
}

// listsAtMost is how many lists are kept: one a window, mostly.
const listsAtMost = 8

// choose returns the positions of the messages that a filter chooses, in order.
func (r *Recording) choose(f filter) ([]int32, error) {
	if f.faults { // faults may be found in messages that came before
		return r.scan(f, nil, 0)
	}
	r.mu.Lock()
	i := slices.IndexFunc(r.lists, func(l *list) bool { return l.filter == f })
	l := list{filter: f}
	if i >= 0 {
		l = *r.lists[i]
	}
	n := len(r.entries)
	r.mu.Unlock()
	positions, err := r.scan(f, slices.Clip(l.positions), l.seen)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lists = slices.DeleteFunc(r.lists, func(l *list) bool { return l.filter == f })
	r.lists = append(r.lists, &list{f, positions, n})
	r.lists = r.lists[max(0, len(r.lists)-listsAtMost):]
	return positions, nil
}

// scan appends the positions from a position on that a filter chooses.
func (r *Recording) scan(f filter, positions []int32, from int) ([]int32, error) {
	r.mu.RLock()
	entries := r.entries // those that are there do not change but for pair
	method, known := r.nameOf[f.method]
	if f.search == "" || f.faults {
		defer r.mu.RUnlock()
	} else {
		r.mu.RUnlock() // the file is read
	}
	if f.method != "" && !known {
		return nil, nil
	}
	for i := from; i < len(entries); i++ {
		e := &entries[i]
		switch {
		case f.session >= 0 && int(e.session) != f.session, f.method != "" && e.method != method, f.faults && r.faults[int32(i)] == nil:
			continue
		case f.search != "":
			rec, err := r.record(e)
			if err != nil {
				return nil, err
			}
			if !bytes.Contains(bytes.ToLower(rec.Raw), []byte(f.search)) && !strings.Contains(strings.ToLower(rec.Line), f.search) {
				continue
			}
		}
		positions = append(positions, int32(i))
	}
	return positions, nil
}

// row is a message in a list.
type row struct {
	Seq     uint64          `json:"seq"`
	At      int64           `json:"at"` // microseconds since the recording began
	Dir     recording.Dir   `json:"dir"`
	Kind    recording.Kind  `json:"kind"`
	Method  string          `json:"method"`
	ID      string          `json:"id"`
	Session int32           `json:"session"`
	Text    string          `json:"text"` // what the message says, in short
	Size    int32           `json:"size"`
	Failed  bool            `json:"failed,omitempty"`
	Masked  bool            `json:"masked,omitempty"`
	Pair    uint64          `json:"pair,omitempty"`    // the number of the response or the request
	Latency *int64          `json:"latency,omitempty"` // of a response, in microseconds
	Faults  []passive.Fault `json:"faults,omitempty"`
}

// rows returns the messages at the positions.
func (r *Recording) rows(positions []int32) ([]row, error) {
	rows := make([]row, 0, len(positions))
	for _, pos := range positions {
		rw, e := r.row(pos)
		rec, err := r.record(&e)
		if err != nil {
			return nil, err
		}
		rw.ID, rw.Text = string(rec.ID), summary(rec)
		rows = append(rows, rw)
	}
	return rows, nil
}

// row returns what the index knows of a message.
func (r *Recording) row(pos int32) (row, entry) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	e := r.entries[pos]
	rw := row{
		Seq: e.seq, At: e.at.Microseconds(), Dir: e.dir, Kind: e.kind, Method: r.names[e.method], Session: e.session,
		Size: e.size, Failed: e.failed, Masked: e.masked, Faults: slices.Clone(r.faults[pos]),
	}
	if e.pair >= 0 {
		rw.Pair = r.entries[e.pair].seq
		if e.kind == recording.Response {
			latency := (e.at - r.entries[e.pair].at).Microseconds()
			rw.Latency = &latency
		}
	}
	return rw, e
}

// summaryLength is how many characters of a message a list shows.
const summaryLength = 160

// summary says what is in a message.
func summary(rec *recording.Record) string {
	var m struct {
		Params, Result struct {
			Update struct {
				SessionUpdate, Title, Status, State, StopReason, ToolCallID string
				Content                                                     json.RawMessage
			}
			ToolCall                                               struct{ Title string }
			Prompt                                                 []struct{ Type, Text string }
			Title, Path, Command, Cwd, StopReason, ModeID, Message string
			ProtocolVersion                                        int
			Outcome                                                struct{ Outcome, OptionID string }
		}
		Error struct {
			Code    int
			Message string
		}
	}
	switch rec.Kind {
	case recording.Gap:
		return "messages are missing: " + plural(rec.Dropped, "record") + " of " + plural(rec.Bytes, "byte") + " dropped, because the disk was too slow"
	case recording.End:
		return strings.TrimSpace("sends nothing more " + rec.Line)
	}
	if rec.Raw == nil && rec.Size > 0 {
		return "not recorded: " + plural(rec.Size, "byte")
	}
	if rec.Raw == nil {
		return short(rec.Line)
	}
	_ = json.Unmarshal(rec.Raw, &m) // what has another form has no summary
	p := &m.Params
	if rec.Kind == recording.Response {
		p = &m.Result
	}
	words := []string{p.Update.SessionUpdate, p.Update.State, p.Update.Status, p.Update.StopReason, p.Update.Title, p.StopReason, p.Outcome.Outcome, p.Outcome.OptionID,
		p.ToolCall.Title, p.Title, p.Command, p.Path, p.Cwd, p.ModeID, p.Message}
	if p.ProtocolVersion != 0 {
		words = append(words, plural(int64(p.ProtocolVersion), "version"))
	}
	for _, block := range p.Prompt {
		words = append(words, block.Text)
		if block.Type != "text" {
			words = append(words, block.Type)
		}
	}
	var content struct{ Text string }
	if json.Unmarshal(p.Update.Content, &content) == nil {
		words = append(words, content.Text)
	}
	if m.Error.Message != "" {
		words = append(words, plural(int64(m.Error.Code), "error"), m.Error.Message)
	}
	return short(strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " "))
}

// short cuts a text to what a list shows of it.
func short(s string) string {
	s = strings.Join(strings.Fields(s[:min(len(s), 8*summaryLength)]), " ")
	if utf8.RuneCountInString(s) <= summaryLength {
		return s
	}
	return string([]rune(s)[:summaryLength]) + "…"
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

// plot returns the traffic of a session, or of all of them.
func (r *Recording) plot(of int) plot {
	r.mu.RLock()
	defer r.mu.RUnlock()
	p := plot{make([]int, plotParts), make([]int, plotParts), make([]int, plotParts), make([]int64, plotParts)}
	length := r.length() + 1
	for i := range r.entries {
		e := &r.entries[i]
		if of >= 0 && int(e.session) != of {
			continue
		}
		part := int(e.at * plotParts / length)
		if e.dir == recording.Client {
			p.Client[part]++
		} else {
			p.Agent[part]++
		}
		p.Faults[part] += len(r.faults[int32(i)])
		if e.kind == recording.Response && e.pair >= 0 {
			p.Latency[part] = max(p.Latency[part], (e.at - r.entries[e.pair].at).Microseconds())
		}
	}
	return p
}

// length returns the time of the last message. Times of messages may go back a little.
func (r *Recording) length() time.Duration {
	longest := time.Duration(0)
	for i := max(0, len(r.entries)-1000); i < len(r.entries); i++ {
		longest = max(longest, r.entries[i].at)
	}
	return longest
}
