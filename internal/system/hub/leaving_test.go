//go:build unix

package hub_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/proxy"
	"github.com/acpkit/go-sdk/client"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// asks makes agents whose turns ask, and tell what was chosen. cancels gets each session/cancel.
func asks(cancels chan<- struct{}) func(*agent.Conn) acp.Agent {
	return func(c *agent.Conn) acp.Agent {
		return &peertest.Agent{
			OnCancel: func(context.Context, *acp.CancelNotification) error {
				cancels <- struct{}{}
				return nil
			},
			OnPrompt: peertest.Prompts(c, func(ctx context.Context, s *agent.Session, req *acp.PromptRequest) error {
				res, err := c.RequestPermission(ctx, &acp.RequestPermissionRequest{
					SessionID: req.SessionID, ToolCall: acp.ToolCallUpdate{ToolCallID: "call", Title: "Run it"},
					Options: []acp.PermissionOption{{OptionID: "yes", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce}},
				})
				if err != nil {
					return err
				}
				chosen, _ := res.Outcome.(*acp.SelectedPermissionOutcome)
				if chosen == nil {
					return s.Message(ctx, "nothing was chosen")
				}
				return s.Message(ctx, "chosen: "+string(chosen.OptionID))
			}),
		}
	}
}

// waits is a client of version 1 that answers no question, and tells when it is asked.
type waits struct {
	v1
	asked chan struct{}
}

func (c *waits) RequestPermission(ctx context.Context, _ *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	c.asked <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

// waits2 is one of version 2.
type waits2 struct {
	v2
	asked chan struct{}
}

func (c *waits2) RequestPermission(ctx context.Context, _ *acp2.RequestPermissionRequest) (*acp2.RequestPermissionResponse, error) {
	c.asked <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

// chooses is a client that answers each question.
type chooses struct{ v1 }

func (c *chooses) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return acp.Selected("yes"), nil
}

// route is a connection to a hub, and how it may end.
type route struct {
	near   stream.Stream      // the end of the client
	end    context.CancelFunc // ends the ctx of Serve, or of what is between
	cut    func()             // ends it as the death of the client's process does; nil if nobody notices that soon
	served chan struct{}      // closed when all that served it has ended
}

type serving = func(context.Context, stream.Stream) error

func overPipe(_ *testing.T, serve serving) *route {
	near, far := stream.Pipe()
	r := over(far, serve)
	r.near, r.cut = near, func() { _ = near.Close() }
	return r
}

// over serves the far end of a connection.
func over(far stream.Stream, serve serving) *route {
	r := &route{served: make(chan struct{})}
	ctx, end := context.WithCancel(context.Background())
	r.end = end
	go func() { // ends with the connection, which each test ends
		defer close(r.served)
		_ = serve(ctx, far)
	}()
	return r
}

func overStdio(t *testing.T, serve serving) *route {
	in, toHub, err := os.Pipe()
	require.NoError(t, err)
	fromHub, out, err := os.Pipe()
	require.NoError(t, err)
	r := over(stream.Lines(in, out, nil), serve)
	r.near, r.cut = stream.Lines(fromHub, toHub, nil), func() { _, _ = toHub.Close(), fromHub.Close() }
	return r
}

func throughProxy(_ *testing.T, serve serving) *route {
	near, far := stream.Pipe()
	toHub, atHub := stream.Pipe()
	behind := over(atHub, serve)
	r := over(far, func(ctx context.Context, s stream.Stream) error {
		pass := func(next proxy.Handler) proxy.Handler { return next }
		err := proxy.New(s, toHub, &proxy.Options{FromClient: []proxy.Middleware{pass}, FromAgent: []proxy.Middleware{pass}, Logger: quiet}).Run(ctx)
		<-behind.served
		return err
	})
	r.near, r.cut = near, func() { _ = near.Close() }
	return r
}

func overNetwork(scheme string) func(*testing.T, serving) *route {
	return func(t *testing.T, serve serving) *route {
		r := &route{served: make(chan struct{})}
		life, end := context.WithCancel(context.Background())
		handler := remote.NewHandler(func(ctx context.Context, s stream.Stream) error {
			defer close(r.served)
			ctx, stop := context.WithCancel(ctx)
			defer context.AfterFunc(life, stop)()
			return serve(ctx, s)
		}, &remote.Options{Logger: quiet})
		server := httptest.NewServer(handler)
		t.Cleanup(func() { _ = handler.Shutdown(context.Background()); server.Close() })
		var conn net.Conn
		transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (_ net.Conn, err error) {
			conn, err = new(net.Dialer).DialContext(ctx, network, address)
			return conn, err
		}}
		t.Cleanup(transport.CloseIdleConnections)
		near, err := remote.Dial(t.Context(), scheme+strings.TrimPrefix(server.URL, "http"), &remote.DialOptions{Client: &http.Client{Transport: transport}})
		require.NoError(t, err)
		r.near, r.end = near, end
		if scheme == "ws" { // a client of HTTP may come back
			r.cut = func() { _ = conn.Close() }
		}
		return r
	}
}

// elsewhere is the store of a second hub: what cannot be opened is at the first.
type elsewhere struct{ *journal.Memory }

func (s elsewhere) Open(ctx context.Context, id string) (journal.Log, error) {
	log, err := s.Memory.Open(ctx, id)
	if _, ok := errors.AsType[*journal.HeldError](err); ok {
		err = &journal.HeldError{ID: id, Holder: "the first"}
	}
	return log, err
}

// A turn with an open question goes on, however its client goes away, over each transport, in each version, through a proxy
// and from another hub. The agent learns nothing of it, and the next client answers.
func TestQuestionsOutliveTheirClients(t *testing.T) {
	transports := map[string]func(*testing.T, serving) *route{
		"pipe": overPipe, "stdio": overStdio, "websocket": overNetwork("ws"), "http": overNetwork("http"), "proxy": throughProxy,
	}
	var all sync.WaitGroup // at once, because most wait 5 s: a client that has closed its end may still read
	for name, connect := range transports {
		for _, version := range []int{1, 2} {
			for _, way := range []string{"close", "ctx", "cut"} {
				for _, away := range []bool{false, true} {
					all.Go(func() { // ends with its test
						t.Run(fmt.Sprintf("%s/version %d/%s/away %t", name, version, way, away), func(t *testing.T) {
							questionOutlives(t, connect, version, way, away)
						})
					})
				}
			}
		}
	}
	all.Wait()
}

func questionOutlives(t *testing.T, connect func(*testing.T, serving) *route, version int, way string, away bool) {
	cancels, store := make(chan struct{}, 10), new(journal.Memory)
	newHub := func(o *hub.Options) *hub.Hub {
		o.Agent.Dial, o.Logger = peertest.Dialer(peertest.Serving(asks(cancels), nil)), quiet
		h := hub.New(o)
		t.Cleanup(func() {
			ctx, now := context.WithCancel(context.Background())
			now()
			_ = h.Shutdown(ctx)
		})
		return h
	}
	h := newHub(&hub.Options{Store: store})
	entry := h
	if away {
		entry = newHub(&hub.Options{Store: elsewhere{store}, Reach: func(context.Context, string, string) (stream.Stream, error) {
			near, _ := peertest.Dial(func(ctx context.Context, s stream.Stream) error { return h.ServeNode(ctx, s, "") })
			return near, nil
		}})
	}
	creator := peertest.Connect(t, h.Serve, new(v1), nil)
	res, err := creator.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/work"})
	require.NoError(t, err)
	id := string(res.SessionID)
	_, err = creator.CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: res.SessionID})
	require.NoError(t, err)

	r := connect(t, func(ctx context.Context, s stream.Stream) error {
		return serve.Serve(ctx, s, entry.Agent, &serve.Options{Logger: quiet})
	})
	asked := make(chan struct{}, 1)
	var leaving follower
	if version == 1 {
		c := &waits{asked: asked}
		c.conn, err = client.Connect(t.Context(), r.near, func(*client.Conn) acp.Client { return c }, &client.Options{Logger: quiet})
		leaving = c
	} else {
		c := &waits2{asked: asked}
		c.conn, err = client2.Connect(t.Context(), r.near, func(*client2.Conn) acp2.Client { return c }, &client2.Options{Logger: quiet})
		leaving = c
	}
	require.NoError(t, err)
	require.NoError(t, leaving.load(t.Context(), id))
	go func() { _ = leaving.prompt(context.Background(), id, "go") }() // ends with the connection
	<-asked
	switch {
	case way == "ctx":
		r.end()
	case way == "cut" && r.cut != nil:
		r.cut()
	default:
		leaving.close()
	}
	<-r.served
	r.end()
	leaving.close()
	require.Eventually(t, func() bool {
		for s := range h.Sessions() {
			if s.Attached > 0 {
				return false
			}
		}
		return true
	}, time.Minute, time.Millisecond)

	c := new(chooses)
	conn := peertest.Connect(t, h.Serve, c.threads.Client(c), nil)
	_, err = conn.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: res.SessionID, Cwd: "/work"})
	require.NoError(t, err)
	until(t, c.thread(id), "chosen: yes")
	assert.Empty(t, cancels)
}
