package hardening_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// TestMain keeps what the tests provoke out of their output.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// patience is how long a test waits for a message. A test that has to wait so long
// has failed.
const patience = time.Minute

// peer is the other side of a connection over stream.Lines, played byte by byte.
type peer struct {
	t     testing.TB
	to    *io.PipeWriter
	from  *io.PipeReader
	lines chan string // what the end under test wrote
	n     int         // echoes so far
}

// newPeer returns a peer and the reader and writer of the end under test. The peer
// reads all the time, like a program that does nothing else.
func newPeer(t testing.TB) (*peer, io.ReadCloser, io.WriteCloser) {
	t.Helper()
	in, to := io.Pipe()
	from, out := io.Pipe()
	p := &peer{t: t, to: to, from: from, lines: make(chan string, 1<<17)}
	go func() { // ends when the end under test, or the test, closes the pipe
		defer close(p.lines)
		r := bufio.NewReader(from)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			p.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	t.Cleanup(p.close)
	return p, in, out
}

func (p *peer) close() {
	p.to.Close()
	p.from.Close()
}

// send writes lines.
func (p *peer) send(lines ...string) {
	p.t.Helper()
	for _, line := range lines {
		_, err := io.WriteString(p.to, line+"\n")
		require.NoError(p.t, err)
	}
}

func (p *peer) sendf(format string, args ...any) {
	p.t.Helper()
	p.send(fmt.Sprintf(format, args...))
}

// message is any message, taken apart.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
	raw string
}

// String is short enough for tables: "ok 1", "-32600 null", "session/cancel".
func (m message) String() string {
	switch {
	case m.Method != "":
		return m.Method
	case m.Error != nil:
		return fmt.Sprintf("%d %s", m.Error.Code, m.ID)
	}
	return fmt.Sprintf("ok %s", m.ID)
}

// recv waits for the next message.
func (p *peer) recv() message {
	p.t.Helper()
	m, ok := p.recvOrEnd()
	require.True(p.t, ok, "the connection has ended")
	return m
}

// recvOrEnd waits for the next message; false at the end.
func (p *peer) recvOrEnd() (message, bool) {
	p.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case line, ok := <-p.lines:
		m := message{raw: line}
		if ok {
			require.NoError(p.t, json.Unmarshal([]byte(line), &m), "%.200s", line)
		}
		return m, ok
	case <-timer.C:
		require.FailNow(p.t, "nothing arrives")
	}
	panic("unreachable")
}

// expect waits for a message with that method.
func (p *peer) expect(method string) message {
	p.t.Helper()
	m := p.recv()
	require.Equal(p.t, method, m.String(), "%.300s", m.raw)
	return m
}

// answer answers a request.
func (p *peer) answer(m message, result string) {
	p.t.Helper()
	p.sendf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// echo shows that the end under test still answers, and returns what it had sent
// before.
func (p *peer) echo() []message {
	p.t.Helper()
	p.n++
	id := fmt.Sprintf("echo %d", p.n)
	p.sendf(`{"jsonrpc":"2.0","id":%q,"method":"_echo","params":{"n":%d}}`, id, p.n)
	var before []message
	for {
		m := p.recv()
		if string(m.ID) == fmt.Sprintf("%q", id) && m.Method == "" {
			require.JSONEq(p.t, fmt.Sprintf(`{"n":%d}`, p.n), string(m.Result), "%.300s", m.raw)
			return before
		}
		before = append(before, m)
	}
}

// said is echo, with n messages beside it: the answers to requests may come behind
// that of an echo.
func (p *peer) said(n int) []message {
	p.t.Helper()
	all := p.echo()
	for len(all) < n {
		all = append(all, p.recv())
	}
	return all
}

// brief is the form of messages in tables.
func brief(all []message) []string {
	var texts []string
	for _, m := range all {
		texts = append(texts, m.String())
	}
	return texts
}

// echoes is the extension of both ends under test: _echo answers what it is given.
type echoes struct{}

func (echoes) HandleExtension(_ context.Context, method string, params json.RawMessage) (any, error) {
	if method != "_echo" {
		return nil, rpcerr.New(rpcerr.CodeMethodNotFound, "no such extension", nil)
	}
	return params, nil
}

// testAgent is an agent of which a test writes what matters.
type testAgent struct {
	peertest.Agent
	echoes
}

// testClient likewise.
type testClient struct {
	echoes
	onPermission func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error)
	onUpdate     func(context.Context, *acp.SessionNotification) error

	mu      sync.Mutex // guards what follows
	updates []acp.SessionUpdate
}

func (c *testClient) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	if c.onPermission != nil {
		return c.onPermission(ctx, req)
	}
	return acp.Selected("yes"), nil
}

func (c *testClient) SessionUpdate(ctx context.Context, n *acp.SessionNotification) error {
	if c.onUpdate != nil {
		return c.onUpdate(ctx, n)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.updates = append(c.updates, n.Update)
	return nil
}

// take returns the updates that arrived since it was last called.
func (c *testClient) take() []acp.SessionUpdate {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.updates
	c.updates = nil
	return all
}

// runner is what both kinds of Conn have in common.
type runner interface {
	Start(context.Context) error
	Wait() error
	Close() error
	Done() <-chan struct{}
	Err() error
}

// run starts the end under test, and ends it with the test.
func run(t testing.TB, c runner, p *peer) {
	t.Helper()
	require.NoError(t, c.Start(context.Background()))
	t.Cleanup(func() {
		p.close()
		c.Close()
		<-c.Done()
	})
}

// startAgent returns the peer of an agent that has been initialized.
func startAgent(t testing.TB, a acp.Agent, opts *agent.Options, lines *stream.LinesOptions) (*agent.Conn, *peer) {
	t.Helper()
	p, in, out := newPeer(t)
	c := agent.New(stream.Lines(in, out, lines), func(*agent.Conn) acp.Agent { return a }, opts)
	run(t, c, p)
	p.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	require.Equal(t, "ok 0", p.recv().String())
	return c, p
}

// agentCapabilities is what startClient's agent advertises.
const agentCapabilities = `{"loadSession":true,"sessionCapabilities":{"close":{},"list":{},"resume":{}},"promptCapabilities":{"image":true,"audio":true,"embeddedContext":true}}`

// startClient returns a client that has been initialized, and its peer.
func startClient(t testing.TB, cl acp.Client, opts *client.Options, lines *stream.LinesOptions) (*client.Conn, *peer) {
	t.Helper()
	p, in, out := newPeer(t)
	c := client.New(stream.Lines(in, out, lines), func(*client.Conn) acp.Client { return cl }, opts)
	run(t, c, p)
	do(t, func() error {
		_, err := c.Initialize(t.Context(), nil)
		return err
	}, func() {
		p.answer(p.expect("initialize"), `{"protocolVersion":1,"agentCapabilities":`+agentCapabilities+`}`)
	})
	return c, p
}

// do calls call, which must succeed, while the test plays the peer.
func do(t testing.TB, call func() error, play func()) {
	t.Helper()
	require.NoError(t, try(t, call, play))
}

// try calls call while the test plays the peer, and returns its error.
func try(t testing.TB, call func() error, play func()) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- call() }() // ends when the call does
	play()
	timer := time.NewTimer(patience)
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
func openSession(t testing.TB, c *client.Conn, p *peer) *client.Session {
	t.Helper()
	var s *client.Session
	do(t, func() (err error) {
		s, err = c.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
		return err
	}, func() { p.answer(p.expect("session/new"), `{"sessionId":"s1"}`) })
	return s
}

// ends runs a test once against an agent and once against a client.
func ends(t *testing.T, test func(t *testing.T, p *peer)) {
	t.Run("agent", func(t *testing.T) {
		_, p := startAgent(t, &testAgent{}, nil, nil)
		test(t, p)
	})
	t.Run("client", func(t *testing.T) {
		_, p := startClient(t, &testClient{}, nil, nil)
		test(t, p)
	})
}
