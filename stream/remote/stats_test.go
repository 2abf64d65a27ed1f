package remote_test

import (
	"bytes"
	"context"
	"expvar"
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
	"github.com/acpkit/go-sdk/stream/remote"
)

// An operator sees how many connections and sessions a server has, what they carry, and how many
// requests were refused.
func TestStats(t *testing.T) {
	h, s := start(t, &remote.Options{Authorize: remote.BearerToken("secret"), MaxConnections: 2, Instance: "a"}, nil)
	assert.Zero(t, h.Stats())
	long := strings.Repeat("x", 100_000)
	var last remote.ServerStats
	var conns []interface {
		Close() error
		Wait() error
	}
	for n, url := range []string{s.URL, wsURL(s)} {
		conn, session := openSession(t, url, bearer("secret"))
		conns = append(conns, conn)
		text, err := session.Prompt(t.Context(), acp.Text(long)).Text()
		require.NoError(t, err)
		assert.Equal(t, long, text)
		var got remote.ServerStats
		require.Eventually(t, func() bool { // a client can have read what its server has not yet counted
			got = h.Stats()
			return got.BytesSent-last.BytesSent > int64(len(long))
		}, 10*time.Second, time.Millisecond, url)
		assert.EqualValues(t, n+1, got.Connections)
		assert.EqualValues(t, n+1, got.ConnectionsTotal)
		assert.EqualValues(t, 1, got.Sessions, "those of streamable HTTP")
		for _, added := range []int64{got.BytesReceived - last.BytesReceived, got.BytesSent - last.BytesSent} {
			assert.Greater(t, added, int64(len(long)), url)
			assert.Less(t, added, int64(len(long)+4000), url)
		}
		assert.Zero(t, got.Refused)
		last = got
	}

	for kind, r := range requests(s.URL) {
		assert.Equal(t, 401, status(t, r), kind)
		last.Refused++
		r := requests(s.URL)[kind]
		r.Header.Set("Authorization", "Bearer secret")
		if got := status(t, r); kind == "POST" || kind == "upgrade" {
			assert.Equal(t, 503, got, kind)
			last.Refused++
		}
	}
	assert.Equal(t, last.Refused, h.Stats().Refused)
	if expvar.Get("acp") == nil { // a process can publish a name once, also with -count=2
		publish(h)
		assert.Contains(t, expvar.Get("acp").String(), `"Connections":2,"Sessions":1,"ConnectionsTotal":2,`)
	}

	for _, c := range conns {
		c.Close()
		c.Wait()
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	require.NoError(t, h.Shutdown(ctx))                                                                   // waits for the connections that the clients are closing
	assert.Eventually(t, func() bool { return h.Stats().Sessions == 0 }, 5*time.Second, time.Millisecond) // their GETs end
	now := h.Stats()
	assert.Zero(t, now.Connections)
	assert.EqualValues(t, 2, now.ConnectionsTotal)
	assert.GreaterOrEqual(t, now.BytesReceived, last.BytesReceived)
	assert.GreaterOrEqual(t, now.BytesSent, last.BytesSent)
}

// The log of a server that is full, or shuts down, has the reason why a client is refused.
func TestFullServerIsLogged(t *testing.T) {
	for _, kind := range []string{"POST", "upgrade"} {
		t.Run(kind, func(t *testing.T) {
			var log bytes.Buffer
			h := remote.NewHandler(serving(nil), &remote.Options{MaxConnections: 1, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			s := httptest.NewServer(h)
			defer s.Close()
			conn, _ := openSession(t, wsURL(s), nil)
			assert.Equal(t, 503, status(t, requests(s.URL)[kind]))
			assert.Contains(t, log.String(), "status=503")
			assert.Contains(t, log.String(), "MaxConnections")
			conn.Close()
			conn.Wait()
			require.NoError(t, h.Shutdown(t.Context()))
			assert.Equal(t, 503, status(t, requests(s.URL)[kind]))
			assert.Contains(t, log.String(), "shuts down")
		})
	}
}

// The id of a connection tells a load balancer which server has it.
func TestInstance(t *testing.T) {
	_, s := start(t, &remote.Options{Instance: "eu-1_a.b"}, nil)
	for _, kind := range []string{"POST", "upgrade"} {
		resp, err := http.DefaultClient.Do(requests(s.URL)[kind])
		require.NoError(t, err)
		resp.Body.Close()
		assert.Regexp(t, `^eu-1_a\.b\.[A-Z2-7]{26}$`, resp.Header.Get("Acp-Connection-Id"), kind)
	}
}

func TestNoServe(t *testing.T) {
	const want = "remote: NewHandler was given no serve: pass a func that serves a connection"
	var log bytes.Buffer
	h := remote.NewHandler(nil, &remote.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.EqualError(t, h.Serve(t.Context(), listener), want)
	_, err = listener.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
	s := httptest.NewServer(h)
	defer s.Close()
	for kind, req := range requests(s.URL) {
		log.Reset()
		assert.Equal(t, 500, status(t, req), kind)
		assert.Contains(t, log.String(), want, kind)
	}
}

// A name that cannot be part of an id is refused, and the log says why.
func TestBadInstance(t *testing.T) {
	for _, bad := range []string{"a b", "a\r\nX: y", "ä", "a/b", "a;b", strings.Repeat("a", 254)} {
		var log bytes.Buffer
		h := remote.NewHandler(serving(nil), &remote.Options{Instance: bad, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		assert.ErrorContains(t, h.Serve(t.Context(), listener), "Instance")
		s := httptest.NewServer(h)
		for _, kind := range []string{"POST", "upgrade"} {
			log.Reset()
			assert.Equal(t, 500, status(t, requests(s.URL)[kind]), "%q, %s", bad, kind)
			assert.Contains(t, log.String(), "nstance", "%q, %s", bad, kind)
		}
		assert.Zero(t, h.Stats().Connections)
		s.Close()
	}
}
