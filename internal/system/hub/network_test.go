// Package hub_test shows that clients of both versions and over every transport share a session of a
// hub. It has no code of its own.
package hub_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/supervise"
	"github.com/acpkit/go-sdk/client/thread"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/draft2/serve"
	thread2 "github.com/acpkit/go-sdk/draft2/thread"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/schema/schematest"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

var episodes = flag.Int("episodes", 5, "random episodes of TestEveryClientOverEveryTransport")

var quiet = slog.New(slog.DiscardHandler)

// talks returns a turn that sends random messages and tool calls. intN is safe for concurrent use.
func talks(intN func(int) int) peertest.Turn {
	return func(ctx context.Context, s *agent.Session, req *acp.PromptRequest) error {
		turn := acp.PlainText(req.Prompt...)
		for i := range 20 + intN(60) {
			var u acp.SessionUpdate
			call := acp.ToolCallID(fmt.Sprint(turn, "-", intN(3)))
			switch intN(6) {
			case 0, 1, 2:
				u = &acp.AgentMessageChunk{MessageID: acp.MessageID(fmt.Sprint(turn, "-", intN(3))), Content: acp.Text(fmt.Sprint(i, " "))}
			case 3:
				u = &acp.AgentThoughtChunk{MessageID: acp.MessageID(fmt.Sprint(turn, "-thought-", intN(2))), Content: acp.Text(fmt.Sprint(i, " "))}
			default:
				u = &acp.ToolCallUpdate{ToolCallID: call, Title: fmt.Sprint("call ", i), Status: acp.ToolCallStatusInProgress}
			}
			if err := s.Update(ctx, u); err != nil {
				return err
			}
			if intN(4) == 0 {
				runtime.Gosched()
			}
		}
		for c := range 3 {
			if err := s.Update(ctx, &acp.ToolCallUpdate{ToolCallID: acp.ToolCallID(fmt.Sprint(turn, "-", c)), Title: "last", Status: acp.ToolCallStatusCompleted}); err != nil {
				return err
			}
		}
		return s.Message(ctx, "end of "+turn)
	}
}

// follower is a client of one version.
type follower interface {
	load(ctx context.Context, id string) error
	leave(ctx context.Context, id string) error
	prompt(ctx context.Context, id, text string) error
	thread(id string) *thread.Thread
	close()
}

type v1 struct {
	conn    *client.Conn
	threads thread.Set
}

func (c *v1) SessionUpdate(context.Context, *acp.SessionNotification) error { return nil }

func (c *v1) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return acp.Cancelled(), nil
}

func (c *v1) load(ctx context.Context, id string) error {
	_, err := c.conn.LoadSession(ctx, &acp.LoadSessionRequest{SessionID: acp.SessionID(id), Cwd: "/work"})
	return err
}

func (c *v1) leave(ctx context.Context, id string) error {
	_, err := c.conn.CloseSession(ctx, &acp.CloseSessionRequest{SessionID: acp.SessionID(id)})
	return err
}

func (c *v1) prompt(ctx context.Context, id, text string) error {
	_, err := c.conn.Prompt(ctx, &acp.PromptRequest{SessionID: acp.SessionID(id), Prompt: []acp.ContentBlock{acp.Text(text)}})
	return err
}

func (c *v1) thread(id string) *thread.Thread { return c.threads.Thread(acp.SessionID(id)) }

func (c *v1) close() { _ = c.conn.Close(); _ = c.conn.Wait() }

type v2 struct {
	conn    *client2.Conn
	threads thread2.Set
}

func (c *v2) SessionUpdate(context.Context, *acp2.UpdateSessionNotification) error { return nil }

func (c *v2) RequestPermission(context.Context, *acp2.RequestPermissionRequest) (*acp2.RequestPermissionResponse, error) {
	return acp2.Cancelled(), nil
}

func (c *v2) load(ctx context.Context, id string) error {
	_, err := c.conn.ResumeSession(ctx, &acp2.ResumeSessionRequest{SessionID: acp2.SessionID(id), Cwd: "/work", ReplayFrom: &acp2.ReplayFromStart{}})
	return err
}

func (c *v2) leave(ctx context.Context, id string) error {
	_, err := c.conn.CloseSession(ctx, &acp2.CloseSessionRequest{SessionID: acp2.SessionID(id)})
	return err
}

func (c *v2) prompt(ctx context.Context, id, text string) error {
	_, err := c.conn.Session(acp2.SessionID(id)).Prompt(ctx, acp2.Text(text)).Wait()
	return err
}

func (c *v2) thread(id string) *thread.Thread { return c.threads.Thread(acp2.SessionID(id)) }

func (c *v2) close() { _ = c.conn.Close(); _ = c.conn.Wait() }

// dial connects a client.
func dial(t *testing.T, version int, connect func() (stream.Stream, error)) follower {
	t.Helper()
	s, err := connect()
	require.NoError(t, err)
	s = schematest.Client(t, version, s)
	if version == 2 {
		c := new(v2)
		c.conn, err = client2.Connect(t.Context(), s, func(*client2.Conn) acp2.Client { return c.threads.Client(c) },
			&client2.Options{Sending: []acp2.Middleware{c.threads.Sending}, Logger: quiet})
		require.NoError(t, err)
		return c
	}
	c := new(v1)
	c.conn, err = client.Connect(t.Context(), s, func(*client.Conn) acp.Client { return c.threads.Client(c) },
		&client.Options{Sending: []acp.Middleware{c.threads.Sending}, Logger: quiet})
	require.NoError(t, err)
	return c
}

// shown is what a client shows of a session.
func shown(th *thread.Thread) []string {
	var lines []string
	for _, item := range th.Snapshot().Items.All() {
		switch x := item.(type) {
		case *thread.Message:
			lines = append(lines, fmt.Sprintf("%s: %s", x.Role, x.Text()))
		case *thread.ToolCall:
			lines = append(lines, fmt.Sprintf("%s %s %s", x.ID, x.Title, x.Status))
		}
	}
	return lines
}

// until waits until a client shows a line.
func until(t *testing.T, th *thread.Thread, line string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	for range th.Watch(ctx) {
		if lines := shown(th); len(lines) > 0 && strings.HasSuffix(lines[len(lines)-1], line) {
			return
		}
	}
	require.Fail(t, "a client does not get the end", "%q", shown(th))
}

// Clients of both versions, over pipes, WebSocket and HTTP, that come at any moment of a turn show the
// same as those that load the session afterwards.
func TestEveryClientOverEveryTransport(t *testing.T) {
	for seed := range uint64(*episodes) {
		var mu sync.Mutex // guards random
		random := rand.New(rand.NewPCG(seed, 3))
		intN := func(n int) int {
			mu.Lock()
			defer mu.Unlock()
			return random.IntN(n)
		}
		h := hub.New(&hub.Options{Logger: quiet, Agent: supervise.Options{Dial: peertest.Dialer(peertest.Serving(peertest.Turns(talks(intN)), nil))}})
		both := func(ctx context.Context, s stream.Stream) error {
			return serve.Serve(ctx, s, h.Agent, &serve.Options{Logger: quiet})
		}
		handler := remote.NewHandler(both, &remote.Options{Logger: quiet})
		server := httptest.NewServer(handler)
		at := func(scheme string) func() (stream.Stream, error) {
			return func() (stream.Stream, error) {
				return remote.Dial(t.Context(), scheme+strings.TrimPrefix(server.URL, "http"), nil)
			}
		}
		pipe := func() (stream.Stream, error) {
			near, _ := peertest.Dial(both)
			return near, nil
		}
		sender := dial(t, 1, pipe).(*v1)
		res, err := sender.conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/work"})
		require.NoError(t, err)
		id := string(res.SessionID)
		clients := map[string]follower{"sender": sender}
		for name, connect := range map[string]func() (stream.Stream, error){"pipe": pipe, "websocket": at("ws"), "http": at("http")} {
			for _, version := range []int{1, 2} {
				clients[fmt.Sprint(name, " version ", version)] = dial(t, version, connect)
			}
		}
		var wait sync.WaitGroup
		stop := make(chan struct{})
		for name, c := range clients {
			if name == "sender" {
				continue
			}
			wait.Go(func() { // ends with the turns
				for {
					assert.NoError(t, c.load(t.Context(), id), name)
					select {
					case <-stop:
						return
					default:
						assert.NoError(t, c.leave(t.Context(), id), name)
					}
				}
			})
		}
		for i := range 4 {
			require.NoError(t, sender.prompt(t.Context(), id, fmt.Sprint("turn ", i)))
		}
		close(stop)
		wait.Wait()
		require.NoError(t, clients["websocket version 2"].prompt(t.Context(), id, "from version 2"))
		after := dial(t, 1, pipe)
		require.NoError(t, after.load(t.Context(), id))
		want := shown(after.thread(id))
		for name, c := range clients {
			until(t, c.thread(id), "end of from version 2")
			assert.Equal(t, want, shown(c.thread(id)), "seed %d: %s", seed, name)
			c.close()
		}
		after.close()
		require.NoError(t, h.Shutdown(t.Context()))
		_ = handler.Shutdown(t.Context())
		server.Close()
	}
}
