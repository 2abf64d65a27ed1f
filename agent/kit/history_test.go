package kit_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/internal/kitplay"
)

// What the model reads is stored in order and is replaced by a compaction. It does not appear in
// what the person sees. After a restart it is complete, also for a turn that was cancelled or has
// failed.
func TestHistory(t *testing.T) {
	dir := t.TempDir()
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
		return kit.New(&kit.Options{Store: kitplay.Files(t, dir), Turn: turn, Logger: slog.New(slog.DiscardHandler)})
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
		return kit.New(&kit.Options{Store: kitplay.Files(t, from+dir), Turn: turn, Logger: slog.New(slog.DiscardHandler)})
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

// The metadata of a message is for the program that it is sent to. It is not stored; what a tool got and returned is.
func TestMetadataIsNotStored(t *testing.T) {
	meta, text := acp.Meta{"secret": []any{map[string]any{"a": "b"}}}, acp.Text("x: _meta, \"_meta\"")
	text.Meta = meta
	raw := json.RawMessage(`{"_meta": {"kept": true}, "n": 1}`)
	store := new(journal.Memory)
	u := connect(t, kit.New(&kit.Options{Store: store, Turn: func(ctx context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
		return "", s.Update(ctx, &acp.ToolCall{
			ToolCallID: "c", Title: "Look", Status: acp.ToolCallStatusCompleted, Meta: meta, RawInput: raw, RawOutput: raw,
			Content: []acp.ToolCallContent{&acp.Content{Content: text, Meta: meta}, &acp.Content{Content: acp.Text("")}},
		})
	}}))
	id := u.open()
	u.ask(id, "x")
	u.leave()
	log, err := store.Open(t.Context(), string(id))
	require.NoError(t, err)
	var calls []string
	for r, err := range log.Read(t.Context(), 0) {
		require.NoError(t, err)
		if strings.Contains(string(r.Data), `"tool_call"`) {
			calls = append(calls, string(r.Data))
		}
	}
	require.Len(t, calls, 1)
	assert.JSONEq(t, `{"sessionUpdate":"tool_call","toolCallId":"c","title":"Look","status":"completed","rawInput":{"_meta":{"kept":true},"n":1},
		"rawOutput":{"_meta":{"kept":true},"n":1},"content":[{"type":"content","content":{"type":"text","text":"x: _meta, \"_meta\""}},
		{"type":"content","content":{"type":"text","text":""}}]}`, calls[0])
}
