// Package hardening holds tests of both ends of a connection against peers that mean
// harm, or that do what the protocol's text does not foresee: broken bytes, messages
// without end, floods of everything that an end has to remember, secrets that must
// not come out, and the habits of programs in use. It has no code of its own.
//
// The tests use what users use: an agent or a client over stream.Lines, whose other
// side is played byte by byte.
package hardening_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

func TestMain(m *testing.M) { pairtest.Main(m) }

// callTimeout is how long a test waits for a call before it fails.
const callTimeout = time.Minute

// echoPeer is the other end of a connection over stream.Lines, played by the test.
type echoPeer struct {
	*rawpeer.Peer
	t testing.TB
	n int // echoes so far
}

// newEchoPeer returns a peer, and the reader and writer of the end under test.
func newEchoPeer(t testing.TB) (*echoPeer, io.ReadCloser, io.WriteCloser) {
	p, in, out := rawpeer.Lines(t)
	return &echoPeer{Peer: p, t: t}, in, out
}

// echo checks that the end under test still responds, and returns the messages that it sent
// before that response.
func (p *echoPeer) echo() []rawpeer.Message {
	p.t.Helper()
	p.n++
	id := fmt.Sprintf("echo %d", p.n)
	p.Send(`{"jsonrpc":"2.0","id":%q,"method":"_echo","params":{"n":%d}}`, id, p.n)
	var before []rawpeer.Message
	for {
		m, ok := p.Recv()
		require.True(p.t, ok, "the connection has ended")
		if string(m.ID) == fmt.Sprintf("%q", id) && m.Method == "" {
			require.JSONEq(p.t, fmt.Sprintf(`{"n":%d}`, p.n), string(m.Result), "%.300s", m.Raw)
			return before
		}
		before = append(before, m)
	}
}

// echoAnd is echo with at least n messages beside it: the responses to requests may come after
// that to an echo.
func (p *echoPeer) echoAnd(n int) []rawpeer.Message {
	p.t.Helper()
	all := p.echo()
	for len(all) < n {
		all = append(all, p.Next())
	}
	return all
}

// brief returns the short forms of messages, for tables.
func brief(all []rawpeer.Message) []string {
	var texts []string
	for _, m := range all {
		texts = append(texts, m.String())
	}
	return texts
}

// echoes has the extension _echo, which returns its params.
type echoes struct{}

func (echoes) HandleExtension(_ context.Context, method string, params json.RawMessage) (any, error) {
	if method != "_echo" {
		return nil, rpcerr.New(rpcerr.CodeMethodNotFound, "no such extension", nil)
	}
	return params, nil
}

// testAgent is an agent whose methods a test can replace. It has the extension _echo.
type testAgent struct {
	peertest.Agent
	echoes
}

// testClient is a client whose methods a test can replace. It has the extension _echo.
type testClient struct {
	peertest.Client
	echoes
}

// runner is a connection of either role and version.
type runner interface {
	Start(context.Context) error
	Wait() error
	Close() error
	Done() <-chan struct{}
	Err() error
}

// startEnd starts an end over lines, which ends with the test, and returns it with its peer.
func startEnd[C runner, R, O any](
	t testing.TB, lines *stream.LinesOptions, newConn func(stream.Stream, func(C) R, *O) C, role func(C) R, opts *O,
) (C, *echoPeer) {
	t.Helper()
	p, in, out := newEchoPeer(t)
	c := newConn(stream.Lines(in, out, lines), role, opts)
	require.NoError(t, c.Start(context.Background()))
	t.Cleanup(func() {
		p.Close()
		c.Close()
		<-c.Done()
	})
	return c, p
}

// startAgent returns the peer of an agent that has been initialized.
func startAgent(t testing.TB, a acp.Agent, opts *agent.Options, lines *stream.LinesOptions) (*agent.Conn, *echoPeer) {
	t.Helper()
	c, p := startEnd(t, lines, agent.New, func(*agent.Conn) acp.Agent { return a }, opts)
	p.SendLines(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	require.Equal(t, "ok 0", p.Next().String())
	return c, p
}

// agentCapabilities is what startClient's agent advertises.
const agentCapabilities = `{"loadSession":true,"sessionCapabilities":{"close":{},"list":{},"resume":{}},"promptCapabilities":{"image":true,"audio":true,"embeddedContext":true}}`

// startClient returns a client that has been initialized, and its peer.
func startClient(t testing.TB, cl acp.Client, opts *client.Options, lines *stream.LinesOptions) (*client.Conn, *echoPeer) {
	t.Helper()
	c, p := startEnd(t, lines, client.New, func(*client.Conn) acp.Client { return cl }, opts)
	callOK(t, func() error { return pairtest.Err(c.Initialize(t.Context(), nil)) }, func() {
		p.Answer(p.Expect("initialize"), `{"protocolVersion":1,"agentCapabilities":`+agentCapabilities+`}`)
	})
	return c, p
}

// callOK makes a call, which must succeed, while play plays the peer.
func callOK(t testing.TB, call func() error, play func()) {
	t.Helper()
	require.NoError(t, callWhile(t, call, play))
}

// callWhile makes a call while play plays the peer, and returns its error.
func callWhile(t testing.TB, call func() error, play func()) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- call() }() // ends when the call does
	play()
	timer := time.NewTimer(callTimeout)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		require.FailNow(t, "the call does not return")
	}
	return nil
}

// openSession opens session s1 of a client.
func openSession(t testing.TB, c *client.Conn, p *echoPeer) *client.Session {
	t.Helper()
	var s *client.Session
	callOK(t, func() (err error) {
		s, err = c.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
		return err
	}, func() { p.Answer(p.Expect("session/new"), `{"sessionId":"s1"}`) })
	return s
}

// ends runs a test against an agent and against a client, of both versions.
func ends(t *testing.T, lines *stream.LinesOptions, test func(t *testing.T, p *echoPeer)) {
	t.Run("agent", func(t *testing.T) {
		_, p := startAgent(t, &testAgent{}, nil, lines)
		test(t, p)
	})
	t.Run("client", func(t *testing.T) {
		_, p := startClient(t, &testClient{}, nil, lines)
		test(t, p)
	})
	t.Run("agent of version 2", func(t *testing.T) {
		_, p := startAgent2(t, &testAgent2{}, nil, lines)
		test(t, p)
	})
	t.Run("client of version 2", func(t *testing.T) {
		_, p := startClient2(t, &testClient2{}, nil, lines)
		test(t, p)
	})
	if pairtest.Race {
		return // these use the same code as an agent of version 2, and take minutes
	}
	t.Run("agent behind the router", func(t *testing.T) { test(t, startRouted(t, lines)) })
	t.Run("agent behind the adapter", func(t *testing.T) { test(t, startAdapted(t, lines)) })
}
