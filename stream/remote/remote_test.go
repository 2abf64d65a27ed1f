package remote_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
	"github.com/acpkit/go-sdk/stream/websocket"
)

const (
	initialize  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`
	initialized = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`
)

var quiet = slog.New(slog.DiscardHandler)

// serving returns a serve function for agents that repeat each prompt. ctxs receives the ctx of each.
func serving(ctxs chan context.Context) func(context.Context, stream.Stream) error {
	return peertest.Serving(peertest.Turns(func(ctx context.Context, s *agent.Session, p *acp.PromptRequest) error {
		if ctxs != nil {
			ctxs <- ctx
		}
		if acp.PlainText(p.Prompt...) == "wait" {
			<-ctx.Done()
			return ctx.Err()
		}
		return peertest.Echo(ctx, s, p)
	}), nil)
}

var newAgent = peertest.Turns(peertest.Echo)

func newClient(*client.Conn) acp.Client { return &peertest.Client{} }

// dial returns a stream to a URL that is initialized.
func dial(t *testing.T, url string, opts *remote.DialOptions) stream.Stream {
	t.Helper()
	s, err := remote.Dial(t.Context(), url, opts)
	require.NoError(t, err)
	require.NoError(t, s.Write([]byte(initialize)))
	_, err = s.Read()
	require.NoError(t, err)
	return s
}

// connectTo connects a client to a URL.
func connectTo(t *testing.T, url string, opts *remote.DialOptions, c acp.Client) *client.Conn {
	t.Helper()
	s, err := remote.Dial(t.Context(), url, opts)
	require.NoError(t, err)
	conn := client.New(s, func(*client.Conn) acp.Client { return c }, &client.Options{Logger: quiet})
	require.NoError(t, conn.Start(context.WithoutCancel(t.Context())))
	t.Cleanup(func() { conn.Close(); conn.Wait() })
	_, err = conn.Initialize(t.Context(), &acp.InitializeRequest{})
	require.NoError(t, err)
	return conn
}

// openSession connects to a URL and opens a session.
func openSession(t *testing.T, url string, opts *remote.DialOptions) (*client.Conn, *client.Session) {
	t.Helper()
	conn := connectTo(t, url, opts, &peertest.Client{})
	session, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
	require.NoError(t, err)
	return conn, session
}

// start serves echo agents.
func start(t *testing.T, opts *remote.Options, ctxs chan context.Context) (*remote.Handler, *httptest.Server) {
	t.Helper()
	return startServing(t, serving(ctxs), opts, nil)
}

// startServing serves until the test ends, through a middleware unless that is nil.
func startServing(t *testing.T, serve func(context.Context, stream.Stream) error, opts *remote.Options, through func(http.Handler) http.Handler) (*remote.Handler, *httptest.Server) {
	t.Helper()
	var o remote.Options
	if opts != nil {
		o = *opts
	}
	if o.Logger == nil {
		o.Logger = quiet
	}
	h := remote.NewHandler(serve, &o)
	var handler http.Handler = h
	if through != nil {
		handler = through(h)
	}
	s := httptest.NewServer(handler)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		assert.NoError(t, h.Shutdown(ctx))
		s.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return h, s
}

// urls are the URLs of a server, one for each transport.
var urls = map[string]func(*httptest.Server) string{
	"HTTP": func(s *httptest.Server) string { return s.URL }, "WebSocket": wsURL,
}

func wsURL(s *httptest.Server) string { return "ws" + strings.TrimPrefix(s.URL, "http") }

// overBoth runs a test with the URL of a server for each transport.
func overBoth(t *testing.T, s *httptest.Server, test func(t *testing.T, url string)) {
	for name, urlOf := range urls {
		t.Run(name, func(t *testing.T) { test(t, urlOf(s)) })
	}
}

func bearer(token string) *remote.DialOptions {
	return &remote.DialOptions{Header: func(context.Context) (http.Header, error) {
		return http.Header{"Authorization": {"Bearer " + token}}, nil
	}}
}

func TestPrincipalReachesHandlers(t *testing.T) {
	ctxs := make(chan context.Context, 1)
	_, s := start(t, &remote.Options{Authorize: remote.BearerToken("secret")}, ctxs)
	overBoth(t, s, func(t *testing.T, url string) {
		_, session := openSession(t, url, bearer("secret"))
		_, err := session.Prompt(t.Context(), acp.Text("x")).Wait()
		require.NoError(t, err)
		p, ok := remote.PrincipalFrom(<-ctxs)
		require.True(t, ok)
		assert.Equal(t, "bearer", p.ID)
	})
}

// requests returns one request of each kind, made without package remote.
func requests(url string) map[string]*http.Request {
	get := httptest.NewRequest("GET", url, nil)
	get.Header.Set("Accept", "text/event-stream")
	get.Header.Set("Acp-Connection-Id", "x")
	upgrade := httptest.NewRequest("GET", url, nil)
	for k, v := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="} {
		upgrade.Header.Set(k, v)
	}
	post := httptest.NewRequest("POST", url, strings.NewReader(initialize))
	post.Header.Set("Content-Type", "application/json")
	del := httptest.NewRequest("DELETE", url, nil)
	del.Header.Set("Acp-Connection-Id", "x")
	all := map[string]*http.Request{"GET": get, "upgrade": upgrade, "POST": post, "DELETE": del}
	for _, r := range all {
		r.RequestURI = ""
	}
	return all
}

func status(t *testing.T, r *http.Request) int {
	t.Helper()
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	resp.Body.Close()
	return resp.StatusCode
}

func TestAuthorizeRunsFirst(t *testing.T) {
	for name, tt := range map[string]struct {
		authorize func(*http.Request) (*remote.Principal, error)
		header    string
		want      int
	}{
		"no token":     {remote.BearerToken("secret"), "", 401},
		"wrong token":  {remote.BearerToken("secret"), "Bearer secreT", 401},
		"longer token": {remote.BearerToken("secret"), "Bearer secretsecret", 401},
		"other scheme": {remote.BearerToken("secret"), "Basic secret", 401},
		"empty key":    {remote.BearerToken(""), "Bearer ", 401},
		"no principal": {func(*http.Request) (*remote.Principal, error) { return nil, nil }, "", 401},
		"empty ID":     {func(*http.Request) (*remote.Principal, error) { return &remote.Principal{}, nil }, "", 401},
		"own status":   {func(*http.Request) (*remote.Principal, error) { return nil, &stream.StatusError{Code: 403} }, "", 403},
		"revoked": {func(*http.Request) (*remote.Principal, error) {
			return &remote.Principal{ID: "x", Revoked: closed()}, nil
		}, "", 401},
	} {
		t.Run(name, func(t *testing.T) {
			_, s := start(t, &remote.Options{Authorize: tt.authorize}, nil)
			for kind, r := range requests(s.URL) {
				if tt.header != "" {
					r.Header.Set("Authorization", tt.header)
				}
				r.Header.Set("Origin", "https://evil.example") // Origin is checked later
				r.Host = "evil.example"
				assert.Equal(t, tt.want, status(t, r), kind)
			}
		})
	}
}

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func TestHosts(t *testing.T) {
	_, s := start(t, &remote.Options{AllowedHosts: []string{"good.example", "port.example:8080"}}, nil)
	for host, allowed := range map[string]bool{
		"localhost": true, "localhost:80": true, "127.0.0.1:1": true, "[::1]:80": true, "127.1.2.3": true, "LOCALHOST": true,
		"good.example": true, "good.example:99": true, "GOOD.example": true, "port.example:8080": true,
		"port.example:8081": false, "port.example": false, "evil.example": false, "localhost.evil.example": false, "127.0.0.1.evil.example": false, "10.0.0.1": false,
	} {
		for kind, r := range requests(s.URL) {
			r.Host = host
			assert.Equal(t, !allowed, status(t, r) == 403, "%s %s", kind, host)
		}
	}
}

func TestOrigins(t *testing.T) {
	_, s := start(t, &remote.Options{AllowedOrigins: []string{"https://good.example"}}, nil)
	for origin, allowed := range map[string]bool{
		s.URL: true, "https://good.example": true, "https://evil.example": false, "null": false, "http://127.0.0.1": false,
	} {
		for kind, r := range requests(s.URL) {
			r.Header.Set("Origin", origin)
			assert.Equal(t, !allowed, status(t, r) == 403, "%s %s", kind, origin)
		}
		r := httptest.NewRequest("OPTIONS", s.URL, nil)
		r.RequestURI = ""
		r.Header.Set("Origin", origin)
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		resp.Body.Close()
		if allowed {
			assert.Equal(t, 204, resp.StatusCode)
			assert.Equal(t, origin, resp.Header.Get("Access-Control-Allow-Origin"))
		} else {
			assert.Equal(t, 403, resp.StatusCode)
			assert.Empty(t, resp.Header.Get("Access-Control-Allow-Origin"))
		}
	}
}

// Without Authorize, a request that arrives at an address other than loopback is refused, whatever
// its headers say.
func TestOnlyLoopbackWithoutAuthorize(t *testing.T) {
	h := remote.NewHandler(serving(nil), &remote.Options{Logger: quiet, AllowedHosts: []string{"example.com"}})
	for address, want := range map[string]int{"127.0.0.1": 200, "::1": 200, "10.1.2.3": 403, "192.168.0.1": 403} {
		r := httptest.NewRequest("POST", "http://example.com/acp", strings.NewReader(initialize))
		r.Header.Set("Content-Type", "application/json")
		r.RemoteAddr = "127.0.0.1:4711"
		r.Header.Set("X-Forwarded-For", "127.0.0.1")
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.ParseIP(address)}))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		assert.Equal(t, want, w.Code, address)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_ = h.Shutdown(ctx)
}

// Other principals cannot use a connection.
func TestConnectionsOfOthers(t *testing.T) {
	_, s := start(t, &remote.Options{Authorize: func(r *http.Request) (*remote.Principal, error) {
		return &remote.Principal{ID: r.Header.Get("Authorization")}, nil
	}}, nil)
	r := requests(s.URL)["POST"]
	r.Header.Set("Authorization", "alice")
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	resp.Body.Close()
	id := resp.Header.Get("Acp-Connection-Id")
	require.GreaterOrEqual(t, len(id), 22, "128 random bits")
	for _, who := range []string{"mallory", "alice"} {
		all := requests(s.URL)
		delete(all, "upgrade")
		all["POST"] = httptest.NewRequest("POST", s.URL, strings.NewReader(`{"jsonrpc":"2.0","method":"x"}`))
		all["POST"].RequestURI = ""
		all["POST"].Header.Set("Content-Type", "application/json")
		for _, kind := range []string{"POST", "GET", "DELETE"} {
			r := all[kind]
			r.Header.Set("Authorization", who)
			r.Header.Set("Acp-Connection-Id", id)
			assert.Equal(t, who == "mallory", status(t, r) == 404, "%s %s", who, kind)
		}
	}
}

func TestRevoked(t *testing.T) {
	for name, urlOf := range urls {
		t.Run(name, func(t *testing.T) {
			revoked := make(chan struct{})
			_, s := start(t, &remote.Options{Authorize: func(r *http.Request) (*remote.Principal, error) {
				return &remote.Principal{ID: "x", Revoked: revoked}, nil
			}}, nil)
			conn, session := openSession(t, urlOf(s), nil)
			turn := session.Prompt(t.Context(), acp.Text("wait"))
			close(revoked)
			_, err := turn.Wait()
			if name == "WebSocket" {
				require.ErrorIs(t, err, acp.ErrClosed)
				var closed *websocket.CloseError
				require.ErrorAs(t, err, &closed)
				assert.Equal(t, 1008, closed.Code)
			} else { // the agent's own error or the end of an event stream, whichever comes first
				require.Error(t, err)
			}
			<-conn.Done()
			for kind, r := range requests(s.URL) {
				assert.Equal(t, 401, status(t, r), kind)
			}
		})
	}
}

func TestConnectionLimits(t *testing.T) {
	_, s := start(t, &remote.Options{MaxConnections: 3, MaxPrincipalConnections: 2, Authorize: func(r *http.Request) (*remote.Principal, error) {
		return &remote.Principal{ID: r.Header.Get("Authorization")}, nil
	}}, nil)
	who := func(name string) *remote.DialOptions {
		return &remote.DialOptions{Header: func(context.Context) (http.Header, error) { return http.Header{"Authorization": {name}}, nil }}
	}
	openSession(t, s.URL, who("alice"))
	second, _ := openSession(t, wsURL(s), who("alice"))
	_, err := remote.Dial(t.Context(), wsURL(s), who("alice"))
	assert.Equal(t, 429, code(err))
	openSession(t, wsURL(s), who("bob"))
	_, err = remote.Dial(t.Context(), wsURL(s), who("carol"))
	assert.Equal(t, 503, code(err))
	r := requests(s.URL)["POST"]
	r.Header.Set("Authorization", "carol")
	assert.Equal(t, 503, status(t, r))
	second.Close()
	second.Wait()
	assert.Eventually(t, func() bool {
		c, err := remote.Dial(t.Context(), wsURL(s), who("carol"))
		if err == nil {
			c.Close()
		}
		return err == nil
	}, 5*time.Second, 10*time.Millisecond)
}

// Without Authorize there are no principals, so their limit does not apply: the clients of one user
// would exclude each other.
func TestNoPrincipalLimitWithoutAuthorize(t *testing.T) {
	_, s := start(t, &remote.Options{MaxConnections: 4, MaxPrincipalConnections: 2}, nil)
	for range 2 {
		openSession(t, s.URL, nil)
		openSession(t, wsURL(s), nil)
	}
	_, err := remote.Dial(t.Context(), wsURL(s), nil)
	assert.Equal(t, 503, code(err))
}

func code(err error) int {
	if status, ok := errors.AsType[*stream.StatusError](err); ok {
		return status.Code
	}
	return 0
}

// A turn that does not end is cancelled when the ctx of Shutdown is done.
func TestShutdownWaitsUntilItsCtxIsDone(t *testing.T) {
	for name, urlOf := range urls {
		t.Run(name, func(t *testing.T) {
			ctxs := make(chan context.Context, 1)
			h, s := start(t, nil, ctxs)
			_, session := openSession(t, urlOf(s), nil)
			turn := session.Prompt(t.Context(), acp.Text("wait"))
			running := <-ctxs
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			began := time.Now()
			assert.ErrorIs(t, h.Shutdown(ctx), context.DeadlineExceeded)
			assert.GreaterOrEqual(t, time.Since(began), 300*time.Millisecond)
			<-running.Done()
			_, err := turn.Wait()
			assert.Error(t, err)
		})
	}
}

func TestEqualSecrets(t *testing.T) {
	assert.True(t, remote.EqualSecrets("a", "a"))
	assert.False(t, remote.EqualSecrets("a", "b"))
	assert.False(t, remote.EqualSecrets("", ""))
	assert.False(t, remote.EqualSecrets("a", ""))
}

func TestDialRefuses(t *testing.T) {
	for url, want := range map[string]string{
		"ftp://host/": "scheme", "http://user:pw@host/": "DialOptions.Header", "wss://user:pw@host/": "DialOptions.Header", "http://a b:secret@/": "parsed",
	} {
		_, err := remote.Dial(t.Context(), url, nil)
		assert.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "pw")
		assert.NotContains(t, err.Error(), "secret")
	}
}

// The log of a refused request contains no secrets.
func TestLogsHoldNoSecrets(t *testing.T) {
	var log bytes.Buffer
	h := remote.NewHandler(serving(nil), &remote.Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), Authorize: remote.BearerToken("secret")})
	r := httptest.NewRequest("POST", "http://localhost/acp?token=hidden", nil)
	r.Header.Set("Authorization", "Bearer guessed")
	h.ServeHTTP(httptest.NewRecorder(), r)
	assert.Contains(t, log.String(), "refused")
	for _, secret := range []string{"secret", "guessed", "hidden"} {
		assert.NotContains(t, log.String(), secret)
	}
}

// A server of NewServer enforces its limits.
func TestNewServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := remote.NewServer("", remote.NewHandler(serving(nil), &remote.Options{Logger: quiet}))
	s.ReadHeaderTimeout = 200 * time.Millisecond // short, for the test
	go s.Serve(listener)                         // ends with the test
	defer s.Close()
	for name, tt := range map[string]struct {
		request string
		want    string
	}{
		"giant header": {"POST / HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n", "431"},
		"half open":    {"POST / HTTP/1.1\r\nHost: loc", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := net.Dial("tcp", listener.Addr().String())
			require.NoError(t, err)
			defer c.Close()
			_, _ = io.WriteString(c, tt.request)
			require.NoError(t, c.SetReadDeadline(time.Now().Add(10*time.Second)))
			answer, err := io.ReadAll(c)
			assert.False(t, err != nil && errors.Is(err, context.DeadlineExceeded), "%v", err)
			assert.Contains(t, string(answer), tt.want)
		})
	}
}

func TestServe(t *testing.T) {
	leak.Check(t)
	h := remote.NewHandler(serving(nil), &remote.Options{Logger: quiet})
	open, err := net.Listen("tcp", "0.0.0.0:0")
	require.NoError(t, err)
	assert.ErrorContains(t, h.Serve(t.Context(), open), "Options.Authorize")

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- h.Serve(ctx, listener) }() // ends with ctx
	url := "http://" + listener.Addr().String() + "/acp"
	conn, session := openSession(t, url, nil)
	_, err = session.Prompt(t.Context(), acp.Text("x")).Wait()
	require.NoError(t, err)
	cancel()
	assert.NoError(t, <-served)
	<-conn.Done()
	conn.Close()
	conn.Wait()
}
