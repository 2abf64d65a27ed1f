package flood_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	pairtest2 "github.com/acpkit/go-sdk/internal/system/hardening/pairtest/v2"
	peertest2 "github.com/acpkit/go-sdk/internal/system/peertest/v2"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// watermark is a counter that keeps its largest value.
type watermark struct{ now, most atomic.Int64 }

func (w *watermark) add(n int64) {
	now := w.now.Add(n)
	for most := w.most.Load(); now > most && !w.most.CompareAndSwap(most, now); most = w.most.Load() {
	}
}

// greet plays the client's part of the handshake.
func greet(t *testing.T, s stream.Stream) {
	t.Helper()
	require.NoError(t, s.Write([]byte(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":1}}`)))
	_, err := s.Read()
	require.NoError(t, err)
}

// Very many requests arrive at once: handlers and goroutines stay bounded, and every request gets
// its own response once.
func TestRequestsAtOnce(t *testing.T) {
	n := 100_000
	if pairtest.Race {
		n = 20_000
	}
	const most = 256
	tests := []struct {
		name string
		// do is what the handler does; talks, that the client answers calls.
		do func(ctx context.Context, c *agent.Conn) error
	}{
		{"handlers that compute", func(context.Context, *agent.Conn) error { runtime.Gosched(); return nil }},
		{"handlers that wait", func(context.Context, *agent.Conn) error { time.Sleep(time.Millisecond); return nil }},
		{"handlers that send", func(ctx context.Context, c *agent.Conn) error { return c.Notify(ctx, "_note", nil) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pairtest.Bubble(t, func(t *testing.T) {
				var running watermark
				near, far := stream.Pipe()
				c := pairtest.StartAgent(t, near, pairtest.Setup{
					Agent: func(c *agent.Conn) acp.Agent {
						return &peertest.FullAgent{Do: func(ctx context.Context, method string, _ any) (any, error) {
							if method != "_work" {
								return nil, nil
							}
							running.add(1)
							defer running.add(-1)
							return nil, tt.do(ctx, c)
						}}
					},
					AgentOptions: agent.Options{Limits: acp.Limits{MaxHandlers: most, SendQueue: 64 << 10}},
				})
				greet(t, far)
				go func() { // ends when all were written
					for i := range n {
						if far.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"_work","params":[%[1]d]}`, i)) != nil {
							return
						}
					}
				}()
				var goroutines int
				answered := make([]bool, n)
				for left := n; left > 0; {
					msg, err := far.Read()
					require.NoError(t, err)
					if bytes.Contains(msg, []byte(`"_note"`)) {
						continue
					}
					var m struct {
						ID     int
						Result []int
					}
					require.NoError(t, json.Unmarshal(msg, &m), "%s", msg)
					require.Equal(t, []int{m.ID}, m.Result)
					require.False(t, answered[m.ID], "answered twice")
					answered[m.ID] = true
					left--
					if left%1000 == 0 {
						goroutines = max(goroutines, runtime.NumGoroutine())
					}
				}
				t.Logf("%d handlers and %d goroutines at a time", running.most.Load(), goroutines)
				assert.LessOrEqual(t, running.most.Load(), int64(2*most))
				assert.LessOrEqual(t, goroutines, 3*most)
				_ = c.Close()
			})
		})
	}
}

// While more prompts run than handlers may, each waiting for a terminal of the
// client, everything that is needed to end them works.
func TestManyPrompts(t *testing.T) {
	const prompts, handlers = 1024, 4
	pairtest.Bubble(t, func(t *testing.T) {
		var entered, killed, cancelled atomic.Int64
		var terminals [prompts]chan struct{}
		for i := range terminals {
			terminals[i] = make(chan struct{})
		}
		var index = func(id string) (i int) { _, _ = fmt.Sscanf(id, "t%d", &i); return i }
		p := pairtest.Connect(t, pairtest.Setup{
			Agent: func(c *agent.Conn) acp.Agent {
				return &peertest.FullAgent{Do: func(ctx context.Context, _ string, params any) (any, error) {
					switch params := params.(type) {
					case *acp.PromptRequest:
						entered.Add(1)
						id := acp.TerminalID("t" + strings.TrimPrefix(string(params.SessionID), "s"))
						_, err := c.WaitForTerminalExit(ctx, &acp.WaitForTerminalExitRequest{SessionID: params.SessionID, TerminalID: id})
						return nil, err
					case *acp.SetSessionModeRequest:
						// The agent kills the terminal of that session's turn.
						id := acp.TerminalID("t" + strings.TrimPrefix(string(params.SessionID), "s"))
						_, err := c.KillTerminal(ctx, &acp.KillTerminalRequest{SessionID: params.SessionID, TerminalID: id})
						return nil, err
					case *acp.CancelNotification:
						cancelled.Add(1)
					}
					return nil, nil
				}}
			},
			Client:        terminalHost(&killed, terminals[:], index),
			AgentOptions:  agent.Options{Limits: acp.Limits{MaxHandlers: handlers}},
			ClientOptions: clientHandlers(handlers),
		})
		ends := make(chan acp.StopReason, prompts)
		for i := range prompts {
			go func() { // ends with the prompt
				res, err := p.Client.Prompt(context.Background(), prompt(acp.SessionID(fmt.Sprintf("s%d", i))))
				if assert.NoError(t, err) {
					ends <- res.StopReason
				}
			}()
		}
		synctest.Wait()
		require.EqualValues(t, prompts, entered.Load())
		begun := time.Now()
		for i := range 300 { // terminal/kill, asked for by set_mode
			_, err := p.Client.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: acp.SessionID(fmt.Sprintf("s%d", i)), ModeID: "m"})
			require.NoError(t, err)
			assert.Equal(t, acp.StopReasonEndTurn, <-ends)
		}
		for i := 300; i < 600; i++ {
			_, err := p.Client.CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: acp.SessionID(fmt.Sprintf("s%d", i))})
			require.NoError(t, err)
			assert.Equal(t, acp.StopReasonCancelled, <-ends)
		}
		for i := 600; i < prompts; i++ {
			require.NoError(t, p.Client.Cancel(t.Context(), &acp.CancelNotification{SessionID: acp.SessionID(fmt.Sprintf("s%d", i))}))
			assert.Equal(t, acp.StopReasonCancelled, <-ends)
		}
		synctest.Wait()
		assert.Zero(t, time.Since(begun), "nothing had to wait")
		assert.EqualValues(t, 300, killed.Load())
		assert.EqualValues(t, prompts-600, cancelled.Load())
	})
}

// terminalHost is a client whose terminals run until they are killed.
func terminalHost(killed *atomic.Int64, terminals []chan struct{}, index func(string) int) func(*client.Conn) acp.Client {
	return func(*client.Conn) acp.Client {
		return &peertest.FullClient{Do: func(ctx context.Context, _ string, params any) (any, error) {
			switch params := params.(type) {
			case *acp.WaitForTerminalExitRequest:
				select {
				case <-terminals[index(string(params.TerminalID))]:
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			case *acp.KillTerminalRequest:
				killed.Add(1)
				close(terminals[index(string(params.TerminalID))])
			}
			return nil, nil
		}}
	}
}

func clientHandlers(n int) client.Options {
	return client.Options{Limits: acp.Limits{MaxHandlers: n}}
}

// Very many prompts that the agent holds: they neither count as handlers nor keep others
// from being handled, they keep their order, and a cancel fails all of them with -32800 and
// leaves nothing behind.
func TestHeldPromptsWithoutEnd(t *testing.T) {
	const n = 3000
	pairtest.Bubble(t, func(t *testing.T) {
		var inserted []string
		p := pairtest2.Connect(t, pairtest2.Setup{
			Agent: func(conn *agent2.Conn) acp2.Agent {
				return &peertest2.FullAgent{Do: func(ctx context.Context, _ string, params any) (any, error) {
					req, ok := params.(*acp2.PromptRequest)
					if !ok {
						return nil, nil
					}
					return conn.Session(req.SessionID).Accept(ctx, req, func(ctx context.Context) (acp2.StopReason, error) {
						text := acp2.PlainText(req.Prompt...)
						inserted = append(inserted, text)
						if text == "100" {
							<-ctx.Done()
						}
						return "", ctx.Err()
					})
				}}
			},
			AgentOptions: agent2.Options{Limits: acp.Limits{MaxHandlers: 2}},
		})
		s, err := p.Client.StartSession(t.Context(), &acp2.NewSessionRequest{Cwd: "/"})
		require.NoError(t, err)
		round := func() {
			inserted = nil
			var turns []*client2.Turn
			for i := range n {
				turns = append(turns, s.Prompt(t.Context(), acp2.Text(strconv.Itoa(i))))
			}
			synctest.Wait()
			require.NoError(t, p.Client.Call(t.Context(), "_x", nil, nil), "others are handled meanwhile")
			require.Len(t, inserted, 101)
			require.NoError(t, s.Cancel(t.Context()))
			for i, turn := range turns {
				idle, err := turn.Wait()
				switch {
				case i < 100:
					require.NoError(t, err)
					require.Equal(t, acp2.StopReasonEndTurn, idle.StopReason)
				case i == 100:
					require.NoError(t, err)
					require.Equal(t, acp2.StopReasonCancelled, idle.StopReason)
				default:
					require.ErrorIs(t, err, rpcerr.ErrRequestCancelled)
				}
			}
			synctest.Wait()
			for i, text := range inserted {
				require.Equal(t, strconv.Itoa(i), text)
			}
		}
		round() // the runtime keeps something of every goroutine there was at a time
		memory := pairtest.Watch(t)
		round()
		memory.Look()
		memory.Within(2 << 20)
	})
}
