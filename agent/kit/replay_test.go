package kit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/rpcerr"
)

func runs(name string, effect tools.Effect, run func()) tools.Tool {
	return tools.Tool{Name: name, Effect: effect, Schema: json.RawMessage(`{"type":"object"}`), Run: func(context.Context, *tools.Call) (tools.Result, error) {
		run()
		return tools.Text("done"), nil
	}}
}

// When the disk is full, the agent does nothing that could not be read later: it calls no model,
// runs no tool and sends no message. The person reads the reason, and can go on once there is room.
func TestDiskFull(t *testing.T) {
	var room int64
	for full := true; full; room++ {
		synctest.Test(t, func(t *testing.T) {
			d := newDisk()
			isFull := func() bool { return d.room.Load() < 0 }
			ran := 0
			act := runs("act", tools.Executes, func() {
				assert.False(t, isFull(), "a tool runs, with room for %d records", room)
				ran++
			})
			rounds := func(ctx context.Context, s *kit.Session) error {
				for range 3 {
					if ctx.Err() != nil {
						return ctx.Err()
					}
					assert.False(t, isFull(), "a model is asked, with room for %d records", room)
					if err := errors.Join(s.Text(ctx, "I "), s.Text(ctx, "think"), s.Remember("what the model said")); err != nil {
						return err
					}
					time.Sleep(1100 * time.Millisecond) // meanwhile the text is stored
					for range 3 {                       // an author who ignores errors
						_ = s.Text(ctx, ", and think")
						time.Sleep(30 * time.Millisecond)
					}
					if _, err := s.Run(ctx, tools.Request{Name: "act"}, tools.Request{Name: "act"}); err != nil {
						return err
					}
				}
				return nil
			}
			sending := func(next acp.Handler) acp.Handler {
				return func(ctx context.Context, method string, params any) (any, error) {
					if n, ok := params.(*acp.SessionNotification); ok && isFull() {
						_, ends := n.Update.(*acp.ToolCallUpdate)
						assert.True(t, ends, "%T is sent, with room for %d records", n.Update, room)
					}
					return next(ctx, method, params)
				}
			}
			a := kit.New(&kit.Options{Store: d, Conn: &agent.Options{Sending: []acp.Middleware{sending}}, Logger: slog.New(slog.DiscardHandler), Tools: func(*kit.Session) []tools.Tool { return []tools.Tool{act} },
				Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
					if acp.PlainText(p.Blocks...) == "second" {
						return "", s.Text(ctx, "Yes?")
					}
					return "", rounds(ctx, s)
				}})
			u := connect(t, a)
			id := u.open()
			d.room.Store(room)
			_, err := u.Prompt(t.Context(), &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.Text("first")}})
			if full = isFull(); full {
				require.Error(t, err)
				re, ok := errors.AsType[*rpcerr.RequestError](err)
				require.True(t, ok)
				assert.EqualValues(t, -32603, re.Code)
				assert.Contains(t, re.Error()+fmt.Sprint(re.Data), "no space left on device")
				for _, line := range shown(u.set.Thread(id).Snapshot()) {
					assert.NotContains(t, line, "in_progress")
				}
			} else {
				require.NoError(t, err)
				assert.Equal(t, 6, ran)
			}
			d.room.Store(1 << 40)
			u.ask(id, "second")
			live := shown(u.set.Thread(id).Snapshot())
			u.load(id)
			lines := shown(u.set.Thread(id).Snapshot())
			if room == 0 { // the prompt itself was refused
				live = live[1:]
			}
			assert.Equal(t, live, lines, "with room for %d records", room)
			assert.Equal(t, []string{"user: second", "agent: Yes?"}, lines[len(lines)-2:])
			for _, line := range lines {
				assert.False(t, strings.HasPrefix(line, "call: ") && !strings.Contains(line, "completed") && !strings.Contains(line, "failed"), line)
			}
		})
	}
	assert.Greater(t, room, int64(20))
}

// A long message is stored in parts while more of it is sent. If a part cannot be stored, the
// message ends.
func TestDiskFullWithinAMessage(t *testing.T) {
	d := newDisk()
	said := 0
	u := connect(t, kit.New(&kit.Options{Store: d, Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
		d.room.Store(2)
		for said = range 10_000 {
			if s.Text(ctx, strings.Repeat("x", 2<<10)) != nil {
				break
			}
		}
		return "", s.EndMessage()
	}}))
	id := u.open()
	_, err := u.Prompt(t.Context(), &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.Text("go")}})
	require.ErrorContains(t, err, "no space left on device")
	assert.Less(t, said, 4*33, "two parts of 64 KiB, the one that does not fit, and what was sent meanwhile")
	live := shown(u.set.Thread(id).Snapshot())
	assert.GreaterOrEqual(t, len(live[1]), 2*33*2<<10)
	d.room.Store(1 << 40)
	u.load(id)
	assert.True(t, slices.Equal(live, shown(u.set.Thread(id).Snapshot())), "all that the person has read is stored when there is room")
}

// An fsync that takes 50 ms and a slow write of the title do not delay text.
func TestSlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		d.slow = 50 * time.Millisecond
		slowest := time.Duration(0)
		u := connect(t, kit.New(&kit.Options{Store: d, Modes: kit.Modes{{ID: "a", Name: "A"}, {ID: "b", Name: "B"}},
			Tools: func(*kit.Session) []tools.Tool { return []tools.Tool{runs("act", tools.Executes, func() {})} },
			Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
				over := make(chan error)
				go func() {
					for range 10 {
						_, err := s.Run(ctx, tools.Request{Name: "act"})
						if err = errors.Join(err, s.SetMode(ctx, "b"), s.SetTitle(ctx, "T"), s.SetMode(ctx, "a")); err != nil {
							over <- err
							return
						}
					}
					close(over)
				}()
				for i := 0; ; i++ {
					select {
					case err := <-over:
						assert.Greater(t, i, 1000)
						return "", err
					case <-time.After(time.Millisecond):
					}
					begun := time.Now()
					if err := s.Text(ctx, "x"); err != nil {
						return "", err
					}
					slowest = max(slowest, time.Since(begun))
				}
			}}))
		u.ask(u.open(), "go")
		assert.Less(t, slowest, 2*time.Millisecond)
	})
}
