// Package kittest tests implementations of kit.Backend. Experimental: it may
// change in any release.
package kittest

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/internal/history"
)

// TestBackend tests the contract of kit.Backend. open returns a Backend: without sessions if before
// is nil, and otherwise with the sessions of before, as after a restart of the program.
func TestBackend(t *testing.T, open func(t *testing.T, before kit.Backend) kit.Backend) {
	for name, f := range map[string]func(t *testing.T, b kit.Backend, again func() kit.Backend){
		"sessions": sessions, "updates": updates, "deleted": deleted, "pages": pages,
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, nil)
			f(t, b, func() kit.Backend {
				b = open(t, b)
				return b
			})
		})
	}
}

func meta(id, owner, cwd string) journal.Meta {
	return journal.Meta{ID: id, Owner: owner, Cwd: cwd, Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

func sessions(t *testing.T, b kit.Backend, again func() kit.Backend) {
	ctx := t.Context()
	if _, err := b.Load(ctx, "none"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("Load of a session that does not exist: %v, want journal.ErrNotFound", err)
	}
	m := meta("a", "ann", "/a")
	m.AdditionalDirectories = []string{"/b"}
	must(t, b.Create(ctx, m))
	must(t, b.Append(ctx, "a", &acp.SessionInfoUpdate{Title: acp.Some("A title")}))
	for _, b := range []kit.Backend{b, again()} {
		got, err := b.Load(ctx, "a")
		must(t, err)
		if got.ID != "a" || got.Owner != "ann" || got.Cwd != "/a" || !slices.Equal(got.AdditionalDirectories, m.AdditionalDirectories) || got.Title != "A title" {
			t.Errorf("Load returns %+v", got)
		}
	}
}

// updates checks that updates are replayed in order, and that all of them survive a restart.
func updates(t *testing.T, b kit.Backend, again func() kit.Backend) {
	ctx := t.Context()
	must(t, b.Create(ctx, meta("a", "", "/a")))
	must(t, b.Create(ctx, meta("b", "", "/a")))
	call := &acp.ToolCall{ToolCallID: "c", Title: "Edit", Kind: acp.ToolKindEdit, Status: acp.ToolCallStatusPending, RawInput: []byte(`{"path":"/a/x"}`)}
	ended := *call
	ended.Status = acp.ToolCallStatusFailed
	ended.Content = []acp.ToolCallContent{&acp.Diff{Path: "/a/x", NewText: "é\r\n"}, acp.ToolText("no")}
	all := []acp.SessionUpdate{
		&acp.UserMessageChunk{MessageID: "u", Content: acp.Text("one")},
		&acp.UserMessageChunk{MessageID: "u", Content: &acp.ImageContent{Data: "aGk=", MIMEType: "image/png"}},
		&acp.AgentThoughtChunk{MessageID: "t", Content: acp.Text("hm ")},
		&acp.AgentMessageChunk{MessageID: "m", Content: acp.Text("a ")},
		&acp.AgentMessageChunk{MessageID: "m", Content: acp.Text("b\n")},
		call, &ended,
		&acp.Plan{Entries: []acp.PlanEntry{{Content: "x", Priority: acp.PlanEntryPriorityLow, Status: acp.PlanEntryStatusCompleted}}},
		&acp.CurrentModeUpdate{CurrentModeID: "auto"},
		&acp.UsageUpdate{Used: 5, Size: 10},
	}
	for _, u := range all {
		must(t, b.Append(ctx, "a", u))
		must(t, b.Append(ctx, "b", acp.AgentText("other")))
	}
	want := joined(t, func(yield func(acp.SessionUpdate, error) bool) {
		for _, u := range all {
			if !yield(u, nil) {
				return
			}
		}
	})
	for name, b := range map[string]kit.Backend{"before": b, "after a restart": again()} {
		if got := joined(t, b.Replay(ctx, "a")); !slices.Equal(got, want) {
			t.Errorf("Replay %s a restart:\n%q\nwant\n%q", name, got, want)
		}
	}
	ended2, cancel := context.WithCancel(ctx)
	cancel()
	for _, err := range b.Replay(ended2, "a") {
		if err != nil {
			return
		}
	}
	t.Error("Replay with a ctx that is done returns no error")
}

// joined returns updates as JSON. The chunks of each message are joined, and of each tool call only
// the last state is included.
func joined(t *testing.T, seq iter.Seq2[acp.SessionUpdate, error]) (all []string) {
	var shown history.History
	for u, err := range seq {
		must(t, err)
		shown.Add(u)
	}
	for _, it := range shown.Items() {
		data, err := json.Marshal(it.Update())
		must(t, err)
		all = append(all, string(data))
	}
	return all
}

func deleted(t *testing.T, b kit.Backend, again func() kit.Backend) {
	ctx := t.Context()
	must(t, b.Delete(ctx, "none"))
	must(t, b.Create(ctx, meta("a", "", "/a")))
	must(t, b.Create(ctx, meta("b", "", "/a")))
	must(t, b.Delete(ctx, "a"))
	for _, b := range []kit.Backend{b, again()} {
		if _, err := b.Load(ctx, "a"); !errors.Is(err, journal.ErrNotFound) {
			t.Errorf("Load of a deleted session: %v, want journal.ErrNotFound", err)
		}
		if _, err := b.Load(ctx, "b"); err != nil {
			t.Errorf("Load of the other session: %v", err)
		}
	}
}

// pages checks that List returns the sessions of one owner, and of one folder if the query has one.
func pages(t *testing.T, b kit.Backend, _ func() kit.Backend) {
	ctx := t.Context()
	for _, m := range []journal.Meta{meta("a", "ann", "/a"), meta("b", "ann", "/b"), meta("c", "ben", "/a"), meta("d", "ann", "/a")} {
		must(t, b.Create(ctx, m))
	}
	for _, tt := range []struct {
		q    journal.Query
		want []string
	}{
		{journal.Query{Owner: "ann"}, []string{"a", "b", "d"}},
		{journal.Query{Owner: "ann", Cwd: "/a"}, []string{"a", "d"}},
		{journal.Query{Owner: "ann", Limit: 1}, []string{"a", "b", "d"}},
		{journal.Query{}, nil},
	} {
		var got []string
		for range 10 {
			page, next, err := b.List(ctx, tt.q)
			must(t, err)
			for _, m := range page {
				got = append(got, m.ID)
			}
			if tt.q.Cursor = next; next == "" {
				break
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, tt.want) {
			t.Errorf("List of %+v: %q, want %q", tt.q, got, tt.want)
		}
	}
	if _, _, err := b.List(ctx, journal.Query{Cursor: "no cursor"}); !errors.Is(err, journal.ErrCursor) {
		t.Errorf("List with an invalid cursor: %v, want journal.ErrCursor", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
