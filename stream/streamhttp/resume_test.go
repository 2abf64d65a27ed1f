package streamhttp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream/streamhttp"
)

// Messages wait for the event stream of their session.
func TestQueuedUntilAttached(t *testing.T) {
	s := serve(t, nil)
	c, end := s.connectRaw(t)
	var sent []string
	for i := range 100 {
		sent = append(sent, fmt.Sprintf(`{"jsonrpc":"2.0","method":"u","params":{"sessionId":"s","n":%d}}`, i))
		require.NoError(t, end.Write([]byte(sent[i])))
	}
	events := c.events("Acp-Session-Id", "s")
	for _, want := range sent {
		assert.Equal(t, want, events.next())
	}
	assert.Equal(t, 409, c.request("GET", "", "Acp-Session-Id", "s").StatusCode, "a second receiver")
	events.resp.Body.Close()
	assert.Eventually(t, func() bool {
		return c.request("GET", "", "Acp-Session-Id", "s").StatusCode == 200
	}, 5*time.Second, 10*time.Millisecond)
}

func TestResume(t *testing.T) {
	s := serve(t, &streamhttp.HandlerOptions{Resume: true})
	c, end := s.connectRaw(t)
	send := func(n int) string {
		msg := fmt.Sprintf(`{"jsonrpc":"2.0","method":"u","params":{"sessionId":"s","n":%d}}`, n)
		require.NoError(t, end.Write([]byte(msg)))
		return msg
	}
	events := c.events("Acp-Session-Id", "s")
	var ids []string
	for n := range 5 {
		assert.Equal(t, send(n), events.next())
		ids = append(ids, events.id)
	}
	assert.Equal(t, 409, c.request("GET", "", "Acp-Session-Id", "s").StatusCode)
	// The previous receiver may still be there: a GET with the id of the last event replaces it.
	again := c.events("Acp-Session-Id", "s", "Last-Event-ID", ids[1])
	for n := 2; n < 5; n++ {
		assert.Contains(t, again.next(), fmt.Sprintf(`"n":%d`, n))
		assert.Equal(t, ids[n], again.id, "the numbers stay")
	}
	assert.Equal(t, send(5), again.next())
	_, err := events.r.ReadString('\n')
	assert.Error(t, err, "it was replaced")
	epoch, _, _ := strings.Cut(ids[0], "-")
	for _, id := range []string{"other-1", epoch + "-99", epoch + "-x", "1", epoch + "-7"} {
		assert.Equal(t, 410, c.request("GET", "", "Acp-Session-Id", "s", "Last-Event-ID", id).StatusCode, id)
	}
	assert.Equal(t, 410, c.request("GET", "", "Acp-Session-Id", "unknown", "Last-Event-ID", ids[0]).StatusCode)
	whole := c.events("Acp-Session-Id", "s", "Last-Event-ID", epoch+"-0")
	assert.Contains(t, whole.next(), `"n":0`)
}

// opened tells when the header of an event stream has been written.
type opened struct {
	http.ResponseWriter
	events bool
	tell   chan<- struct{}
}

func (w *opened) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *opened) WriteHeader(code int) {
	w.ResponseWriter.WriteHeader(code)
	if w.events && code == http.StatusOK {
		w.tell <- struct{}{}
	}
}

// An event stream that was cut before its first event is continued too.
func TestResumeBeforeTheFirstEvent(t *testing.T) {
	h, conns := handler(&streamhttp.HandlerOptions{Resume: true})
	gets := make(chan struct{}, 100)
	s := &server{conns: conns, Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(&opened{w, r.Method == "GET", gets}, r)
	}))}
	t.Cleanup(s.Close)
	client, end := s.connect(t, nil)
	<-gets
	for range 3 {
		s.CloseClientConnections()
		<-gets // the event stream is open again
	}
	msg := `{"jsonrpc":"2.0","method":"x"}`
	require.NoError(t, end.Write([]byte(msg)))
	assert.Equal(t, msg, receive(t, client))
}

// The ring is bounded, but the newest event is kept whatever its size.
func TestRing(t *testing.T) {
	s := serve(t, &streamhttp.HandlerOptions{Resume: true})
	c, end := s.connectRaw(t)
	send := func(size int) {
		require.NoError(t, end.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"u","params":{"sessionId":"s","x":"%s"}}`, strings.Repeat("x", size))))
	}
	events := c.events("Acp-Session-Id", "s")
	status := func(id string) int {
		return c.request("GET", "", "Acp-Session-Id", "s", "Last-Event-ID", id).StatusCode
	}
	send(1)
	events.next()
	first := events.id
	send(9 << 20)
	events.next()
	large := events.id
	assert.Eventually(t, func() bool { return status(first) == 200 }, 5*time.Second, time.Millisecond, "the large one is there alone")
	events = c.events("Acp-Session-Id", "s", "Last-Event-ID", large)
	for range 4098 { // when the last one is there, those before it are marked as sent
		send(1)
		events.next()
	}
	assert.Equal(t, 410, status(large))
}

// The rings of a connection share 64 MiB: the oldest events of all go first.
func TestRingsShareTheirRoom(t *testing.T) {
	s := serve(t, &streamhttp.HandlerOptions{Resume: true})
	c, end := s.connectRaw(t)
	begin := map[string]string{} // the place before the first event of a session
	const sessions = 10          // with two events of nearly 4 MiB each
	for n := range sessions {
		id := fmt.Sprint("s", n)
		events := c.events("Acp-Session-Id", id)
		for range 2 {
			require.NoError(t, end.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"u","params":{"sessionId":"%s","x":"%s"}}`, id, strings.Repeat("x", 4<<20-1000))))
			events.next()
		}
		if n == sessions-1 { // when this one is there, those before it are marked as sent
			require.NoError(t, end.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"u","params":{"sessionId":"%s"}}`, id)))
			events.next()
		}
		epoch, _, _ := strings.Cut(events.id, "-")
		begin[id] = epoch + "-0"
	}
	status := func(id string) int {
		return c.request("GET", "", "Acp-Session-Id", id, "Last-Event-ID", begin[id]).StatusCode
	}
	assert.Equal(t, 410, status("s0"), "its first event is gone")
	assert.Equal(t, 410, status("s3"), "that of four sessions is")
	assert.Equal(t, 200, status("s9"))
	assert.Equal(t, 200, status("s4"))
	last := strings.Replace(begin["s0"], "-0", "-1", 1)
	assert.Equal(t, 200, c.request("GET", "", "Acp-Session-Id", "s0", "Last-Event-ID", last).StatusCode, "the newest event of a session is kept")
}
