package kit_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/internal/randturns"
)

// What the model reads is stored in order and is replaced by a compaction. It does not appear in
// what the person sees. After a restart it is complete, also for a turn that was cancelled or has
// failed.
func TestHistory(t *testing.T) {
	open := onDisk(t.TempDir())
	var got []string
	turn := func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
		err := s.Remember("user: " + acp.PlainText(p.Blocks...))
		switch acp.PlainText(p.Blocks...) {
		case "fail":
			return "", errors.Join(err, s.Remember(map[string]int{"calls": 2}, "half"), errors.New("the model has failed"))
		case "cancel":
			err = errors.Join(err, s.Text(ctx, "waiting"))
			<-ctx.Done()
			return "", errors.Join(err, s.Remember("cancelled"), ctx.Err())
		case "compact":
			err = errors.Join(err, s.Compact("summary"), s.Remember("tail"))
		case "nothing":
			err = errors.Join(err, s.Compact(), s.Remember())
		case "unusable":
			assert.Error(t, s.Remember("lost", func() {}), "all or nothing")
		}
		items, historyErr := s.History(ctx)
		got = nil
		for _, item := range items {
			got = append(got, string(item))
		}
		return "", errors.Join(err, historyErr)
	}
	agent := func() *kit.Agent {
		return kit.New(&kit.Options{Store: open(t), Turn: turn, Logger: slog.New(slog.DiscardHandler)})
	}
	a := agent()
	u := connect(t, a)
	id := u.open()
	assert.Equal(t, acp.StopReasonEndTurn, u.ask(id, "one"))
	assert.Equal(t, []string{`"user: one"`}, got)
	_, err := u.Prompt(t.Context(), &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.Text("fail")}})
	require.Error(t, err)
	ended := make(chan error)
	go func() {
		_, err := u.Prompt(t.Context(), &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.Text("cancel")}})
		ended <- err
	}()
	for snapshot := range u.set.Thread(id).Watch(t.Context()) {
		if lines := shown(snapshot); lines[len(lines)-1] == "agent: waiting" {
			break
		}
	}
	require.NoError(t, u.Cancel(t.Context(), &acp.CancelNotification{SessionID: id}))
	require.NoError(t, <-ended)
	u.ask(id, "unusable")
	require.NoError(t, a.Close(t.Context()))

	u = connect(t, agent())
	u.load(id)
	live := items(t, u.set.Thread(id).Snapshot())
	u.ask(id, "two")
	want := []string{`"user: one"`, `"user: fail"`, `{"calls":2}`, `"half"`, `"user: cancel"`, `"cancelled"`, `"user: unusable"`, `"user: two"`}
	assert.Equal(t, want, got)
	u.ask(id, "compact")
	assert.Equal(t, []string{`"summary"`, `"tail"`}, got)
	u.load(id)
	assert.Equal(t, live, items(t, u.set.Thread(id).Snapshot())[:len(live)])
	u.ask(id, "three")
	assert.Equal(t, []string{`"summary"`, `"tail"`, `"user: three"`}, got)
	u.ask(id, "nothing")
	assert.Empty(t, got)
}

// If a crash interrupts a tool call, the history for the model has the call without a result, and
// the person sees that the call failed.
func TestHistoryAfterACrash(t *testing.T) {
	from := t.TempDir()
	var got []string
	turn := func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
		if acp.PlainText(p.Blocks...) == "again" {
			items, err := s.History(ctx)
			got = nil
			for _, item := range items {
				got = append(got, string(item))
			}
			return "", err
		}
		if err := errors.Join(s.Remember("call 1", "call 2"), s.Update(ctx, &acp.ToolCall{ToolCallID: "c1", Title: "Look", Status: acp.ToolCallStatusInProgress}), s.Remember("result 1")); err != nil {
			return "", err
		}
		require.NoError(t, os.CopyFS(from+"/crashed", os.DirFS(from+"/live"))) // the files as a kill leaves them
		return "", s.Remember("result 2")
	}
	agent := func(dir string) *kit.Agent {
		return kit.New(&kit.Options{Store: onDisk(from + dir)(t), Turn: turn, Logger: slog.New(slog.DiscardHandler)})
	}
	u := connect(t, agent("/live"))
	id := u.open()
	u.ask(id, "go")
	u.ask(id, "again")
	assert.Equal(t, []string{`"call 1"`, `"call 2"`, `"result 1"`, `"result 2"`}, got)
	u = connect(t, agent("/crashed"))
	u.load(id)
	assert.Equal(t, []string{"user: go", "call: Look failed: The agent was interrupted while this call was running: it may have taken effect."}, shown(u.set.Thread(id).Snapshot()))
	u.ask(id, "again")
	assert.Equal(t, []string{`"call 1"`, `"call 2"`, `"result 1"`}, got)
}

var seeds = flag.Uint64("seeds", 30, "how many random conversations TestLoadEqualsLive plays")

// inMemory and onDisk return a function that returns the same store at each call.
func inMemory() func(*testing.T) journal.Store {
	store := new(journal.Memory)
	return func(*testing.T) journal.Store { return store }
}

func onDisk(dir string) func(*testing.T) journal.Store {
	return func(t *testing.T) journal.Store {
		store, err := journal.OpenFiles(dir, nil)
		require.NoError(t, err)
		return store
	}
}

// After session/load a client shows the same as before, which is what the agent did.
func TestLoadEqualsLive(t *testing.T) {
	for version := 1; version <= 2; version++ {
		for seed := range *seeds {
			t.Run(fmt.Sprintf("version %d, seed %d", version, seed), func(t *testing.T) {
				if seed%5 == 0 {
					randturns.Check(t, seed, version, onDisk(t.TempDir()))
				} else {
					randturns.Check(t, seed, version, inMemory())
				}
			})
		}
	}
}

func FuzzLoadEqualsLive(f *testing.F) {
	f.Add(uint64(1), true)
	f.Fuzz(func(t *testing.T, seed uint64, second bool) {
		version := 1
		if second {
			version = 2
		}
		randturns.Check(t, seed, version, inMemory())
	})
}
