package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/stream"
)

// curious is a slog.Handler that uses the connection that logs. It collects what is logged.
type curious struct {
	slog.Handler
	conn func() *rpc.Conn
	read chan struct{} // closed when something that is no message was read

	mu  sync.Mutex // guards all
	all []string
}

func (h *curious) Enabled(context.Context, slog.Level) bool { return true }
func (h *curious) WithAttrs([]slog.Attr) slog.Handler       { return h }

func (h *curious) Handle(_ context.Context, r slog.Record) error {
	c := h.conn()
	c.Hold(1) // takes the lock of what is read
	c.Release(1)
	_ = c.Err()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _ = c.Call(ctx, mOther, nil, nil) // that of the calls
	_ = c.NotifyExtension(ctx, "_logged", nil)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, r.Message)
	if strings.Contains(r.Message, "not a message") {
		close(h.read)
	}
	return nil
}

func (h *curious) has(text string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.all {
		if strings.Contains(m, text) {
			return true
		}
	}
	return false
}

// A slog.Handler is code of the user, and may write its records to the peer: no lock is
// held while anything is logged.
func TestNothingIsLoggedUnderALock(t *testing.T) {
	long := make(chan struct{})
	note := func(text string) string { return `{"jsonrpc":"2.0","method":"t/note","params":` + text + `}` }
	for _, tt := range []struct {
		name, sent, logged string
	}{
		{"not JSON", `no`, "not JSON"},
		{"no message", `[]`, "not a message"},
		{"undecodable", note(`5`), "dropped a notification"},
		{"failing notification", note(`{"text":"fail"}`), "notification handler failed"},
		{"panic", note(`{"text":"panic"}`), "notification handler failed"},
		{"slow handler", note(`{"text":"slow"}`) + "\n" + `{"jsonrpc":"2.0","id":1,"method":"t/echo","params":{}}`, "keeps a call or request waiting"},
		{"unknown notification", `{"jsonrpc":"2.0","method":"t/none"}`, "ignored a notification"},
		{"response without an id", `{"jsonrpc":"2.0","result":1}`, "without a usable id"},
		{"response to nothing", `{"jsonrpc":"2.0","id":77,"result":1}`, "never made"},
		{"failing request", `{"jsonrpc":"2.0","id":1,"method":"t/echo","params":{"text":"fail"}}`, "request handler failed"},
		{"cancelled turn", `{"jsonrpc":"2.0","id":1,"method":"t/prompt","params":{"sessionId":"s"}}` + "\n" + `{"jsonrpc":"2.0","method":"t/cancel","params":{"sessionId":"s"}}`, "cancelled turn failed"},
		{"before the handshake", "init\n" + note(`{}`), "dropped a notification"},
		{"during the handshake", "init\n" + `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}` + "\n" + `{"jsonrpc":"2.0","method":"t/none"}` + "\n[]", "not a message"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			near, far := stream.Pipe()
			var c *rpc.Conn
			h := &curious{conn: func() *rpc.Conn { return c }, read: make(chan struct{})}
			cancel := ends(rpc.EndsForeground, ignore(mCancel))
			cfg := rpc.Config{Stream: near, Logger: slog.New(h), Limits: rpc.Limits{SlowHandler: time.Millisecond}, Entries: []*rpc.Entry{
				on(mNote, func(ctx context.Context, m *msg) (*msg, error) {
					switch m.Text {
					case "panic":
						panic("oh")
					case "slow":
						<-long
						return nil, nil
					}
					return nil, errors.New("no")
				}),
				on(mEcho, func(context.Context, *msg) (*msg, error) { return nil, errors.New("no") }),
				ended(on(mPrompt, func(ctx context.Context, _ *msg) (*msg, error) { <-ctx.Done(); return nil, errors.New("no") })),
				cancel,
				on(mInit, func(context.Context, *msg) (*msg, error) {
					<-h.read
					return &msg{}, nil
				}),
			}}
			sent, gated := strings.CutPrefix(tt.sent, "init\n")
			if gated {
				cfg.Handshake = "initialize"
			}
			c = startOn(t, cfg)
			for line := range strings.SplitSeq(sent, "\n") {
				require.NoError(t, far.Write([]byte(line)))
			}
			require.Eventually(t, func() bool { return h.has(tt.logged) }, 10*time.Second, time.Millisecond)
			if tt.name == "slow handler" {
				close(long)
			}
			require.NoError(t, far.Write([]byte(`{"jsonrpc":"2.0","id":"last","method":"t/echo","params":{}}`)))
			p := newPeer(t, far) // fails if there is no response in time
			for !strings.Contains(p.Next().Raw, `"last"`) {
			}
		})
	}
}

// A peer cannot fill the disk with the log by sending invalid input. The log says how many lines
// were omitted.
func TestPeerCannotFloodTheLog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var l logs
		fails := on(mEcho, func(context.Context, *msg) (*msg, error) { return nil, errors.New("no") })
		c, p := start(t, rpc.Config{Logger: l.logger(), Entries: []*rpc.Entry{fails}})
		const n = 1000
		for range n {
			p.Send("x")
			p.Next()
			p.Send(`{"jsonrpc":"2.0","method":"t/echo","id":1,"params":{}}`)
			p.Next()
		}
		assert.Equal(t, 256, strings.Count(l.String(), "\n"), "one budget for all lines")
		time.Sleep(3 * time.Second) // in the bubble of its caller
		p.Send("x")
		p.Next()
		assert.True(t, strings.HasSuffix(l.String(), fmt.Sprintf(" omitted=%d\n", 2*n-256)))
		for range 10 {
			p.Send("x")
			p.Next()
		}
		c.Close()
		assert.NoError(t, c.Wait())
		assert.True(t, strings.HasSuffix(l.String(), "msg=\"acp: lines of the log were omitted\" count=8\n"))
	})
}

// Names from a peer are cut in the log, and an invalid request is not logged as a warning.
func TestNamesOfThePeerAreCutInTheLog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var l, own logs
		long := strings.Repeat("m", 200_000)
		_, p := start(t, rpc.Config{Logger: l.logger(),
			OnError: func(_ context.Context, where string, err error) error {
				if logged, ok := errors.AsType[interface {
					error
					Logged() bool
				}](err); !ok || !logged.Logged() {
					own.logger().Error("failed", "where", where)
				}
				return nil
			},
			Entries: []*rpc.Entry{ignore(mEcho)},
			Defined: func(method string) bool { return method == long },
			Extension: func(_ context.Context, method string, _ json.RawMessage) (any, error) {
				return nil, errors.New("cannot " + method)
			}})
		p.Send(`{"jsonrpc":"2.0","method":"_%s","id":1}`, long)
		p.Next()
		p.Send(`{"jsonrpc":"2.0","method":"%s","id":2}`, long)
		p.Next()
		p.Send(`{"jsonrpc":"2.0","method":"t/echo","id":3,"params":{"n":-1}}`)
		assert.Contains(t, p.Next().Raw, "-32602")
		assert.Less(t, len(l.String()), 8<<10, "two names of 200 KB")
		assert.Equal(t, 1, strings.Count(own.String(), "\n"), "what the engine refuses is no failure")
		assert.Less(t, len(own.String()), 1<<10)
		assert.Equal(t, 2, strings.Count(l.String(), "level=DEBUG"), l.String())
	})
}
