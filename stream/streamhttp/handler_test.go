package streamhttp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/pipenet"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/streamhttp"
	"github.com/acpkit/go-sdk/stream/streamtest"
)

func TestRefusedRequests(t *testing.T) {
	s := serve(t, &streamhttp.HandlerOptions{MaxMessage: 10_000})
	c, end := s.connectRaw(t)
	note := `{"jsonrpc":"2.0","method":"x"}`
	of := func(id string) string {
		return `{"jsonrpc":"2.0","id":9,"method":"session/prompt","params":{"sessionId":"` + id + `"}}`
	}
	long := strings.Repeat("x", 1025)
	for name, tt := range map[string]struct {
		method, body string
		header       []string
		want         int
	}{
		"wrong content type":           {"POST", note, []string{"Content-Type", "text/plain"}, 415},
		"no content type":              {"POST", note, []string{"Content-Type", ""}, 415},
		"content type with charset":    {"POST", note, []string{"Content-Type", "application/json; charset=utf-8"}, 202},
		"bad JSON":                     {"POST", "{oops", nil, 400},
		"empty":                        {"POST", "", nil, 400},
		"batch":                        {"POST", " [" + note + "]", nil, 501},
		"scalar":                       {"POST", "1", nil, 400},
		"no connection":                {"POST", note, []string{"Acp-Connection-Id", ""}, 400},
		"unknown connection":           {"POST", note, []string{"Acp-Connection-Id", "x"}, 404},
		"long connection id":           {"POST", note, []string{"Acp-Connection-Id", long}, 400},
		"too long":                     {"POST", `{"jsonrpc":"2.0","method":"` + strings.Repeat("x", 10_000) + `"}`, nil, 413},
		"initialize again":             {"POST", initialize, nil, 400},
		"initialize with id null":      {"POST", strings.Replace(initialize, `"id":0`, `"id":null`, 1), []string{"Acp-Connection-Id", ""}, 400},
		"initialize without id":        {"POST", strings.Replace(initialize, `"id":0,`, ``, 1), []string{"Acp-Connection-Id", ""}, 400},
		"session without header":       {"POST", of("s"), nil, 202},
		"session with header":          {"POST", of("s"), []string{"Acp-Session-Id", "s"}, 202},
		"session with another header":  {"POST", of("s"), []string{"Acp-Session-Id", "t"}, 400},
		"long session id":              {"POST", of(long), nil, 400},
		"long session header":          {"POST", note, []string{"Acp-Session-Id", long}, 400},
		"response to nothing":          {"POST", `{"jsonrpc":"2.0","id":77,"result":{}}`, nil, 202},
		"neither":                      {"POST", `{"jsonrpc":"2.0","id":1}`, nil, 202},
		"GET without Accept":           {"GET", "", []string{"Accept", ""}, 406},
		"GET with another Accept":      {"GET", "", []string{"Accept", "application/json"}, 406},
		"GET without connection":       {"GET", "", []string{"Acp-Connection-Id", ""}, 400},
		"GET of an unknown connection": {"GET", "", []string{"Acp-Connection-Id", "x"}, 404},
		"GET of an unknown session":    {"GET", "", []string{"Acp-Session-Id", "new"}, 200},
		"upgrade":                      {"GET", "", []string{"Upgrade", "websocket", "Connection", "upgrade"}, 426},
		"DELETE without connection":    {"DELETE", "", []string{"Acp-Connection-Id", ""}, 400},
		"DELETE of an unknown one":     {"DELETE", "", []string{"Acp-Connection-Id", "x"}, 404},
		"PUT":                          {"PUT", "", nil, 405},
		"foreign origin":               {"POST", note, []string{"Origin", "https://evil.example"}, 403},
		"null origin":                  {"POST", note, []string{"Origin", "null"}, 403},
	} {
		t.Run(name, func(t *testing.T) {
			c := &rawClient{t: t, url: s.URL, id: c.id}
			resp := c.request(tt.method, tt.body, tt.header...)
			assert.Equal(t, tt.want, resp.StatusCode)
			if tt.want == 202 {
				assert.Equal(t, tt.body, receive(t, end))
			}
			if tt.want == 501 {
				body, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				assert.Equal(t, stream.KindErrorResponse, stream.ParseMessage(body).Kind)
			}
		})
	}
	assert.Equal(t, 202, c.request("DELETE", "").StatusCode)
	assert.Equal(t, 404, c.request("DELETE", "").StatusCode)
	assert.Equal(t, 404, c.post(note))
	_, err := end.Read()
	assert.ErrorIs(t, err, io.EOF)
	assert.Error(t, end.Write([]byte(note)))
}

func TestFailedInitialize(t *testing.T) {
	refusal := `{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"Invalid params"}}`
	for name, tt := range map[string]struct {
		answer func(*serverEnd)
		want   int
		body   string
	}{
		"an error":       {func(e *serverEnd) { e.Write([]byte(refusal)) }, 200, refusal},
		"the agent dies": {func(e *serverEnd) { e.Close() }, 500, "Initialize failed"},
		"another message": {func(e *serverEnd) {
			assert.Error(t, e.Write([]byte(`{"jsonrpc":"2.0","method":"x"}`)))
		}, 500, "Initialize failed"},
		"another id": {func(e *serverEnd) { e.Write([]byte(strings.Replace(initialized, "0", "1", 1))) }, 500, "Initialize failed"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, nil)
			c := s.raw(t)
			answered := c.later(initialize)
			end := <-s.conns
			defer end.Close()
			tt.answer(end)
			resp := <-answered
			assert.Equal(t, tt.want, resp.StatusCode)
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Contains(t, string(body), tt.body)
			if c.id = resp.Header.Get("Acp-Connection-Id"); tt.want == 200 {
				assert.NotEmpty(t, c.id)
				assert.Equal(t, 404, c.post(`{"jsonrpc":"2.0","method":"x"}`), "it is removed at once")
			}
		})
	}
}

// A client that leaves before it is initialized leaves nothing behind.
func TestClientLeavesDuringInitialize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, conns := handler(nil)
		client, err := streamhttp.Dial("http://server/", &streamhttp.DialOptions{Client: pipenet.Serve(t, h, nil)})
		require.NoError(t, err)
		require.NoError(t, client.Write([]byte(initialize)))
		end := <-conns
		defer end.Close()
		receive(t, end)
		done := make(chan struct{})
		go func() { client.Close(); close(done) }() // ends by itself
		_, err = end.Read()
		assert.ErrorContains(t, err, "left before it was initialized")
		<-done
	})
}

func TestRouting(t *testing.T) {
	s := serve(t, nil)
	c, end := s.connectRaw(t)
	conn, one, two := c.events(), c.events("Acp-Session-Id", "one"), c.events("Acp-Session-Id", "two")
	ask := func(msg string, header ...string) {
		t.Helper()
		require.Equal(t, 202, c.post(msg, header...))
		assert.Equal(t, msg, receive(t, end))
	}
	ask(`{"jsonrpc":"2.0","id":1,"method":"session/list"}`)
	ask(`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"one"}}`)
	ask(`{"jsonrpc":"2.0","id":3,"method":"session/load","params":{"sessionId":"two"}}`)
	ask(`{"jsonrpc":"2.0","id":4,"method":"session/load","params":{"sessionId":"three"}}`)
	ask(`{"jsonrpc":"2.0","id":5,"method":"_x"}`, "Acp-Session-Id", "one")
	for _, tt := range []struct {
		on   *rawEvents
		send string
	}{
		{conn, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{one, `{"jsonrpc":"2.0","id":2,"result":{}}`},
		{two, `{"jsonrpc":"2.0","id":3,"result":{}}`},  // it has a receiver
		{conn, `{"jsonrpc":"2.0","id":4,"result":{}}`}, // it has none
		{one, `{"jsonrpc":"2.0","id":5,"result":{}}`},
		{conn, `{"jsonrpc":"2.0","id":1,"result":{}}`}, // the route is forgotten
		{one, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"one"}}`},
		{conn, `{"jsonrpc":"2.0","method":"_x","params":{}}`},
		{two, `{"jsonrpc":"2.0","id":"a","method":"session/request_permission","params":{"sessionId":"two"}}`},
		{two, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"a"}}`},
		{conn, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"z"}}`},
		{one, `{"jsonrpc":"2.0","id":"b","method":"elicitation/create","params":{"sessionId":"one","elicitationId":"e"}}`},
		{one, `{"jsonrpc":"2.0","method":"elicitation/complete","params":{"elicitationId":"e"}}`},
		{conn, `{"jsonrpc":"2.0","method":"elicitation/complete","params":{"elicitationId":"e"}}`},
	} {
		require.NoError(t, end.Write([]byte(tt.send)))
		assert.Equal(t, tt.send, tt.on.next())
	}
	answer := `{"jsonrpc":"2.0","id":"a","result":{}}`
	assert.Equal(t, 400, c.post(answer, "Acp-Session-Id", "one"), "it was asked on two")
	ask(answer, "Acp-Session-Id", "two")
	ask(strings.Replace(answer, `"a"`, `"b"`, 1))
}

// bubble serves in memory, with time that a test controls.
func bubble(t *testing.T, opts *streamhttp.HandlerOptions) *server {
	h, conns := handler(opts)
	return &server{conns: conns, client: pipenet.Serve(t, h, nil)}
}

// A connection without event streams ends, whether or not a turn runs.
func TestIdleConnectionEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		opts *streamhttp.HandlerOptions
		want time.Duration
	}{
		"default": {nil, 5 * time.Minute},
		"resume":  {&streamhttp.HandlerOptions{Resume: true}, time.Minute},
	} {
		t.Run(name, inBubble(func(t *testing.T) {
			_, end := bubble(t, tt.opts).connectRaw(t)
			began := time.Now()
			_, err := end.Read()
			assert.ErrorContains(t, err, "no event stream")
			assert.Equal(t, tt.want, time.Since(began))
		}))
	}
}

// A client that takes nothing of what waits for all sessions together loses a full connection.
func TestStall(t *testing.T) {
	for _, sessions := range []int{1, 10} {
		synctest.Test(t, func(t *testing.T) {
			s := bubble(t, streamhttp.HandlerOptions{}.Buffering(100_000))
			_, end := s.connect(t, nil)
			began := time.Now()
			var err error
			sent := 0
			for ; err == nil; sent++ { // no one opens the streams of these sessions
				err = end.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"u","params":{"sessionId":"unknown %d","x":"%s"}}`, sent%sessions, strings.Repeat("x", 10_000)))
			}
			assert.ErrorContains(t, err, "does not take what was sent")
			assert.Equal(t, time.Minute, time.Since(began))
			assert.Equal(t, 10, sent)
		})
	}
}

func TestUnattendedSessions(t *testing.T) {
	s := serve(t, nil)
	c, end := s.connectRaw(t)
	write := func(n int) error {
		return end.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"u","params":{"sessionId":"s%d"}}`, n))
	}
	for n := range 1024 {
		require.NoError(t, write(n))
	}
	assert.Error(t, write(1024))
	assert.Equal(t, 404, c.post(`{"jsonrpc":"2.0","method":"x"}`))
}

func TestContract(t *testing.T) {
	streamhttp.ShortenFlush(t)
	for name, tt := range map[string]struct {
		resume bool
		client *http.Client
	}{
		"HTTP/1.1": {}, "resume": {resume: true},
		"HTTP/2": {client: &http.Client{Transport: &http.Transport{Protocols: http2()}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, streamhttp.HandlerOptions{Resume: tt.resume}.Buffering(4<<20))
			opts := &streamhttp.DialOptions{Client: tt.client}
			client, end := s.connect(t, opts) // so that the goroutines of a shared Client are there before
			client.Close()
			end.Close()
			streamtest.Test(t, func() (a, b stream.Stream) {
				client, end := s.connect(t, opts)
				open(t, client, end)
				return client, end
			})
		})
	}
}

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
		_, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	assert.Error(t, err, "it must not look like a clean end")
}

// A panic of the functions that check a request refuses it with status 500.
func TestChecksPanic(t *testing.T) {
	for name, opts := range map[string]*streamhttp.HandlerOptions{
		"Owner":   {Owner: func(*http.Request) string { panic("a defect") }},
		"Connect": {Connect: func(*http.Request) (context.Context, func(), error) { panic("a defect") }},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
			h := streamhttp.NewHandler(nil, opts)
			for range 100 {
				r := httptest.NewRequest("POST", "/", strings.NewReader(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`))
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				assert.Equal(t, 500, w.Code)
				assert.Empty(t, w.Body.String())
			}
			assert.EqualValues(t, 100, h.Stats().Refused)
			assert.Equal(t, 20, strings.Count(log.String(), "a defect"))
		})
	}
}
