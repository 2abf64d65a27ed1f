package connect_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/draft2/connect"
	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// The client of the agent's version alone is made, once.
func TestOneClientIsMade(t *testing.T) {
	for version, r := range map[int]string{1: resultV1, 2: resultV2} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			leak.Check(t)
			var made []any
			a := newAgents(t, answers(t, result(r)))
			conn, err := connect.Connect(t.Context(), a.dial, &connect.Options{
				V1:           func(c *client.Conn) acp.Client { made = append(made, c); return listener1{} },
				V2:           func(c *client2.Conn) acp2.Client { made = append(made, c); return listener2{} },
				InitializeV1: nothing1, InitializeV2: nothing2,
			})
			require.NoError(t, err)
			if version == 1 {
				assert.Equal(t, []any{conn.V1()}, made)
			} else {
				assert.Equal(t, []any{conn.V2()}, made)
			}
			end(t, conn)
		})
	}
}

// A message that the client sends before its initialize is sent after that which finds out the version.
func TestEarlyMessagesOfTheClient(t *testing.T) {
	for version, r := range map[int]string{1: resultV1, 2: resultV2} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			leak.Check(t)
			got := make(chan string, 1)
			a := newAgents(t, func(p *rawpeer.Peer) {
				p.Answer(p.Expect("initialize"), r)
				m := p.Next()
				got <- m.Method + string(m.Params)
				p.ExpectEnd()
			})
			opts := &connect.Options{ConnV1: &client.Options{}, ConnV2: &client2.Options{}, InitializeV1: nothing1, InitializeV2: nothing2}
			var first *client.Conn
			var second *client2.Conn
			opts.V1 = func(c *client.Conn) acp.Client { first = c; return listener1{} }
			opts.V2 = func(c *client2.Conn) acp2.Client { second = c; return listener2{} }
			opts.ConnV1.Sending = []acp.Middleware{before("initialize", func(ctx context.Context) error { return first.Notify(ctx, "_hello", 1) })}
			opts.ConnV2.Sending = []acp.Middleware{before("initialize", func(ctx context.Context) error { return second.Notify(ctx, "_hello", 2) })}
			conn, err := connect.Connect(t.Context(), a.dial, opts)
			require.NoError(t, err)
			assert.Equal(t, fmt.Sprint("_hello", version), <-got)
			end(t, conn)
		})
	}
}

// before returns a middleware that calls f before a message of that method is sent.
func before(method string, f func(context.Context) error) acp.Middleware {
	return peertest.Around(func(ctx context.Context, m string, params any, next acp.Handler) (any, error) {
		if m == method {
			if err := f(ctx); err != nil {
				return nil, err
			}
		}
		return next(ctx, m, params)
	})
}

// The agent is a program that prints other lines too, and exits when version 2 is requested. A line that
// quotes a message is logged. TestMain plays it.
func TestAgentProgram(t *testing.T) {
	leak.Check(t)
	self, err := os.Executable()
	require.NoError(t, err)
	var mu sync.Mutex
	var noise []string
	started := 0
	dial := stream.CommandDial(func() *exec.Cmd {
		started++
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), playAgent+"=1")
		return cmd
	}, &stream.CommandOptions{OnNoise: func(line string) {
		mu.Lock()
		defer mu.Unlock()
		noise = append(noise, line)
	}})
	var logged bytes.Buffer
	conn, err := connect.Connect(t.Context(), dial, &connect.Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	require.NoError(t, err)
	assert.Equal(t, 2, started)
	assert.Equal(t, 2, strings.Count(logged.String(), `msg="acp: skipped a line that looks like a message" end=client line="sent {`), &logged)
	assert.Equal(t, 1, conn.ProtocolVersion())
	_, err = startSession(t, conn).Prompt(t.Context(), connect.Text("go")).Wait()
	require.NoError(t, err)
	end(t, conn)
	mu.Lock()
	defer mu.Unlock()
	assert.Equal(t, []string{"starting ...", "{progress: 1}", quoted, "starting ...", "{progress: 1}", quoted, "asked"}, noise)
}

// playAgent is set for the process that plays the agent.
const playAgent = "ACPKIT_TEST_AGENT"

// quoted is a line that may be the log of a message.
const quoted = `sent {"jsonrpc":"2.0"}`

func playedAgent() int {
	fmt.Println("starting ...\n{progress: 1}\n" + quoted)
	s := stream.Lines(os.Stdin, os.Stdout, nil)
	first, err := s.Read()
	if err != nil || strings.Contains(string(first), `"protocolVersion":2`) {
		return 3
	}
	fmt.Println("asked")
	err = agent.Serve(context.Background(), &again{Stream: s, first: first}, newTestAgent, nil)
	if err != nil {
		return 1
	}
	return 0
}

// again is a stream whose first message is read again.
type again struct {
	stream.Stream
	first []byte
}

func (a *again) Read() ([]byte, error) {
	if first := a.first; first != nil {
		a.first = nil
		return first, nil
	}
	return a.Stream.Read()
}

// Network streams route messages, so they must know the methods and ids.
func TestOverTheNetwork(t *testing.T) {
	for name, scheme := range map[string]string{"websocket": "ws", "http": "http"} {
		for version, agents := range map[int]*serve.Agents{
			1: {V1: newTestAgent},
			2: {V2: newTestAgentV2},
		} {
			t.Run(fmt.Sprint(name, " ", version), func(t *testing.T) {
				leak.Check(t)
				h := remote.NewHandler(func(ctx context.Context, s stream.Stream) error { return serve.Route(ctx, s, agents, nil) }, nil)
				server := httptest.NewServer(h)
				defer server.Close()
				defer func() { require.NoError(t, h.Shutdown(context.Background())) }()
				dial := func(ctx context.Context) (stream.Stream, error) {
					return remote.Dial(ctx, strings.Replace(server.URL, "http", scheme, 1), nil)
				}
				conn, err := connect.Connect(t.Context(), dial, withFiles)
				require.NoError(t, err)
				assert.Equal(t, version, conn.ProtocolVersion())
				_, err = startSession(t, conn).Prompt(t.Context(), connect.Text("fail")).Wait()
				assert.ErrorContains(t, err, "out of luck")
				_, err = conn.LoadSession(t.Context(), "old", &connect.SessionParams{Cwd: "/w"})
				require.NoError(t, err)
				assert.Equal(t, []string{"user: hello", "agent: Hello."}, items(conn.Thread("old")))
				end(t, conn)
			})
		}
	}
}

// Updates outside of a turn are not kept if nothing reads them.
func TestUpdatesOutsideATurnAreNotKept(t *testing.T) {
	for version, r := range map[int]string{1: resultV1, 2: resultV2} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			leak.Check(t)
			a := newAgents(t, func(p *rawpeer.Peer) {
				p.Answer(p.Expect("initialize"), r)
				p.Answer(p.Expect("session/new"), `{"sessionId":"s"}`)
				m := p.Next() // the session is started then: of earlier updates 1 MiB is kept
				for range 100 {
					p.Notify("session/update", `{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"`+strings.Repeat("x", 20_000)+`"}}}`)
				}
				p.Fail(m, int(rpcerr.CodeInternalError), "enough")
				p.ExpectEnd()
			})
			var log strings.Builder
			conn, err := connect.Connect(t.Context(), a.dial, &connect.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			require.NoError(t, err)
			s := startSession(t, conn)
			require.Error(t, s.SetOption(t.Context(), "o", "v"), "after all updates")
			assert.Len(t, items(s.Thread())[0], 2_000_000+len("agent: "))
			end(t, conn)
			assert.NotContains(t, log.String(), "OnUpdate")
		})
	}
}
