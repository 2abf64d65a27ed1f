// Package strangers attacks a server of stream/remote without a token. A row of a table says what
// an attack may cost the server.
package strangers

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/pipenet"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// cost is what an attack may cost at its worst moment.
type cost struct {
	goroutines int
	mib        float64 // of memory that is in use
	lines      int     // of the log, a minute
}

// The attackers keep their ends open, and go on as long as the server lets them.
var attacks = map[string]struct {
	run func(a *attacker)
	may cost
	tls bool
}{
	// 128 network connections of strangers exist at a time. 16 of them may have been refused or use
	// HTTP/2, where each has 128 requests. net/http itself responds to bad headers, for 10 s.
	"silence":                   {each(300, ""), cost{140, 8, 0}, false},
	"half a line":               {each(300, "GET / HT"), cost{140, 8, 0}, false},
	"headers that never end":    {each(300, "GET / HTTP/1.1\r\nHost: localhost\r\n"), cost{140, 8, 0}, false},
	"headers that are long":     {each(300, "GET / HTTP/1.1\r\nHost: localhost\r\nX: ", filler(60<<10)...), cost{140, 30, 0}, false},
	"headers that are too long": {each(300, "GET / HTTP/1.1\r\nHost: localhost\r\nX: ", filler(100<<10)...), cost{140, 30, 0}, false},
	"bodies that never come":    {each(300, post), cost{140, 8, 20}, false},
	"bodies byte by byte":       {slowBodies, cost{140, 8, 20}, false},
	"no reading":                {unread(each(300, "", repeat("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 100)...)), cost{140, 8, 20}, false},
	"upgrades":                  {each(300, "", repeat(upgrade, 10)...), cost{140, 8, 20}, false},
	"preflights":                {each(300, "", repeat(preflight, 10)...), cost{140, 8, 20}, false},
	"panics":                    {each(10, "", repeat("GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: panic\r\n\r\n", 100)...), cost{20, 4, 20}, false},
	"TLS that fails":            {each(300, "no TLS"), cost{140, 8, 20}, true},
	"TLS that stops":            {each(300, "\x16\x03\x01\x02\x00"), cost{140, 8, 20}, true},

	"window of 0":                 {overHTTP2(24, noWindow, repeat(request(0), 1000)...), cost{60, 20, 20}, false},
	"window of 0, no reading":     {unread(overHTTP2(24, noWindow, repeat(request(0), 1000)...)), cost{2200, 50, 20}, false},
	"window of 0, bad headers":    {overHTTP2(24, noWindow, repeat(request(0, "connection", "x"), 1000)...), cost{2200, 50, 20}, false},
	"window of 0, long headers":   {overHTTP2(24, noWindow, longRequests(1000)...), cost{2200, 50, 20}, false},
	"bodies of HTTP/2 never come": {overHTTP2(24, window, repeat(request(unended), 1000)...), cost{60, 20, 20}, false},
	"rapid reset":                 {overHTTP2(24, window, resets(1000)...), cost{60, 20, 20}, false},
	"rapid reset, no reading":     {unread(overHTTP2(24, window, resets(1000)...)), cost{2200, 50, 20}, false},
	"headers of HTTP/2 never end": {overHTTP2(24, window, continuations(1000)...), cost{60, 20, 20}, false},
	"pings":                       {unread(overHTTP2(24, window, repeat(frame(ping, 0, 0, make([]byte, 8)), 12000)...)), cost{60, 30, 20}, false},
	"settings":                    {unread(overHTTP2(24, window, repeat(frame(settings, 0, 0, nil), 12000)...)), cost{60, 30, 20}, false},
}

const (
	post      = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
	upgrade   = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
	preflight = "OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\n\r\n"
)

// A peer without a token costs the server no more than the table says, and nothing when it had its
// time. It keeps no client out that has one.
func TestAttacks(t *testing.T) {
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				listener, log := pipenet.Listen(), new(countedLines)
				a := &attacker{listener: listener}
				defer a.leave()
				handler := remote.NewHandler(echo, &remote.Options{Authorize: authorize, Logger: slog.New(slog.NewTextHandler(log, nil))})
				server := remote.NewServer("", handler)
				serve, scheme := server.Serve, "http"
				if attack.tls {
					server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate(t)}}
					serve, scheme = func(l net.Listener) error { return server.ServeTLS(l, "", "") }, "https"
				}
				go func() { _ = serve(listener) }() // ends with Close
				defer server.Close()
				ask(t, listener, scheme) // what a server keeps after its first request is no part of the cost

				before, began := measure(a), time.Now()
				log.n.Store(0)
				attack.run(a)
				synctest.Wait()
				cost := measure(a)
				cost.goroutines -= before.goroutines
				cost.mib -= before.mib
				cost.lines = int(log.n.Load()) / (1 + int(time.Since(began)/time.Minute))
				t.Logf("%d goroutines, %.1f MiB, %d lines", cost.goroutines, cost.mib, cost.lines)
				assert.LessOrEqual(t, cost.goroutines, attack.may.goroutines, "goroutines")
				assert.LessOrEqual(t, cost.mib, attack.may.mib, "MiB")
				assert.LessOrEqual(t, cost.lines, attack.may.lines, "lines of the log")

				began = time.Now()
				ask(t, listener, scheme)
				assert.LessOrEqual(t, time.Since(began), 5*time.Second, "a client with a token is served")
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				assert.LessOrEqual(t, measure(a).goroutines-before.goroutines, 2, "goroutines afterwards")
			})
		})
	}
}

func measure(a *attacker) cost {
	runtime.GC()
	runtime.GC() // also what pools kept
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return cost{runtime.NumGoroutine() - int(a.readers.Load()), float64(m.HeapInuse+m.StackInuse) / (1 << 20), 0}
}

func authorize(r *http.Request) (*remote.Principal, error) {
	if r.Header.Get("Authorization") == "panic" {
		panic("a defect of Authorize")
	}
	return remote.BearerToken("secret")(r)
}

// echo serves an agent that answers every request with an empty result.
func echo(_ context.Context, s stream.Stream) error {
	for {
		msg, err := s.Read()
		if err != nil {
			return err
		}
		if m := stream.ParseMessage(msg); m.Kind == stream.KindRequest {
			if err := s.Write([]byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{}}`)); err != nil {
				return err
			}
		}
	}
}

// ask connects a client with the token.
func ask(t *testing.T, listener *pipenet.Listener, scheme string) {
	transport := &http.Transport{DialContext: listener.DialContext, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	s, err := remote.Dial(t.Context(), scheme+"://localhost/", &remote.DialOptions{
		Client: &http.Client{Transport: transport},
		Header: func(context.Context) (http.Header, error) {
			return http.Header{"Authorization": {"Bearer secret"}}, nil
		},
	})
	require.NoError(t, err)
	require.NoError(t, s.Write([]byte(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)))
	_, err = s.Read()
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

// certificate returns a new certificate for localhost.
func certificate(t *testing.T) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotBefore: time.Now(), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// countedLines counts the lines of a log.
type countedLines struct{ n atomic.Int64 }

func (c *countedLines) Write(p []byte) (int, error) {
	c.n.Add(int64(bytes.Count(p, []byte("\n"))))
	return len(p), nil
}

// attacker holds the near ends of network connections.
type attacker struct {
	listener *pipenet.Listener
	deaf     bool // it reads nothing
	conns    []net.Conn
	readers  atomic.Int64 // goroutines that read
	reading  sync.WaitGroup
}

// dial connects. It fails if the server accepts nothing for a minute.
func (a *attacker) dial() net.Conn {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := a.listener.DialContext(ctx, "", "")
	if err != nil {
		return nil
	}
	a.conns = append(a.conns, c)
	if !a.deaf {
		a.readers.Add(1)
		a.reading.Go(func() { // ends with the connection
			defer a.readers.Add(-1)
			_, _ = io.Copy(io.Discard, c)
		})
	}
	return c
}

// send writes all that the server takes within a second each.
func (a *attacker) send(c net.Conn, parts ...string) {
	for _, p := range parts {
		_ = c.SetWriteDeadline(time.Now().Add(time.Second))
		if _, err := io.WriteString(c, p); err != nil {
			return
		}
	}
}

func (a *attacker) leave() {
	for _, c := range a.conns {
		c.Close()
	}
	a.reading.Wait()
}

// each connects n times, and sends the same each time.
func each(n int, head string, rest ...string) func(*attacker) {
	return func(a *attacker) {
		for range n {
			c := a.dial()
			if c == nil {
				return
			}
			if head != "" {
				a.send(c, head)
			}
			a.send(c, rest...)
		}
	}
}

// unread makes an attacker read nothing.
func unread(run func(*attacker)) func(*attacker) {
	return func(a *attacker) {
		a.deaf = true
		run(a)
	}
}

// slowBodies sends a byte to each connection in turn, 100 times.
func slowBodies(a *attacker) {
	each(100, post)(a)
	for range 100 {
		for _, c := range a.conns {
			a.send(c, "x")
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func repeat(s string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = s
	}
	return all
}

// filler returns n bytes in parts.
func filler(n int) []string { return repeat(string(bytes.Repeat([]byte("x"), 4096)), n/4096) }
