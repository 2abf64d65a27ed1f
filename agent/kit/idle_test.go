package kit_test

import (
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/internal/kitplay"
)

// A session that was idle knows what another process has made of it: the mode, a setting, a rule, the
// title and the turns. The client is told.
func TestIdleSessionCatchesUp(t *testing.T) {
	for _, wake := range []string{"a prompt", "a setting"} {
		t.Run(wake, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				asked, history := 0, []json.RawMessage(nil)
				options := &kit.Options{
					Modes:    kit.Modes{{ID: "ask", Name: "Ask"}, {ID: "auto", Name: "Auto"}},
					Settings: kit.Settings{{ID: "model", Name: "Model", Values: []acp.SessionConfigSelectOption{{Value: "a", Name: "A"}, {Value: "b", Name: "B"}}}},
					Tools:    offer(tool("work", acp.ToolKindEdit, tools.Writes, done)),
					Logger:   slog.New(slog.DiscardHandler),
				}
				options.Turn = func(ctx context.Context, s *kit.Session, p *kit.Prompt) (_ acp.StopReason, err error) {
					if err = s.Remember(acp.PlainText(p.Blocks...)); err == nil {
						_, err = s.Run(ctx, tools.Request{Name: "work", Input: json.RawMessage(`{"n":1}`)})
					}
					if history, _ = s.History(ctx); err == nil {
						_, err = echo(ctx, s, p)
					}
					return "", err
				}
				person := func() *user {
					o := *options
					o.Store = kitplay.Files(t, dir)
					u := connect(t, kit.New(&o))
					u.OnPermission = func(_ context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
						asked++
						return acp.Selected("allow_always"), nil
					}
					return u
				}
				here := person()
				id := here.open()
				_, err := here.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: id, ModeID: "auto"})
				require.NoError(t, err)
				time.Sleep(31 * time.Minute)

				there := person()
				there.load(id)
				_, err = there.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: id, ModeID: "ask"})
				require.NoError(t, err)
				_, err = there.SetSessionConfigOption(t.Context(), &acp.SetSessionConfigOptionRequest{SessionID: id, ConfigID: "model", Value: &acp.SessionConfigValue{Value: "b"}})
				require.NoError(t, err)
				there.ask(id, "elsewhere")
				assert.Equal(t, 1, asked)
				there.leave()

				if wake == "a setting" {
					res, err := here.SetSessionConfigOption(t.Context(), &acp.SetSessionConfigOptionRequest{SessionID: id, ConfigID: "model", Value: &acp.SessionConfigValue{Value: "b"}})
					require.NoError(t, err)
					assert.Equal(t, acp.SessionConfigValueID("ask"), res.ConfigOptions[0].Kind.(*acp.SessionConfigSelect).CurrentValue)
				}
				here.ask(id, "here")
				assert.Equal(t, 1, asked, "the rule is known")
				assert.Equal(t, []json.RawMessage{json.RawMessage(`"elsewhere"`), json.RawMessage(`"here"`)}, history)
				synctest.Wait()
				snapshot := here.set.Thread(id).Snapshot()
				assert.Equal(t, "ask", string(snapshot.Modes.Current))
				assert.Equal(t, "elsewhere", snapshot.Title)
				live := shown(snapshot)
				here.load(id)
				loaded := shown(here.set.Thread(id).Snapshot())
				if wake == "a prompt" { // the client has shown the prompt before it is told of the others
					slices.Sort(live)
					slices.Sort(loaded)
				}
				assert.Equal(t, loaded, live)
			})
		})
	}
}

// A prompt that is cancelled while it waits is part of the conversation, for the person and for the next
// turn. So is one that is cancelled while its links are read.
func TestCancelledPromptIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var earlier [][]string
		u := connect(t, kit.New(&kit.Options{Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
			var texts []string
			for _, e := range p.Earlier {
				texts = append(texts, e.Parts[0].Text)
			}
			earlier = append(earlier, texts)
			if acp.PlainText(p.Blocks...) == "hour" {
				_ = s.Text(ctx, "Wait.")
				<-ctx.Done()
			}
			return "", nil
		}}))
		id := u.open()
		done := make(chan acp.StopReason)
		for _, text := range []string{"hour", "one", "two"} {
			go func() { done <- u.ask(id, text) }() // ends with the cancel
			synctest.Wait()
		}
		require.NoError(t, u.Cancel(t.Context(), &acp.CancelNotification{SessionID: id}))
		for range 3 {
			assert.Equal(t, acp.StopReasonCancelled, <-done)
		}
		u.ask(id, "three")
		u.ask(id, "four")
		assert.Equal(t, [][]string{nil, {"one", "two"}, nil}, earlier)
		u.load(id)
		assert.Equal(t, []string{"user: hour", "agent: Wait.", "user: one", "user: two", "user: three", "user: four"}, shown(u.set.Thread(id).Snapshot()))
	})
}

// counted counts the records that are read of the logs of a store.
type counted struct{ read int }

type countedLog struct {
	journal.Log
	of *counted
}

func (l countedLog) Read(ctx context.Context, after int64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		for r, err := range l.Log.Read(ctx, after) {
			if l.of.read++; !yield(r, err) {
				return
			}
		}
	}
}

// A turn reads nothing of the log. A session that is opened again reads what follows the last Compact.
func TestWhatTheModelReadsIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var store counted
		var history []json.RawMessage
		u := connect(t, kit.New(&kit.Options{Store: kitplay.Store{Store: new(journal.Memory), Log: func(l journal.Log) journal.Log { return countedLog{l, &store} }}, Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (_ acp.StopReason, err error) {
			if acp.PlainText(p.Blocks...) == "compact" {
				err = s.Compact("summary")
			}
			if err == nil {
				err = s.Remember(acp.PlainText(p.Blocks...), 1)
			}
			if err == nil {
				history, err = s.History(ctx)
			}
			return "", err
		}}))
		id := u.open()
		texts := func() (all []string) {
			for _, h := range history {
				all = append(all, string(h))
			}
			return all
		}
		for range 50 {
			u.ask(id, "go")
		}
		assert.Len(t, texts(), 100)
		u.ask(id, "compact")
		u.ask(id, "go")
		assert.Equal(t, []string{`"summary"`, `"compact"`, "1", `"go"`, "1"}, texts())
		assert.Zero(t, store.read)
		u.load(id)
		store.read = 0
		u.ask(id, "go")
		assert.Equal(t, []string{`"summary"`, `"compact"`, "1", `"go"`, "1", `"go"`, "1"}, texts())
		assert.Less(t, store.read, 12, "two turns of 200 records")
		time.Sleep(31 * time.Minute)
		store.read = 0
		u.ask(id, "go")
		assert.Len(t, texts(), 9)
		assert.Less(t, store.read, 16)
	})
}

// A log that another program has removed or replaced ends the turn that would write to it. After that
// the session goes on if there is one.
func TestLogReplaced(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, log string){
		"removed": func(t *testing.T, log string) { require.NoError(t, os.RemoveAll(filepath.Dir(log))) },
		"replaced": func(t *testing.T, log string) {
			text, err := os.ReadFile(log)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(log+".new", text, 0o600))
			require.NoError(t, os.Rename(log+".new", log))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			u := connect(t, kit.New(&kit.Options{Store: kitplay.Files(t, dir), Turn: echo, Logger: slog.New(slog.DiscardHandler)}))
			id := u.open()
			u.ask(id, "hello")
			change(t, filepath.Join(dir, string(id), "log.jsonl"))
			_, err := u.Prompt(t.Context(), &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.Text("again")}})
			require.ErrorContains(t, err, "another program has removed or changed")
			_, err = u.Prompt(t.Context(), &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.Text("again")}})
			if name == "removed" {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			u.load(id)
			assert.Equal(t, []string{"user: hello", "thought: hm", "agent: You said: hello", "user: again", "thought: hm", "agent: You said: again"}, shown(u.set.Thread(id).Snapshot()))
		})
	}
}
