package remote_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/pipenet"
	"github.com/acpkit/go-sdk/stream/remote"
)

// cutter is a network that drops one connection after a number of bytes in one direction.
type cutter struct {
	*pipenet.Listener
	fromClient bool // the direction in which bytes count
	gone       bool // no new connection can be made after the drop

	mu     sync.Mutex // guards the fields below
	left   int
	cut    bool
	passed int  // bytes so far in that direction
	events bool // the dropped connection carried an event stream that can be resumed
}

func (n *cutter) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	n.mu.Lock()
	gone := n.cut && n.gone
	n.mu.Unlock()
	if gone {
		return nil, errors.New("no route to host")
	}
	c, err := n.Listener.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &cutConn{Conn: c, n: n}, nil
}

// take counts size bytes. It returns how many of them pass, and whether the connection is dropped
// after them.
func (n *cutter) take(size int) (pass int, drop bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.passed += size
	if n.cut || size < n.left {
		n.left -= size
		return size, false
	}
	pass, n.cut = n.left, true
	return pass, true
}

// cutConn is the client's end of a connection of a cutter.
type cutConn struct {
	net.Conn
	n   *cutter
	got []byte // what was read
}

var errDropped = errors.New("connection reset by peer")

func (c *cutConn) Read(b []byte) (int, error) {
	size, err := c.Conn.Read(b)
	if c.n.fromClient || size == 0 {
		return size, err
	}
	pass, drop := c.n.take(size)
	c.got = append(c.got, b[:pass]...)
	if drop {
		_, events, numbered := bytes.Cut(c.got, []byte("id: "))
		c.n.mu.Lock()
		c.n.events = numbered && bytes.Contains(events, []byte("\n\n"))
		c.n.mu.Unlock()
		c.Close()
		return pass, errDropped
	}
	return size, err
}

func (c *cutConn) Write(b []byte) (int, error) {
	if !c.n.fromClient {
		return c.Conn.Write(b)
	}
	pass, drop := c.n.take(len(b))
	size, err := c.Conn.Write(b[:pass])
	if drop {
		c.Close()
		return size, errDropped
	}
	return size, err
}

// network makes the connections of a conversation.
type network interface {
	net.Listener
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// converse prompts once over a network that is cut. It returns the error of the conversation.
func converse(t *testing.T, url string, resume bool, transport *http.Transport, over network) (err error) {
	var prompts atomic.Int64
	h := remote.NewHandler(peertest.Serving(func(c *agent.Conn) acp.Agent {
		return &orderAgent{conn: c, sent: map[acp.SessionID]int{}, prompts: &prompts,
			updates: 8, asks: func(n int) bool { return n == 3 }}
	}, nil), &remote.Options{Logger: quiet, Resume: resume, AllowedHosts: []string{"server"}, Authorize: func(*http.Request) (*remote.Principal, error) {
		return &remote.Principal{ID: "x"}, nil
	}})
	server := remote.NewServer("", h)
	go server.Serve(over) // ends with Close
	transport.DialContext = over.DialContext
	c := &orderClient{t: t}
	patience, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // longer than any call may take
	defer cancel()
	err = func() error {
		s, err := remote.Dial(patience, url, &remote.DialOptions{Client: &http.Client{Transport: transport}})
		if err != nil {
			return err
		}
		conn := client.New(s, func(*client.Conn) acp.Client { return c }, &client.Options{Logger: quiet})
		require.NoError(t, conn.Start(context.Background()))
		defer func() { conn.Close(); conn.Wait() }()
		if _, err := conn.Initialize(patience, &acp.InitializeRequest{}); err != nil {
			return err
		}
		session, err := conn.NewSession(patience, &acp.NewSessionRequest{Cwd: "/"})
		if err != nil {
			return err
		}
		_, err = conn.Prompt(patience, &acp.PromptRequest{SessionID: session.SessionID, Prompt: []acp.ContentBlock{acp.Text("go")}})
		if err == nil {
			assert.Equal(t, int64(8), c.handled.Load(), "a prompt that was answered has all its updates")
		}
		return err
	}()
	assert.LessOrEqual(t, prompts.Load(), int64(1), "nothing is posted twice")
	assert.LessOrEqual(t, c.questions.Load(), int64(1), "nothing is delivered twice")
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = h.Shutdown(ctx)
	transport.CloseIdleConnections()
	_ = server.Close()
	return err
}

// eachOffset runs a conversation whose network fails after each multiple of step bytes, and one
// without a failure. It returns how many of them were completed.
func eachOffset(t *testing.T, step int, once func(n int) (passed int, err error)) (completed int) {
	whole, err := once(1 << 30)
	require.NoError(t, err)
	for n := 0; n < whole; n += step {
		if _, err := once(n); err == nil {
			completed++
		}
		if t.Failed() {
			t.Fatalf("the failure was after %d of %d bytes", n, whole)
		}
	}
	t.Logf("%d of %d conversations were completed", completed, 1+whole/step)
	return completed
}

var step = flag.Int("step", 37, "TestCutAnywhere drops the connection after each multiple of so many bytes")

// If a network connection is dropped after any number of bytes in either direction, no call hangs.
// Every lost or repeated message causes an error. With resume, no message of an event stream is
// lost.
func TestCutAnywhere(t *testing.T) {
	step := *step
	if testing.Short() || raceEnabled {
		step = 97
	}
	for _, p := range []struct {
		name, url string
		resume    bool
		patience  time.Duration // the maximum duration of a call
	}{
		{"WebSocket", "ws://server/", false, 0},
		{"HTTP", "http://server/", false, time.Second},
		{"HTTP with resume", "http://server/", true, 70 * time.Second},
	} {
		for _, fromClient := range []bool{false, true} {
			for _, gone := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, from the client %v, for good %v", p.name, fromClient, gone), func(t *testing.T) {
					t.Parallel()
					step := step
					if gone {
						step = max(step, 7)
					}
					continued := 0
					once := func(n int) (passed int, err error) {
						synctest.Test(t, func(t *testing.T) {
							leak.Check(t)
							began := time.Now()
							network := &cutter{Listener: pipenet.Listen(), fromClient: fromClient, gone: gone, left: n}
							err = converse(t, p.url, p.resume, &http.Transport{}, network)
							network.mu.Lock() // a network connection may end later
							defer network.mu.Unlock()
							passed = network.passed
							assert.LessOrEqual(t, time.Since(began), p.patience+2*time.Second, "a call hung")
							if network.events && !gone {
								continued++
								assert.NoError(t, err, "an event stream is continued")
							}
						})
						return passed, err
					}
					eachOffset(t, step, once)
					assert.Equal(t, p.resume && !fromClient && !gone, continued > 0, "%d event streams were continued", continued)
				})
			}
		}
	}
}
