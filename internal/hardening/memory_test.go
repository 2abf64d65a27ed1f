package hardening_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
)

// grown tells how many MiB more are in use after f than before, when all that can be
// collected was.
func grown(f func()) float64 {
	before := settledHeap()
	f()
	return (float64(settledHeap()) - float64(before)) / (1 << 20)
}

// flood writes n lines in large pieces.
func flood(t testing.TB, p *peer, n int, line func(b []byte, i int) []byte) {
	t.Helper()
	var b []byte
	for i := range n {
		b = append(line(b, i), '\n')
		if len(b) > 60<<10 || i == n-1 {
			_, err := p.Bytes.Write(b)
			require.NoError(t, err)
			b = b[:0]
		}
	}
}

func appendUpdate(b []byte, session, text string) []byte {
	return fmt.Appendf(b, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}`, session, text)
}

// An agent may make up sessions without end: a client remembers a bounded part of
// what it says about them.
func TestSessionsWithoutEnd(t *testing.T) {
	n := 300_000
	if testing.Short() || raceEnabled {
		n = 30_000
	}
	ignore := func(context.Context, *acp.SessionNotification) error { return nil }
	for name, line := range map[string]func(b []byte, i int) []byte{
		"short": func(b []byte, i int) []byte { return appendUpdate(b, fmt.Sprintf("s%d", i), "x") },
		"one update each, too long to be kept": func(b []byte, i int) []byte {
			if i%1000 > 0 {
				return b
			}
			return appendUpdate(b, fmt.Sprintf("s%d", i), tooLong)
		},
		"long ids": func(b []byte, i int) []byte {
			if i%1000 > 0 {
				return b
			}
			return appendUpdate(b, fmt.Sprintf("s%d%s", i, tooLong), "x")
		},
		"many updates of some": func(b []byte, i int) []byte { return appendUpdate(b, fmt.Sprintf("s%d", i%100), "xxxxxxxxxx") },
	} {
		t.Run(name, func(t *testing.T) {
			c, p := startClient(t, &testClient{Client: peertest.Client{OnUpdate: ignore}}, nil, nil)
			used := grown(func() {
				flood(t, p, n, line)
				p.echo()
			})
			t.Logf("%.1f MiB", used)
			assert.Less(t, used, 100.0)
			assert.Equal(t, "s1", string(openSession(t, c, p).ID()), "a session that exists is not affected")
		})
	}
}

// Sessions that were closed leave nothing behind.
func TestClosedSessions(t *testing.T) {
	for name, cycle := range map[string]func(ctx context.Context, c *client.Conn) error{
		"helper": func(ctx context.Context, c *client.Conn) error {
			s, err := c.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/"})
			if err != nil {
				return err
			}
			return s.Close(ctx)
		},
		"plain methods": func(ctx context.Context, c *client.Conn) error {
			res, err := c.NewSession(ctx, &acp.NewSessionRequest{Cwd: "/"})
			if err != nil {
				return err
			}
			_, err = c.CloseSession(ctx, &acp.CloseSessionRequest{SessionID: res.SessionID})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, p := startClient(t, &testClient{}, nil, nil)
			used := grown(func() {
				do(t, func() error {
					for range 1000 {
						if err := cycle(t.Context(), c); err != nil {
							return err
						}
					}
					return nil
				}, func() {
					for i := range 1000 {
						p.Answer(p.Expect("session/new"), fmt.Sprintf(`{"sessionId":"%d%s"}`, i, tooLong[:64<<10]))
						p.Answer(p.Expect("session/close"), `{}`)
					}
				})
			})
			assert.Less(t, used, 16.0)
		})
	}
}

// Questions without end are refused at some point.
func TestQuestionsWithoutEnd(t *testing.T) {
	release := make(chan struct{})
	cl := &testClient{}
	cl.OnPermission = func(ctx context.Context, _ *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
		<-release
		return acp.Cancelled(), nil
	}
	const most = 64 << 20 // the default is sixteen times as much
	_, p := startClient(t, cl, &client.Options{Limits: client.Limits{MaxOpen: most}}, nil)
	defer close(release)
	refused := 0
	used := grown(func() {
		flood(t, p, 20_000, func(b []byte, i int) []byte {
			return fmt.Appendf(b, `{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":"s%d","toolCall":{"toolCallId":"t"},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"}]}}`, i, i)
		})
		for _, m := range p.echo() {
			require.Equal(t, -32603, m.Error.Code)
			refused++
		}
	})
	t.Logf("%.1f MiB", used)
	assert.Less(t, used, 64.0)
	assert.Positive(t, refused)
}

// Members that nobody looks into do not grow into something many times their size.
func TestMetaBomb(t *testing.T) {
	_, p := startAgent(t, &testAgent{}, nil, nil)
	for name, meta := range map[string]string{
		"empty objects":    `{"x":[{}` + strings.Repeat(`,{}`, 10<<20/3) + `]}`,
		"objects":          `{"x":[{"":0}` + strings.Repeat(`,{"":0}`, 10<<20/7) + `]}`,
		"lists":            `{"x":[[]` + strings.Repeat(`,[]`, 10<<20/3) + `]}`,
		"lists of objects": `{"x":[[{"":{"":0}}]` + strings.Repeat(`,[{"":{"":0}}]`, 10<<20/14) + `]}`,
		"numbers":          `{"x":[1.5` + strings.Repeat(`,1.5`, 10<<20/4) + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			var held atomic.Pointer[acp.NewSessionRequest]
			a := &testAgent{}
			a.OnNewSession = func(_ context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
				held.Store(req)
				return &acp.NewSessionResponse{SessionID: "s"}, nil
			}
			_, p = startAgent(t, a, nil, nil)
			used := grown(func() {
				p.SendLines(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[],"_meta":` + meta + `}}`)
				assert.Equal(t, "ok 1", p.Next().String())
			})
			t.Logf("%.1f MiB of %d MiB", used, len(meta)>>20)
			assert.Less(t, used, 100.0)
			assert.NotNil(t, held.Load().Meta["x"])
		})
	}
}

// Many members, each of them short, share the budget of their message.
func TestManyMetas(t *testing.T) {
	var held atomic.Pointer[acp.PromptRequest]
	a := &testAgent{}
	a.OnPrompt = func(_ context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
		held.Store(req)
		return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
	}
	_, p := startAgent(t, a, nil, nil)
	meta := `{"a":[{}` + strings.Repeat(`,{"":0}`, 32_700/7) + `]}`
	block := `{"type":"text","text":"","_meta":` + meta + `}`
	const blocks = 300 // 10 MiB
	used := grown(func() {
		p.SendLines(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[` + block + strings.Repeat(","+block, blocks-1) + `]}}`)
		assert.Equal(t, "ok 1", p.Next().String())
	})
	length := float64(blocks*len(block)) / (1 << 20)
	t.Logf("%.1f MiB of %.1f MiB", used, length)
	assert.Less(t, used, 10*length)
	require.Len(t, held.Load().Prompt, blocks)
	last := held.Load().Prompt[blocks-1].(*acp.TextContent)
	raw, err := json.Marshal(last.Meta)
	require.NoError(t, err)
	assert.Equal(t, meta, string(raw), "nothing is lost")
}

// The updates of a Turn that no one reads count as what they take once decoded.
func TestUnreadTurnWithMetas(t *testing.T) {
	const backlog = 16 << 20
	handled := make(chan struct{}, 1)
	cl := &testClient{}
	cl.OnUpdate = func(context.Context, *acp.SessionNotification) error { handled <- struct{}{}; return nil }
	c, p := startClient(t, cl, &client.Options{Limits: client.Limits{Backlog: backlog}}, nil)
	s := openSession(t, c, p)
	turn := s.Prompt(t.Context(), acp.Text("go"))
	prompt := p.Expect("session/prompt")

	// Forty objects in half a kilobyte are decoded: that much any message may hold.
	meta := `{"a":[{}` + strings.Repeat(`,{"":0}`, 40) + `]}`
	line := fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"},"_meta":%s}}}`, s.ID(), meta)
	sent := 0
	var wrote chan struct{}
	used := grown(func() {
		for reading := true; reading; sent++ {
			wrote = make(chan struct{})
			go func() { // ends when the client reads again, or has gone
				defer close(wrote)
				p.Bytes.Write([]byte(line + "\n"))
			}()
			select {
			case <-handled:
			case <-time.After(2 * time.Second):
				reading = false // as a Turn that is not read demands
			}
		}
	})
	t.Logf("%.1f MiB after %d updates", used, sent)
	assert.Less(t, used, 2.0*backlog/(1<<20)) // spans that are not full included
	assert.Greater(t, used, 0.5*backlog/(1<<20))
	do(t, func() error { _, err := turn.Wait(); return err }, func() {
		<-handled
		<-wrote
		p.Answer(prompt, `{"stopReason":"end_turn"}`)
	})
}

// What is wrong with a hostile message is told in brief.
func TestManyViolations(t *testing.T) {
	a := &testAgent{}
	_, p := startAgent(t, a, nil, nil)
	list := func(n int, item string) string {
		return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
	}
	for name, params := range map[string]string{
		"relative paths":  `{"cwd":"/","mcpServers":[],"additionalDirectories":` + list(1<<20, `"x"`) + `}`,
		"numbers":         `{"cwd":"/","mcpServers":` + list(1<<20, `0`) + `}`,
		"lists of lists":  `{"cwd":"/","mcpServers":` + list(1000, `{"name":"n","command":"/c","args":`+list(100, `0`)+`,"env":`+list(1000, `{}`)+`}`) + `}`,
		"names":           `{"cwd":"/","mcpServers":` + list(100, `{"name":0,"name":0,"name":0,"command":0,"args":0,"env":0}`) + `}`,
		"relative in all": `{"cwd":"x","mcpServers":` + list(100_000, `{"name":"","command":"c","args":[],"env":[{"name":"","value":""}]}`) + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			p.SendLines(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":` + params + `}`)
			m := p.Next()
			t.Logf("%d bytes answered to %d", len(m.Raw), len(params))
			assert.Equal(t, "-32602 1", m.String())
			assert.Less(t, len(m.Raw), 64<<10)
		})
	}
}
