package journaltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/acpkit/go-sdk/agent/journal"
)

var null = json.RawMessage("null")

// event returns a record that read returns as n.
func event(n int) journal.Record {
	return journal.Record{Kind: journal.KindEvent, Data: fmt.Appendf(nil, `{"n":%d}`, n)}
}

// create creates a session whose log is closed when the test ends.
func create(t *testing.T, s journal.Store, id string, m journal.Meta) journal.Log {
	t.Helper()
	l, err := s.Create(t.Context(), id, m)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

// again closes a log and opens it again, in a reopened store if the Maker has Reopen.
func again(t *testing.T, s journal.Store, m Maker, l journal.Log, id string) journal.Log {
	t.Helper()
	must(t, l.Close())
	if m.Reopen != nil {
		s = m.Reopen(t, s)
	}
	l, err := s.Open(t.Context(), id)
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	return l
}

func appendTo(t *testing.T, l journal.Log, recs ...journal.Record) int64 {
	t.Helper()
	seq, err := l.Append(recs...)
	must(t, err)
	return seq
}

// read returns the numbers that event was called with.
func read(t *testing.T, l journal.Log, after int64) (all []int) {
	t.Helper()
	for r, err := range l.Read(t.Context(), after) {
		must(t, err)
		var v struct{ N int }
		must(t, json.Unmarshal(r.Data, &v))
		all = append(all, v.N)
	}
	return all
}

// list returns the ids of the sessions of all pages.
func list(t *testing.T, s journal.Store, q journal.Query) (ids []string) {
	t.Helper()
	for {
		page, next, err := s.List(t.Context(), q)
		must(t, err)
		for _, m := range page {
			ids = append(ids, m.ID)
		}
		if q.Cursor = next; next == "" {
			return ids
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func isError(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s returns %v, want %v", what, err, want)
	}
}

func isHeld(t *testing.T, what string, err error) {
	t.Helper()
	var held *journal.HeldError
	if !errors.As(err, &held) {
		t.Errorf("%s returns %v, want a *HeldError", what, err)
	}
}
