package remote_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/pipenet"
	"github.com/acpkit/go-sdk/stream/remote"
)

// The server's own origin has its scheme, host and port, as far as it knows them.
func TestOwnOrigins(t *testing.T) {
	for _, tt := range []struct {
		origin, host string
		tls          bool
		allowed      bool
	}{
		{"http://localhost", "localhost", false, true},
		{"http://localhost:80", "localhost", false, true},
		{"http://LOCALHOST:8080", "localhost:8080", false, true},
		{"http://localhost", "localhost:80", false, true},
		{"https://localhost", "localhost:443", false, true},
		{"https://localhost", "localhost", false, true}, // a proxy may have ended TLS
		{"http://[::1]:8080", "[::1]:8080", false, true},
		{"http://localhost:8081", "localhost:8080", false, false},
		{"http://localhost", "localhost:8080", false, false},
		{"https://localhost", "localhost:80", false, false},
		{"https://localhost:8080", "localhost:8080", true, true},
		{"http://localhost:8080", "localhost:8080", true, false},
		{"http://localhost", "localhost", true, false},
		{"https://proxied.example", "proxied.example", false, true},
		{"https://proxied.example:443", "proxied.example", false, true},
		{"http://proxied.example", "proxied.example", false, false},
		{"http://proxied.example:443", "proxied.example:443", false, false},
		{"https://port.example:8443", "port.example:8443", false, true},
		{"http://port.example:8443", "port.example:8443", false, false},
		{"http://user@localhost", "localhost", false, false},
		{"http://user:secret@localhost", "localhost", false, false},
		{"http://localhost/", "localhost", false, false},
		{"http://localhost/path", "localhost", false, false},
		{"http://localhost?", "localhost", false, false},
		{"http://localhost#", "localhost", false, false},
		{"http://localhost#x", "localhost", false, false},
		{"http://localhost http://evil.example", "localhost", false, false},
		{"ftp://localhost", "localhost", false, false},
		{"ws://localhost", "localhost", false, false},
		{"file://localhost", "localhost", false, false},
		{"//localhost", "localhost", false, false},
		{"localhost", "localhost", false, false},
		{"http:localhost", "localhost", false, false},
		{"http://", "localhost", false, false},
		{"", "localhost", false, false},
		{"app://editor", "localhost", false, true}, // it is listed
	} {
		h := remote.NewHandler(serving(nil), &remote.Options{
			Authorize: remote.BearerToken("secret"), Logger: quiet, AllowedOrigins: []string{"app://editor"},
			AllowedHosts: []string{"https://proxied.example", "https://port.example:8443"},
		})
		for kind, r := range requests("http://" + tt.host) {
			if kind == "POST" || kind == "upgrade" {
				continue // it would be served
			}
			r.Header.Set("Authorization", "Bearer secret")
			r.Header.Set("Origin", tt.origin)
			if tt.tls {
				r.TLS = &tls.ConnectionState{}
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			assert.Equal(t, tt.allowed, w.Code != http.StatusForbidden, "%+v: %s gets %d", tt, kind, w.Code)
		}
	}
}

// A host that is listed with its scheme is served at its port alone.
func TestHostsWithScheme(t *testing.T) {
	_, s := start(t, &remote.Options{AllowedHosts: []string{"https://good.example", "https://port.example:8443"}}, nil)
	for host, allowed := range map[string]bool{
		"good.example": true, "GOOD.example:443": true, "good.example:80": false, "port.example:8443": true, "port.example": false,
		"https://good.example": false, "evil.example": false,
	} {
		for kind, r := range requests(s.URL) {
			r.Host = host
			got := status(t, r)
			assert.Equal(t, !allowed, got == 403 || got == 400, "%s %s", kind, host)
		}
	}
}

// A refusal of a peer that nobody knows has no body.
func TestRefusalsHaveNoBody(t *testing.T) {
	h := remote.NewHandler(serving(nil), &remote.Options{Authorize: remote.BearerToken("secret"), Logger: quiet})
	all := func() map[string]*http.Request {
		all := requests("http://localhost")
		all["preflight"] = httptest.NewRequest("OPTIONS", "http://localhost", nil)
		return all
	}
	for name, change := range map[string]func(*http.Request){
		"no token":       func(r *http.Request) { r.Header.Del("Authorization") },
		"another host":   func(r *http.Request) { r.Host = "evil.example" },
		"another origin": func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
	} {
		for kind, r := range all() {
			if kind == "preflight" {
				r.Header.Set("Origin", "https://evil.example")
			}
			r.Header.Set("Authorization", "Bearer secret")
			change(r)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			assert.Contains(t, []int{401, 403}, w.Code, "%s: %s", name, kind)
			assert.Empty(t, w.Body.String(), "%s: %s", name, kind)
		}
	}
}

// A panic of Authorize refuses the request. It is counted and logged, and its value is not sent.
func TestAuthorizePanics(t *testing.T) {
	logger, records := recording()
	h := remote.NewHandler(serving(nil), &remote.Options{Logger: logger, Authorize: func(*http.Request) (*remote.Principal, error) {
		panic(fmt.Errorf("no connection to the database"))
	}})
	s := httptest.NewServer(remote.NewServer("", h).Handler)
	defer s.Close()
	n := int64(0)
	for kind, r := range requests(s.URL) {
		resp, err := http.DefaultClient.Do(r)
		require.NoError(t, err, kind)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, 500, resp.StatusCode, kind)
		assert.Empty(t, body)
		n++
		assert.Equal(t, n, h.Stats().Refused)
		record := <-records
		assert.Contains(t, record, "panic in Authorize")
		assert.Contains(t, record, "no connection to the database")
		assert.Contains(t, record, "strangers_test.go")
		assert.Contains(t, <-records, "Authorize panicked")
	}
}

// A client with more event streams than a network connection of HTTP/2 may have uses another one.
func TestManySessionsOverHTTP2(t *testing.T) {
	listener := pipenet.Listen()
	h := remote.NewHandler(serving(nil), &remote.Options{Logger: quiet, Authorize: remote.BearerToken("secret")})
	server := remote.NewServer("", h)
	go func() { _ = server.Serve(listener) }() // ends with Close
	defer server.Close()
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols, DialContext: listener.DialContext}
	defer transport.CloseIdleConnections()
	conn := connectTo(t, "http://localhost", &remote.DialOptions{Client: &http.Client{Transport: transport}, Header: bearer("secret").Header}, &peertest.Client{})
	for i := range 300 {
		session, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
		require.NoError(t, err, i)
		text, err := session.Prompt(t.Context(), acp.Text("hello")).Text()
		require.NoError(t, err, i)
		require.Equal(t, "hello", text)
	}
	assert.EqualValues(t, 300, h.Stats().Sessions)
}

// The limit for responses that net/http writes by itself is none for those of handlers.
func TestNewServerLimitsNoHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mux := http.NewServeMux()
		mux.HandleFunc("/slow", func(w http.ResponseWriter, _ *http.Request) {
			for range 3 {
				time.Sleep(time.Minute)
				_, _ = io.WriteString(w, "x")
				_ = http.NewResponseController(w).Flush()
			}
		})
		server := remote.NewServer("", mux)
		listener := pipenet.Listen()
		go func() { _ = server.Serve(listener) }() // ends with Close
		defer server.Close()
		transport := &http.Transport{DialContext: listener.DialContext}
		defer transport.CloseIdleConnections()
		resp, err := (&http.Client{Transport: transport}).Get("http://localhost/slow")
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, "xxx", string(body))
	})
}

// A client asks for no compression, which docs/remote.md rules out.
func TestClientsAskForNoCompression(t *testing.T) {
	got := make(chan []string, 100)
	_, s := startServing(t, serving(nil), nil, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got <- r.Header.Values("Accept-Encoding")
			next.ServeHTTP(w, r)
		})
	})
	overBoth(t, s, func(t *testing.T, url string) {
		for name, opts := range map[string]*remote.DialOptions{
			"a client of its own": nil,
			"another client":      {Client: &http.Client{Transport: &http.Transport{}}},
			"another wish": {Header: func(context.Context) (http.Header, error) {
				return http.Header{"Accept-Encoding": {"gzip"}}, nil
			}},
		} {
			conn, session := openSession(t, url, opts)
			_, err := session.Prompt(t.Context(), acp.Text("x")).Wait()
			require.NoError(t, err)
			conn.Close()
			conn.Wait()
			for len(got) > 0 {
				encodings := strings.Join(<-got, ",")
				if strings.HasPrefix(url, "http") && name != "another client" {
					assert.Empty(t, encodings, name)
				} else {
					assert.Contains(t, []string{"", "identity"}, encodings, name)
				}
			}
		}
	})
}
