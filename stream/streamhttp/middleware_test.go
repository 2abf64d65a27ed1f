package streamhttp_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream/streamhttp"
)

// A middleware that hides what the ResponseWriter can do is refused at once, with a line in the
// log that tells what it needs.
func TestMiddlewareThatCannotFlush(t *testing.T) {
	var log bytes.Buffer
	h, _ := handler(&streamhttp.HandlerOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	s := httptest.NewServer(http.TimeoutHandler(h, time.Minute, ""))
	defer s.Close()
	c := &rawClient{t: t, url: s.URL}
	assert.Equal(t, 500, c.post(initialize))
	assert.Contains(t, log.String(), "Unwrap")
	assert.Contains(t, log.String(), "http.TimeoutHandler")
}

// noFlush is a middleware whose Flush fails.
type noFlush struct {
	http.ResponseWriter
	fails func() bool
}

func (w *noFlush) FlushError() error {
	if w.fails() {
		return errors.New("no")
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// An event stream that cannot be flushed is cut. It does not end as if the connection had.
func TestFlushFails(t *testing.T) {
	h, conns := handler(nil)
	s := &server{conns: conns, Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(&noFlush{w, func() bool { return r.Method == "GET" }}, r)
	}))}
	defer s.Close()
	c, end := s.connectRaw(t)
	defer end.Close()
	req, err := http.NewRequest("GET", s.URL, nil)
	require.NoError(t, err)
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Acp-Connection-Id", c.id)
	resp, err := http.DefaultClient.Do(req)
	if err == nil {
		_, err = resp.Body.Read(make([]byte, 100))
		for err == nil {
			_, err = resp.Body.Read(make([]byte, 100))
		}
		resp.Body.Close()
	}
	assert.NotEqual(t, "EOF", err.Error(), "it must not look like a clean end")
}

// What is remembered of requests that a client never answers is bounded. The newest are known.
func TestClientNeverAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wired(t, nil)
		end := w.connect()
		for n := range 20_000 {
			ask(t, end, n)
		}
		assert.LessOrEqual(t, end.Asked(), 8192)
		assert.Equal(t, 202, <-w.later(end, `{"jsonrpc":"2.0","id":19999,"result":{}}`))
	})
}

// Refusals are logged, but not without end.
func TestRefusalsAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		w := wired(t, &streamhttp.HandlerOptions{MaxBuffered: 10_000, Stall: time.Second, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		end := w.connect()
		assert.Equal(t, 202, <-w.later(end, bigRequest(0)))
		for n := range 50 {
			assert.Equal(t, 429, <-w.later(end, request(1+n, "m", "s")))
		}
		assert.Equal(t, 20, strings.Count(log.String(), "status=429"))
		time.Sleep(time.Minute)
		assert.Equal(t, 429, <-w.later(end, request(99, "m", "s")))
		assert.Contains(t, log.String(), fmt.Sprint("not_logged_before=", 30))
	})
}
