package faults_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	pairtest2 "github.com/acpkit/go-sdk/internal/system/hardening/pairtest/v2"
	peertest2 "github.com/acpkit/go-sdk/internal/system/peertest/v2"
	"github.com/acpkit/go-sdk/stream"
)

const (
	echo2  = `{"sessionId":"s","update":{"sessionUpdate":"user_message","messageId":"u"}}`
	chunk2 = `{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"x"}}}`
	idle2  = `{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}}`
)

// TestCloseInsideCallbacks in version 2: from where the helpers of both sides call the user.
func TestCloseOfVersion2InsideCallbacks(t *testing.T) {
	ofClient := func(test func(t *testing.T, c *client2.Conn, peer *rawpeer.Peer)) func(*testing.T) {
		return func(t *testing.T) {
			c, peer := startClient2(t, pairtest2.Setup{})
			test(t, c, peer)
			require.NoError(t, c.Wait())
		}
	}
	// ofAgent sends a prompt to an agent that closes inside it.
	ofAgent := func(prompt func(ctx context.Context, c *agent2.Conn, req *acp2.PromptRequest) (any, error)) func(*testing.T) {
		return func(t *testing.T) {
			s, peer := rawpeer.Pipe(t)
			c := pairtest2.StartAgent(t, s, pairtest2.Setup{Agent: func(c *agent2.Conn) acp2.Agent {
				return &peertest2.FullAgent{Do: func(ctx context.Context, _ string, params any) (any, error) {
					if req, ok := params.(*acp2.PromptRequest); ok {
						return prompt(ctx, c, req)
					}
					return nil, nil
				}}
			}})
			peer.Call("0", "initialize", peertest2.Params["initialize"])
			peer.Call("1", "session/prompt", peertest2.Params["session/prompt"])
			answered := false
			for m, ok := peer.Recv(); ok; m, ok = peer.Recv() {
				if string(m.ID) == "1" {
					answered = true
					assert.Nil(t, m.Error)
				}
			}
			assert.True(t, answered, "the answer was queued before")
			require.NoError(t, c.Wait())
		}
	}
	for name, test := range map[string]func(t *testing.T){
		"OnUpdate": ofClient(func(t *testing.T, c *client2.Conn, peer *rawpeer.Peer) {
			c.Session("s").OnUpdate(func(context.Context, acp2.SessionUpdate) { assert.NoError(t, c.Close()) })
			peer.Notify("session/update", chunk2)
		}),
		"OnSessionEnd": ofClient(func(t *testing.T, c *client2.Conn, peer *rawpeer.Peer) {
			c.OnSessionEnd(func(acp2.SessionID) { assert.NoError(t, c.Close()) })
			closed := make(chan error, 1)
			go func() { closed <- c.Session("s").Close(context.Background()) }() // ends with the answer
			peer.Answer(peer.Expect("session/close"), `{}`)
			require.NoError(t, <-closed)
		}),
		"OnEnd": ofClient(func(t *testing.T, c *client2.Conn, peer *rawpeer.Peer) {
			called := false
			c.OnEnd(func() { called = true; assert.NoError(t, c.Close()) })
			peer.Close()
			require.NoError(t, c.Wait())
			assert.True(t, called)
		}),
		"OnDropped": func(t *testing.T) {
			var c *client2.Conn
			c, peer := startClient2(t, pairtest2.Setup{ClientOptions: client2.Options{OnDropped: func(string, error) { assert.NoError(t, c.Close()) }}})
			peer.Notify("session/update", `5`)
			require.NoError(t, c.Wait())
		},
		"Updates": ofClient(func(t *testing.T, c *client2.Conn, peer *rawpeer.Peer) {
			s := c.Session("s")
			turn := s.Prompt(t.Context(), acp2.Text("go"))
			peer.Notify("session/update", echo2)
			peer.Answer(peer.Expect("session/prompt"), `{"messageId":"u"}`)
			held := s.Prompt(t.Context(), acp2.Text("then this"))
			peer.Expect("session/prompt")
			peer.Notify("session/update", chunk2)
			n := 0
			for u, err := range turn.Updates() {
				if _, ok := u.(*acp2.AgentMessageChunk); ok {
					n++
					assert.NoError(t, c.Close())
				} else if err != nil {
					n++
					require.ErrorIs(t, err, acp2.ErrClosed)
				}
			}
			assert.Equal(t, 2, n)
			_, err := held.Wait()
			require.ErrorIs(t, err, acp2.ErrClosed)
		}),
		"AfterResponse": ofAgent(func(ctx context.Context, c *agent2.Conn, _ *acp2.PromptRequest) (any, error) {
			agent2.AfterResponse(ctx, func(context.Context) { _ = c.Close() })
			return nil, nil
		}),
		"work": ofAgent(func(ctx context.Context, c *agent2.Conn, req *acp2.PromptRequest) (any, error) {
			accepted := make(chan struct{})
			agent2.AfterResponse(ctx, func(context.Context) { close(accepted) })
			return c.Session("s").Accept(ctx, req, func(context.Context) (acp2.StopReason, error) {
				<-accepted
				return acp2.StopReasonEndTurn, c.Close()
			})
		}),
		"background work": ofAgent(func(ctx context.Context, c *agent2.Conn, req *acp2.PromptRequest) (any, error) {
			s := c.Session("s")
			accepted := make(chan struct{})
			agent2.AfterResponse(ctx, func(context.Context) { close(accepted) })
			return s.Accept(ctx, req, func(ctx context.Context) (acp2.StopReason, error) {
				background, err := s.StartBackground(ctx, &acp2.BackgroundTerminal{TerminalID: "t"})
				go func() { // ends with the connection
					<-accepted
					_ = c.Close()
					<-background.Context().Done()
					_ = background.End(context.Background())
				}()
				return acp2.StopReasonEndTurn, err
			})
		}),
	} {
		t.Run(name, func(t *testing.T) { pairtest.Bubble(t, test) })
	}
}

// What arrives just before the end of input reaches its caller, also after updates whose handlers
// are slow, and while a write fails: whatever the order of the response, the echo and the idle
// state, which is an update that ends the turn.
func TestTurnOfVersion2JustBeforeTheEnd(t *testing.T) {
	const response = `{"jsonrpc":"2.0","id":2,"result":{"messageId":"u"}}` + "\n"
	note := func(params string) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":` + params + "}\n"
	}
	var chunks strings.Builder
	for i := range 20 {
		chunks.WriteString(note(strings.Replace(chunk2, `"text":"x"`, fmt.Sprintf(`"text":"%d"`, i), 1)))
	}
	orders := map[string]string{
		"response first":    response + note(echo2) + chunks.String() + note(idle2),
		"echo first":        note(echo2) + response + chunks.String() + note(idle2),
		"response at last":  note(echo2) + chunks.String() + note(idle2) + response,
		"without line feed": strings.TrimSpace(response + note(echo2) + chunks.String() + note(idle2)),
	}
	ends := map[string]func(*io.PipeWriter){
		"end of input": func(w *io.PipeWriter) { _ = w.Close() },
		"read error":   func(w *io.PipeWriter) { _ = w.CloseWithError(errReset) },
	}
	for order, all := range orders {
		for name, end := range ends {
			if order == "without line feed" && name == "read error" {
				continue // then it is not known whether the line is whole
			}
			t.Run(order+", "+name, func(t *testing.T) {
				pairtest.Bubble(t, func(t *testing.T) { turnBeforeTheEnd2(t, all, end) })
			})
		}
	}
}

func turnBeforeTheEnd2(t *testing.T, all string, end func(*io.PipeWriter)) {
	seen := 0
	r, w := io.Pipe()
	deaf, mute := io.Pipe()
	c := pairtest2.StartClient(t, stream.Lines(r, mute, &stream.LinesOptions{Tolerant: true}), pairtest2.Setup{
		Client: func(*client2.Conn) acp2.Client {
			return &peertest2.FullClient{Do: func(context.Context, string, any) (any, error) {
				time.Sleep(100 * time.Millisecond)
				seen++
				return nil, nil
			}}
		},
	})
	heard := stream.Lines(deaf, nil, nil)
	go func() { // ends when it is read
		_, _ = heard.Read()
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":2,"info":{"name":"a","version":"1"}}}`+"\n")
	}()
	_, err := c.Initialize(t.Context(), nil)
	require.NoError(t, err)
	turns := make(chan *client2.Turn, 1)
	go func() { turns <- c.Session("s").Prompt(context.Background(), acp2.Text("go")) }() // ends when it is sent
	_, err = heard.Read()
	require.NoError(t, err)
	_, err = io.WriteString(w, all)
	require.NoError(t, err)
	end(w)
	_ = deaf.Close()
	_ = c.Notify(t.Context(), "_note", nil) // the write fails, because the peer has closed its input
	turn := <-turns
	n := 0
	for u, err := range turn.Updates() {
		require.NoError(t, err)
		if u, ok := u.(*acp2.AgentMessageChunk); ok {
			assert.Equal(t, fmt.Sprint(n), acp2.PlainText(u.Content))
			n++
		}
	}
	idle, err := turn.Wait()
	require.NoError(t, err)
	assert.Equal(t, acp2.StopReasonEndTurn, idle.StopReason)
	res, err := turn.Accepted()
	require.NoError(t, err)
	assert.EqualValues(t, "u", res.MessageID)
	assert.Equal(t, 20, n)
	assert.Equal(t, 22, seen)
	_ = c.Wait()
	synctest.Wait()
}
