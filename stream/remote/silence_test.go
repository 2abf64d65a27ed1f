package remote_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/pipenet"
)

// swallower is a network that goes silent after a number of bytes in one direction. What is written
// then is lost, nothing arrives, and neither end learns that the other has closed its connection.
type swallower struct {
	*pipenet.Listener
	fromClient bool // the direction in which bytes count
	scope      silence

	mu     sync.Mutex // guards the fields below
	left   int
	silent bool
	passed int
	conns  []*mutableConn
}

// silence says which connections go silent.
type silence string

const (
	oneConnection    silence = "one connection"
	oldConnections   silence = "all connections" // as if a router had lost their state
	newConnectionsTo silence = "the network"
)

func (n *swallower) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	n.mu.Lock()
	gone := n.silent && n.scope == newConnectionsTo
	n.mu.Unlock()
	if gone {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	conn, err := n.Listener.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &mutableConn{Conn: conn, n: n}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.conns = append(n.conns, c)
	return c, nil
}

// pass returns how many of size bytes pass. All bytes after them are lost.
func (n *swallower) pass(c *mutableConn, size int, fromClient bool) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if c.muted {
		return 0
	}
	if fromClient != n.fromClient || n.silent {
		return size
	}
	n.passed += size
	if size < n.left {
		n.left -= size
		return size
	}
	n.silent, c.muted = true, true
	if n.scope != oneConnection {
		for _, other := range n.conns {
			other.muted = true
		}
	}
	return n.left
}

// shut ends all connections.
func (n *swallower) shut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.conns {
		c.Conn.Close()
	}
}

// mutableConn is the client's end of a connection of a swallower. The mutex of the network guards
// its state.
type mutableConn struct {
	net.Conn
	n             *swallower
	muted, closed bool
}

func (c *mutableConn) Read(b []byte) (int, error) {
	for {
		size, err := c.Conn.Read(b)
		c.n.mu.Lock()
		closed := c.closed
		c.n.mu.Unlock()
		if closed {
			return 0, net.ErrClosed
		}
		if size = c.n.pass(c, size, false); size > 0 || err != nil {
			return size, err
		}
	}
}

func (c *mutableConn) Write(b []byte) (int, error) {
	if pass := c.n.pass(c, len(b), true); pass > 0 {
		if n, err := c.Conn.Write(b[:pass]); err != nil {
			return n, err
		}
	}
	return len(b), nil
}

func (c *mutableConn) Close() error {
	c.n.mu.Lock()
	defer c.n.mu.Unlock()
	if !c.muted || c.closed {
		c.closed = true
		return c.Conn.Close()
	}
	c.closed = true
	_ = c.Conn.SetReadDeadline(time.Now()) // makes its Read return
	time.AfterFunc(time.Millisecond, func() {
		_ = c.Conn.SetReadDeadline(time.Time{})
		_, _ = io.Copy(io.Discard, c.Conn) // until shut closes it
	})
	return nil
}

var silenceStep = flag.Int("silence", 59, "TestSilenceAnywhere lets the network go silent after each multiple of so many bytes")

// If a network goes silent after any byte, no call hangs: within 90 s it fails, or the conversation
// has continued.
func TestSilenceAnywhere(t *testing.T) {
	step := *silenceStep
	switch {
	case testing.Short():
		step = 211
	case raceEnabled:
		step = 97
	}
	two := new(http.Protocols)
	two.SetUnencryptedHTTP2(true)
	pings := &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second}
	for name, transport := range map[string]*http.Transport{
		"HTTP/1.1":             {},
		"HTTP/2":               {Protocols: two, HTTP2: pings},
		"HTTP/2 without pings": {Protocols: two},
	} {
		for _, resume := range []bool{false, true} {
			for _, scope := range []silence{oneConnection, oldConnections, newConnectionsTo} {
				for _, fromClient := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s, resume %v, %s, from the client %v", name, resume, scope, fromClient), func(t *testing.T) {
						t.Parallel()
						once := func(n int) (passed int, err error) {
							synctest.Test(t, func(t *testing.T) {
								leak.Check(t)
								network := &swallower{Listener: pipenet.Listen(), fromClient: fromClient, scope: scope, left: n}
								began := time.Now()
								err = converse(t, "http://server/", resume, transport.Clone(), network)
								// Close waits up to 2 s for accepted messages and 2 s for the
								// DELETE.
								assert.LessOrEqual(t, time.Since(began), 94*time.Second, "a call hung: %v", err)
								network.shut()
								synctest.Wait()
								network.mu.Lock()
								defer network.mu.Unlock()
								passed = network.passed
							})
							return passed, err
						}
						completed := eachOffset(t, step, once)
						if resume && !fromClient && scope != newConnectionsTo && name != "HTTP/2 without pings" {
							assert.Positive(t, completed, "event streams are continued")
						}
					})
				}
			}
		}
	}
}
