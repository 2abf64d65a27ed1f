package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/proxy"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
)

// Recorded messages of real programs pass unchanged, with and without middleware.
func TestTranscriptsPassUnchanged(t *testing.T) {
	files, err := filepath.Glob("../../internal/recordings/transcripts*/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, middleware := range []string{"none", "watching"} {
		var opts *proxy.Options
		if middleware == "watching" {
			opts = both(watching)
		}
		for _, path := range files {
			t.Run(middleware+" "+filepath.Base(path), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					leak.Check(t)
					replay(t, path, opts)
				})
			})
		}
	}
}

func replay(t *testing.T, path string, opts *proxy.Options) {
	_, client, agent := start(t, opts)
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	open := map[string]bool{} // requests in flight, by sender and id
	n := 0
	for lines.Scan() {
		var r struct{ Dir, Raw string }
		require.NoError(t, json.Unmarshal(lines.Bytes(), &r))
		var from, to *testEnd
		switch r.Dir {
		case "meta": // a program was started or has ended
			_, client, agent = start(t, opts)
			clear(open)
			continue
		case "send":
			from, to = client, agent
		case "recv":
			from, to = agent, client
		default:
			t.Fatalf("unknown direction %q", r.Dir)
		}
		if strings.ContainsAny(r.Raw, "\r\n") || strings.TrimSpace(r.Raw) == "" {
			continue
		}
		var m struct{ ID, Method, Result, Error json.RawMessage }
		_ = json.Unmarshal([]byte(r.Raw), &m)
		if key := r.Dir + string(m.ID); m.Method != nil && m.ID != nil && string(m.ID) != "null" {
			if open[key] && opts != nil {
				continue // the proxy refuses an id that is in flight
			}
			open[key] = true
		} else if m.ID != nil {
			delete(open, map[string]string{"send": "recv", "recv": "send"}[r.Dir]+string(m.ID))
		}
		from.send(r.Raw)
		require.Equal(t, r.Raw, to.receive())
		n++
	}
	require.NoError(t, lines.Err())
	assert.Positive(t, n)
}

// Messages that are not JSON-RPC, or of an unknown version, pass too.
func TestStrangeMessagesPass(t *testing.T) {
	for _, opts := range []*proxy.Options{nil, both(watching)} {
		synctest.Test(t, func(t *testing.T) {
			leak.Check(t)
			_, client, agent := start(t, opts)
			for _, line := range []string{
				`{"jsonrpc":"2.0","id":null,"method":"initialize","params":{"protocolVersion":2}}`,
				`{"jsonrpc":"2.0","id":1.5,"method":"x/y","params":[1,  2]}`,
				`{"jsonrpc":"2.0","id":"a\u0062","method":"from/the/future","params":{"a":1e400},"trace":"kept"}`,
				`{"method":"no version","id":9007199254740993}`,
				`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"new","x":{}}},"extra":[]}`,
				`not JSON at all`,
				`[{"jsonrpc":"2.0","id":1,"method":"batch"}]`,
				`{"jsonrpc":"2.0","id":77,"result":{"nobody":"asked"}}`,
				`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`,
				`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":4711,"why":"unknown"}}`,
			} {
				client.send(line)
				require.Equal(t, line, agent.receive())
				agent.send(line)
				require.Equal(t, line, client.receive())
			}
			for _, response := range []string{
				`{"jsonrpc":"2.0","id":null,"result":{"protocolVersion":2,"models":[1,2],"x":"y"}}`,
				`{"result":null,"id":1.5}`,
				`{"jsonrpc":"2.0","id":"ab","error":{"data":{"why":[1]},"message":"m","code":-32000,"hint":"kept"},"took":3}`,
				`{"jsonrpc":"2.0","id":9007199254740993,"error":"not even an object"}`,
			} {
				agent.send(response)
				require.Equal(t, response, client.receive())
			}
		})
	}
}

// A notification that is written just before or after a response keeps its place, with and without
// middleware.
func TestOrderOfResponsesAndNotifications(t *testing.T) {
	n := 5000
	if testing.Short() {
		n = 500
	}
	for name, opts := range map[string]*proxy.Options{"raw": nil, "with middleware": both(watching, watching)} {
		t.Run(name, func(t *testing.T) {
			leak.Check(t)
			_, client, agent := start(t, opts)
			served := make(chan struct{})
			go func() { // ends with the last notification
				defer close(served)
				for i := range n {
					b, err := agent.Read()
					if !assert.NoError(t, err) || !assert.Contains(t, string(b), fmt.Sprintf(`"id":%d,`, i)) {
						return
					}
					agent.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"before","params":[%d]}`, i))
					agent.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{"sessionId":"s%d"}}`, i, i))
					agent.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"after","params":[%d]}`, i))
					b, err = agent.Read()
					if !assert.NoError(t, err) || !assert.Contains(t, string(b), `"next"`, "requests and notifications keep their order") {
						return
					}
				}
			}()
			for i := range n {
				client.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/new","params":{}}`, i))
				client.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"next","params":[%d]}`, i))
				require.Contains(t, client.receive(), `"before"`)
				require.Contains(t, client.receive(), `"result"`)
				require.Contains(t, client.receive(), `"after"`)
			}
			<-served // the last notification may not have arrived when the proxy is closed
		})
	}
}

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// testEnd is a client or an agent that the test plays.
type testEnd struct {
	t testing.TB
	stream.Stream
}

func (f *testEnd) send(line string) {
	f.t.Helper()
	require.NoError(f.t, f.Write([]byte(line)))
}

func (f *testEnd) receive() string {
	f.t.Helper()
	b, err := f.Read()
	require.NoError(f.t, err)
	return string(b)
}

// start starts a proxy between a client and an agent.
func start(t testing.TB, opts *proxy.Options) (p *proxy.Proxy, client, agent *testEnd) {
	t.Helper()
	return startOver(t, opts, unchanged, unchanged)
}

// wrap returns the stream that a proxy uses in place of s.
type wrap func(s stream.Stream) stream.Stream

func unchanged(s stream.Stream) stream.Stream { return s }

// hooked is a stream whose reads and writes a test changes.
type hooked struct {
	stream.Stream
	read  func() ([]byte, error)
	write func(msg []byte) error
}

func (s *hooked) Read() ([]byte, error) {
	if s.read != nil {
		return s.read()
	}
	return s.Stream.Read()
}

func (s *hooked) Write(msg []byte) error {
	if s.write != nil {
		return s.write(msg)
	}
	return s.Stream.Write(msg)
}

// A line that quotes a message is skipped and logged, and a message beside what does no harm is passed on.
func TestLinesBesideMessages(t *testing.T) {
	const one, two = `{"jsonrpc":"2.0","method":"_one"}`, `{"jsonrpc":"2.0","method":"_two"}`
	var logged bytes.Buffer
	in, out := io.Pipe()
	tolerant := func(stream.Stream) stream.Stream {
		return stream.Lines(in, io.Discard, &stream.LinesOptions{Tolerant: true})
	}
	_, client, _ := startOver(t, &proxy.Options{Logger: slog.New(slog.NewTextHandler(&logged, nil))}, unchanged, tolerant)
	go func() { // ends when the proxy has read it
		_, _ = io.WriteString(out, "ready\nDEBUG sent "+one+"\n\x1b]0;title\a"+one+two+"\n")
	}()
	assert.Equal(t, one, client.receive())
	assert.Equal(t, two, client.receive())
	assert.Equal(t, 1, strings.Count(logged.String(), `msg="proxy: skipped a line that looks like a message" line="DEBUG sent {`), &logged)
}

// startOver is like start. The proxy uses its streams to the client and to the agent as they are
// wrapped.
func startOver(t testing.TB, opts *proxy.Options, toClient, toAgent wrap) (p *proxy.Proxy, client, agent *testEnd) {
	t.Helper()
	a, left := stream.Pipe()
	right, b := stream.Pipe()
	p = proxy.New(toClient(left), toAgent(right), opts)
	ctx, cancel := context.WithCancel(context.Background())
	require.NoError(t, p.Start(ctx))
	t.Cleanup(func() {
		p.Close()
		p.Wait()
		cancel()
		a.Close()
		b.Close()
	})
	return p, &testEnd{t, a}, &testEnd{t, b}
}

// watching is a middleware that changes nothing.
func watching(next proxy.Handler) proxy.Handler { return next }

// both returns options with middleware in both directions, so that the proxy handles every message.
func both(m ...proxy.Middleware) *proxy.Options {
	return &proxy.Options{FromClient: m, FromAgent: m}
}
