// Package journaltest tests a journal.Store against its contract. Experimental: it may change in any release.
// Authors of stores call [Test] from a test of theirs:
//
//	func TestStore(t *testing.T) {
//		journaltest.Test(t, journaltest.Maker{
//			New:    func(t testing.TB) journal.Store { return mystore.Open(t.TempDir()) },
//			Reopen: func(t testing.TB, s journal.Store) journal.Store { return mystore.Open(s.(*mystore.Store).Dir()) },
//		})
//	}
package journaltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acpkit/go-sdk/agent/journal"
)

// A Maker makes the stores that are tested.
type Maker struct {
	// New returns a store without sessions.
	New func(testing.TB) journal.Store

	// Reopen returns a second store for the same sessions, as another process would open it, while
	// the first store is in use. It is nil if the sessions end with the process.
	Reopen func(testing.TB, journal.Store) journal.Store
}

// Test runs the tests of the contract, each with a store of its own.
func Test(t *testing.T, m Maker) {
	for name, test := range map[string]func(*testing.T, Maker){
		"records are read in the order in which they were appended": order,
		"records of any kind and with any data are kept":            contents,
		"the time of a record is not before that of the one before": clock,
		"data that is not JSON is refused":                          notJSON,
		"readers and writers at once":                               concurrent,
		"a session has one writer":                                  held,
		"a log that is closed":                                      closed,
		"meta is stored":                                            meta,
		"any id":                                                    ids,
		"sessions are created and deleted":                          lives,
		"pages":                                                     pages,
		"pages while sessions change":                               changing,
		"queries":                                                   queries,
		"a ctx that has ended":                                      ended,
	} {
		t.Run(name, func(t *testing.T) { test(t, m) })
	}
}

func order(t *testing.T, m Maker) {
	s := m.New(t)
	l := create(t, s, "a", journal.Meta{})
	equal(t, "number of nothing", appendTo(t, l), int64(0))
	equal(t, "number of the first", appendTo(t, l, event(1)), int64(1))
	equal(t, "number of the last of two", appendTo(t, l, event(2), event(3)), int64(3))
	equal(t, "all", read(t, l, 0), []int{1, 2, 3})
	equal(t, "those after the second", read(t, l, 2), []int{3})
	equal(t, "those after the last", read(t, l, 3), nil)
	must(t, l.Sync(t.Context()))
	equal(t, "damage", l.Damage(), nil)
	l = again(t, s, m, l, "a")
	equal(t, "all, opened again", read(t, l, 0), []int{1, 2, 3})
	equal(t, "number of the next", appendTo(t, l, event(4)), int64(4))
	equal(t, "all, once more", read(t, l, 0), []int{1, 2, 3, 4})
	for range l.Read(t.Context(), 0) {
		break // a reader may leave
	}
	equal(t, "number after a reader left", appendTo(t, l, event(5)), int64(5))
}

func contents(t *testing.T, m Maker) {
	s := m.New(t)
	l := create(t, s, "a", journal.Meta{})
	want := []journal.Record{
		{Kind: journal.KindTurn, Data: json.RawMessage(`null`)},
		{Kind: "a kind of \"tomorrow\"\n", Data: json.RawMessage(`{"sum":"00000000","x":[1,2]}`)},
		{Kind: journal.KindModel, Data: json.RawMessage(`"` + strings.Repeat("é\\n", 300_000) + `"`)},
		{Kind: "", Data: json.RawMessage(`1e400`)},
	}
	appendTo(t, l, want...)
	appendTo(t, l, journal.Record{Kind: journal.KindEvent, Data: json.RawMessage("{\n \"a\": 1 }")})
	l = again(t, s, m, l, "a")
	var got []journal.Record
	for r, err := range l.Read(t.Context(), 0) {
		must(t, err)
		got = append(got, r)
	}
	equal(t, "records", len(got), 5)
	for i, r := range want {
		equal(t, fmt.Sprint("kind of record ", i), got[i].Kind, r.Kind)
		equal(t, fmt.Sprint("data of record ", i), string(got[i].Data), string(r.Data))
	}
	var v struct{ A int }
	must(t, json.Unmarshal(got[4].Data, &v))
	equal(t, "data on two lines", v.A, 1)
}

func clock(t *testing.T, m Maker) {
	s := m.New(t)
	l := create(t, s, "a", journal.Meta{})
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	appendTo(t, l, journal.Record{Time: at, Data: null}, journal.Record{Time: at.Add(-time.Hour), Data: null})
	l = again(t, s, m, l, "a")
	appendTo(t, l, journal.Record{Time: at.Add(-time.Minute), Data: null}, journal.Record{Data: null})
	var times []time.Time
	for r, err := range l.Read(t.Context(), 0) {
		must(t, err)
		times = append(times, r.Time)
	}
	equal(t, "records", len(times), 4)
	for i := range 3 {
		equal(t, fmt.Sprint("time of record ", i), times[i].UTC(), at)
	}
	if time.Since(times[3]).Abs() > time.Hour {
		t.Errorf("a record without a time got %v", times[3])
	}
}

func notJSON(t *testing.T, m Maker) {
	l := create(t, m.New(t), "a", journal.Meta{})
	for _, data := range []string{"", "{", "1 2", "\n", "\xff"} {
		if _, err := l.Append(event(1), journal.Record{Data: json.RawMessage(data)}); err == nil {
			t.Errorf("data %q is accepted", data)
		}
	}
	equal(t, "records", read(t, l, 0), nil)
	equal(t, "the next number", appendTo(t, l, event(1)), int64(1))
}

func concurrent(t *testing.T, m Maker) {
	const writers, each = 4, 200
	s := m.New(t)
	l := create(t, s, "a", journal.Meta{})
	var work sync.WaitGroup
	for w := range writers {
		work.Go(func() {
			for i := range each {
				if _, err := l.Append(event(w*each + i)); err != nil {
					t.Error(err)
				}
				if i%50 == 0 {
					if err := errors.Join(l.Sync(t.Context()), l.SetMeta(func(m *journal.Meta) { m.Title = fmt.Sprint(w) })); err != nil {
						t.Error(err)
					}
				}
			}
		})
		work.Go(func() {
			for range each / 10 {
				seq := int64(0)
				for r, err := range l.Read(t.Context(), 0) {
					if seq++; err != nil || r.Seq != seq {
						t.Errorf("record %d is read as %d: %v", seq, r.Seq, err)
						return
					}
				}
				_, _ = l.Meta(), l.Damage()
			}
		})
	}
	work.Wait()
	all := read(t, again(t, s, m, l, "a"), 0)
	slices.Sort(all)
	equal(t, "records", len(all), writers*each)
	for i, n := range all {
		equal(t, "a record", n, i)
	}
}

func held(t *testing.T, m Maker) {
	s := m.New(t)
	l := create(t, s, "a", journal.Meta{})
	stores := []journal.Store{s}
	if m.Reopen != nil {
		stores = append(stores, m.Reopen(t, s))
	}
	for _, s := range stores {
		_, err := s.Open(t.Context(), "a")
		isHeld(t, "Open", err)
		isHeld(t, "Delete", s.Delete(t.Context(), "a"))
		if _, err := s.Create(t.Context(), "a", journal.Meta{}); err == nil {
			t.Error("Create of a session that exists succeeds")
		}
	}
	equal(t, "number after all that", appendTo(t, l, event(1)), int64(1))
	must(t, l.Close())
	for _, s := range stores {
		l, err := s.Open(t.Context(), "a")
		must(t, err)
		equal(t, "records", read(t, l, 0), []int{1})
		must(t, l.Close())
	}
}

func closed(t *testing.T, m Maker) {
	l := create(t, m.New(t), "a", journal.Meta{Title: "T"})
	appendTo(t, l, event(1))
	must(t, l.Close())
	must(t, l.Close())
	_, err := l.Append(event(2))
	isError(t, "Append", err, journal.ErrClosed)
	isError(t, "Sync", l.Sync(t.Context()), journal.ErrClosed)
	isError(t, "SetMeta", l.SetMeta(func(*journal.Meta) {}), journal.ErrClosed)
	for _, err := range l.Read(t.Context(), 0) {
		isError(t, "Read", err, journal.ErrClosed)
	}
	equal(t, "title", l.Meta().Title, "T")
}

func meta(t *testing.T, m Maker) {
	s := m.New(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	folders := []string{"/x", "/y"}
	l := create(t, s, "a", journal.Meta{ID: "other", Created: at, Cwd: "/w", AdditionalDirectories: folders, Owner: "o", Data: json.RawMessage(`{"a":1}`)})
	folders[0] = "changed"
	must(t, l.SetMeta(func(m *journal.Meta) {
		m.ID, m.Created, m.Title, m.AdditionalDirectories[1] = "x", time.Now(), "T", "/z"
	}))
	for range 2 {
		got := l.Meta()
		if got.Updated.Before(at) {
			t.Errorf("updated at %v", got.Updated)
		}
		got.Updated = time.Time{}
		equal(t, "meta", got, journal.Meta{ID: "a", Created: at, Cwd: "/w", AdditionalDirectories: []string{"/x", "/z"}, Title: "T", Owner: "o", Data: json.RawMessage(`{"a":1}`)})
		got.AdditionalDirectories[0] = "changed"
		stored, err := s.Meta(t.Context(), "a")
		must(t, err)
		equal(t, "meta of an open session", stored, l.Meta())
		l = again(t, s, m, l, "a")
		other := s
		if m.Reopen != nil {
			other = m.Reopen(t, s)
		}
		stored, err = other.Meta(t.Context(), "a")
		must(t, err)
		equal(t, "title of a session that is open elsewhere", stored.Title, "T")
	}
}

func ids(t *testing.T, m Maker) {
	s := m.New(t)
	if _, err := s.Create(t.Context(), "", journal.Meta{}); err == nil {
		t.Error("an empty id is accepted")
	}
	all := []string{"a", "A", "ab", "../x", "..", ".", "/etc/passwd", `C:\x`, "CON", "con", "nul.txt", "aux", " ", "a.", "-", "=a", strings.Repeat("x", 64), strings.Repeat("x", 65), strings.Repeat("é", 200), "\x00", "a\nb", "\u00c9", "E\u0301"}
	for i, id := range all {
		l := create(t, s, id, journal.Meta{})
		appendTo(t, l, event(i))
		must(t, l.Close())
	}
	if m.Reopen != nil {
		s = m.Reopen(t, s)
	}
	for i, id := range all {
		l, err := s.Open(t.Context(), id)
		must(t, err)
		equal(t, "records of "+id, read(t, l, 0), []int{i})
		equal(t, "id", l.Meta().ID, id)
		must(t, l.Close())
	}
	got := list(t, s, journal.Query{})
	slices.Sort(got)
	slices.Sort(all)
	equal(t, "list", got, all)
	for _, id := range all {
		must(t, s.Delete(t.Context(), id))
	}
	equal(t, "list after all are deleted", list(t, s, journal.Query{}), nil)
}

func lives(t *testing.T, m Maker) {
	s := m.New(t)
	_, err := s.Open(t.Context(), "a")
	isError(t, "Open", err, journal.ErrNotFound)
	_, err = s.Meta(t.Context(), "a")
	isError(t, "Meta", err, journal.ErrNotFound)
	must(t, s.Delete(t.Context(), "a"))
	for i := range 3 {
		l := create(t, s, "a", journal.Meta{})
		equal(t, "records of a new session", read(t, l, 0), nil)
		appendTo(t, l, event(i))
		must(t, l.Close())
		_, err := s.Create(t.Context(), "a", journal.Meta{})
		isError(t, "Create", err, journal.ErrExists)
		must(t, s.Delete(t.Context(), "a"))
		_, err = s.Open(t.Context(), "a")
		isError(t, "Open", err, journal.ErrNotFound)
		equal(t, "list", list(t, s, journal.Query{}), nil)
	}
}

func pages(t *testing.T, m Maker) {
	s := m.New(t)
	var want []string
	for i := range 250 {
		id := fmt.Sprint("s", i)
		must(t, create(t, s, id, journal.Meta{}).Close())
		want = append(want, id)
	}
	slices.Reverse(want)
	if m.Reopen != nil {
		s = m.Reopen(t, s)
	}
	for _, limit := range []int{0, 1, 7, 250, 1000} {
		equal(t, fmt.Sprint("all, with the limit ", limit), list(t, s, journal.Query{Limit: limit}), want)
	}
	page, next, err := s.List(t.Context(), journal.Query{})
	must(t, err)
	if len(page) != 100 || next == "" {
		t.Errorf("a page without a limit has %d sessions, and the cursor %q", len(page), next)
	}
	if m.Reopen != nil {
		page, _, err := m.Reopen(t, s).List(t.Context(), journal.Query{Cursor: next})
		must(t, err)
		if len(page) != 100 || page[0].ID != want[100] {
			t.Errorf("the second page has %d sessions in a store that was opened between the pages", len(page))
		}
	}
	for _, cursor := range []string{"x", "!", next + "\x00!", "."} {
		if _, _, err := s.List(t.Context(), journal.Query{Cursor: cursor}); err != nil && !errors.Is(err, journal.ErrCursor) {
			t.Errorf("cursor %q: %v", cursor, err)
		}
	}
	_, _, err = s.List(t.Context(), journal.Query{Cursor: "no cursor"})
	isError(t, "List", err, journal.ErrCursor)
}

func changing(t *testing.T, m Maker) {
	s := m.New(t)
	logs := map[string]journal.Log{}
	for i := range 20 {
		id := fmt.Sprint("s", i)
		logs[id] = create(t, s, id, journal.Meta{})
	}
	seen := map[string]int{}
	q := journal.Query{Limit: 3}
	for n := 0; ; n++ {
		page, next, err := s.List(t.Context(), q)
		must(t, err)
		for _, meta := range page {
			seen[meta.ID]++
		}
		if q.Cursor = next; next == "" {
			break
		}
		appendTo(t, logs[fmt.Sprint("s", n)], event(1)) // the session moves to the front
		must(t, logs[fmt.Sprint("s", 19-n)].SetMeta(func(m *journal.Meta) { m.Title = "T" }))
		logs[fmt.Sprint("new", n)] = create(t, s, fmt.Sprint("new", n), journal.Meta{})
		must(t, logs["s10"].Close())
		must(t, s.Delete(t.Context(), "s10"))
	}
	for i := range 20 {
		if id := fmt.Sprint("s", i); id != "s10" && seen[id] != 1 {
			t.Errorf("session %s is listed %d times", id, seen[id])
		}
	}
	equal(t, "the first in a new list", list(t, s, journal.Query{})[0], "new5")
}

func queries(t *testing.T, m Maker) {
	s := m.New(t)
	for id, meta := range map[string]journal.Meta{
		"a": {Cwd: "/w"}, "b": {Cwd: "/v"}, "c": {Cwd: "/w", Owner: "o"}, "d": {Cwd: "/v", Owner: "p"},
	} {
		must(t, create(t, s, id, meta).Close())
	}
	for want, q := range map[string]journal.Query{
		"a b": {}, "a": {Cwd: "/w"}, "c": {Owner: "o"}, "": {Owner: "o", Cwd: "/v"}, "d": {Owner: "p"},
	} {
		got := list(t, s, q)
		slices.Sort(got)
		equal(t, fmt.Sprintf("list of %+v", q), strings.Join(got, " "), want)
	}
}

func ended(t *testing.T, m Maker) {
	s := m.New(t)
	l := create(t, s, "a", journal.Meta{})
	appendTo(t, l, event(1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Create(ctx, "b", journal.Meta{})
	isError(t, "Create", err, context.Canceled)
	_, err = s.Open(ctx, "a")
	isError(t, "Open", err, context.Canceled)
	_, _, err = s.List(ctx, journal.Query{})
	isError(t, "List", err, context.Canceled)
	_, err = s.Meta(ctx, "a")
	isError(t, "Meta", err, context.Canceled)
	isError(t, "Delete", s.Delete(ctx, "a"), context.Canceled)
	for _, err := range l.Read(ctx, 0) {
		isError(t, "Read", err, context.Canceled)
	}
	if err := l.Sync(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("Sync returns %v", err)
	}
	must(t, l.Sync(t.Context()))
	equal(t, "records", read(t, l, 0), []int{1})
}
