package view

import (
	"bytes"
	"strings"
	"sync"

	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
)

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

// has reports whether a list has the message at pos, if nothing is folded.
func (f *filter) has(e *entry, pos int32) bool {
	if f.what != "" && e.What != f.what || f.dir != "" && e.Dir != f.dir {
		return false
	}
	if f.hits != nil && (int(pos) >= len(f.hits) || !f.hits[pos]) {
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
		if !f.isFolded(r, e, pos) {
			positions = append(positions, pos)
		}
	}
	return positions, messages
}

// isFolded reports whether the row of the first chunk of a text stands for a later one too. A chunk with a
// fault has a row of its own, and so has each if the list leaves out the first.
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
