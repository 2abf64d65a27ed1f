package remote_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/pipenet"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// A token in a URL is ignored, because URLs are often logged.
func TestTokensInURLsAreIgnored(t *testing.T) {
	_, s := start(t, &remote.Options{Authorize: remote.BearerToken("secret")}, nil)
	for kind, r := range requests(s.URL + "/?token=secret&access_token=secret&authorization=Bearer+secret") {
		assert.Equal(t, 401, status(t, r), kind)
	}
}

// The default limit of a body is 32 MiB.
func TestBodyLimit(t *testing.T) {
	_, s := start(t, nil, nil)
	for size, want := range map[int]int{stream.DefaultMaxMessage: 404, stream.DefaultMaxMessage + 1: 413} {
		msg := `{"jsonrpc":"2.0","method":"x","params":{"x":""}}`
		msg = strings.Replace(msg, `""`, `"`+strings.Repeat("x", size-len(msg))+`"`, 1)
		r, err := http.NewRequest("POST", s.URL, strings.NewReader(msg))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Acp-Connection-Id", "unknown")
		assert.Equal(t, want, status(t, r), "%d bytes", size)
	}
}

// The server refuses compression, because its result would let a page guess secrets.
func TestNoCompression(t *testing.T) {
	_, s := start(t, nil, nil)
	r := requests(s.URL)["upgrade"]
	r.Header.Set("Sec-WebSocket-Extensions", "permessage-deflate; client_max_window_bits")
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	assert.Equal(t, 101, resp.StatusCode)
	assert.Empty(t, resp.Header.Values("Sec-Websocket-Extensions"))
	r = requests(s.URL)["POST"]
	r.Header.Set("Accept-Encoding", "gzip")
	resp, err = http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	assert.Empty(t, resp.Header.Get("Content-Encoding"))
}

// NewServer speaks HTTP/2 without TLS, which proxies use.
func TestNewServerSpeaksHTTP2(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := remote.NewServer("", remote.NewHandler(serving(nil), &remote.Options{Logger: quiet}))
	go s.Serve(listener) // ends with the test
	defer s.Close()
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols}
	defer transport.CloseIdleConnections()
	_, session := openSession(t, "http://"+listener.Addr().String(), &remote.DialOptions{Client: &http.Client{Transport: transport}})
	text, err := session.Prompt(t.Context(), acp.Text("hello")).Text()
	require.NoError(t, err)
	assert.Equal(t, "hello", text)
	resp, err := (&http.Client{Transport: transport}).Do(requests("http://" + listener.Addr().String())["DELETE"])
	require.NoError(t, err)
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	assert.Equal(t, 2, resp.ProtoMajor)
}

// A client that announces a body and does not send it gets a response after a limited time.
// Otherwise it would hold its network connection forever.
func TestBodyThatIsNotSent(t *testing.T) {
	const kind = "Content-Type: application/json\r\nAccept: text/event-stream\r\n"
	for name, tt := range map[string]struct {
		head string
		code int
		took time.Duration
	}{
		"without token":  {"POST / HTTP/1.1\r\nHost: localhost\r\n" + kind, 401, 10 * time.Second},
		"another host":   {"POST / HTTP/1.1\r\nHost: example.com\r\nAuthorization: Bearer secret\r\n" + kind, 403, 10 * time.Second},
		"another origin": {"POST / HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\nAuthorization: Bearer secret\r\n" + kind, 403, 10 * time.Second},
		"preflight":      {"OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n", 403, 10 * time.Second},
		"GET":            {"GET / HTTP/1.1\r\nHost: localhost\r\nAcp-Connection-Id: x\r\nAuthorization: Bearer secret\r\n" + kind, 404, 10 * time.Second},
		"DELETE":         {"DELETE / HTTP/1.1\r\nHost: localhost\r\nAcp-Connection-Id: x\r\nAuthorization: Bearer secret\r\n" + kind, 404, 10 * time.Second},
		"PUT":            {"PUT / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n" + kind, 405, 10 * time.Second},
		"POST":           {"POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n" + kind, 400, time.Minute},
	} {
		for length, header := range map[string]string{"length known": "Content-Length: 100\r\n\r\n", "length unknown": "Transfer-Encoding: chunked\r\n\r\n"} {
			t.Run(name+", "+length, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					listener := pipenet.Listen()
					s := remote.NewServer("", remote.NewHandler(serving(nil), &remote.Options{Logger: quiet, Authorize: remote.BearerToken("secret")}))
					go s.Serve(listener) // ends with Close
					defer s.Close()
					c, err := listener.DialContext(t.Context(), "", "")
					require.NoError(t, err)
					defer c.Close()
					_, err = io.WriteString(c, tt.head+header)
					require.NoError(t, err)
					began := time.Now()
					resp, err := http.ReadResponse(bufio.NewReader(c), nil)
					require.NoError(t, err)
					assert.Equal(t, tt.code, resp.StatusCode)
					assert.Equal(t, tt.took, time.Since(began))
				})
			})
		}
	}
}

// A panic while an agent is made ends its connection, not the server.
func TestServePanics(t *testing.T) {
	serve := func(ctx context.Context, s stream.Stream) error {
		return agent.Serve(ctx, s, func(*agent.Conn) acp.Agent { panic(struct{ content string }{"secret"}) }, nil)
	}
	for _, scheme := range []string{"ws", "http"} {
		t.Run(scheme, func(t *testing.T) {
			logger, records := recording()
			server := httptest.NewServer(remote.NewHandler(serve, &remote.Options{Logger: logger}))
			defer server.Close()
			for range 2 {
				s, err := remote.Dial(t.Context(), scheme+server.URL[len("http"):], &remote.DialOptions{Client: &http.Client{Transport: &http.Transport{}}})
				require.NoError(t, err)
				_ = s.Write([]byte(initialize)) // the connection may have ended
				_, err = s.Read()
				assert.Error(t, err)
				require.NoError(t, s.Close())
				record := <-records
				assert.Contains(t, record, "remote: panic in serve")
				assert.Contains(t, record, "a value of type struct")
				assert.NotContains(t, record, "secret")
				assert.Contains(t, <-records, "remote: a connection failed")
			}
		})
	}
}

// recording returns a logger and the channel that gets its output.
func recording() (*slog.Logger, <-chan string) {
	records := make(lines, 10)
	return slog.New(slog.NewTextHandler(records, nil)), records
}

type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}
