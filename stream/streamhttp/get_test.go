package streamhttp_test

import (
	"bufio"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A GET has no use for a body. One that does not arrive takes no place on the event stream, and
// one that does arrive does no harm.
func TestGetWithBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wired(t, nil)
		end := w.connect()
		get := "GET / HTTP/1.1\r\nHost: h\r\nAccept: text/event-stream\r\nAcp-Session-Id: s\r\nAcp-Connection-Id: " + end.ConnectionID() + "\r\n"
		began := time.Now()
		promised := w.say(get + "Content-Length: 10\r\n\r\n")
		synctest.Wait()

		resp := w.response(w.say(get + "Content-Length: 10\r\n\r\n0123456789"))
		require.Equal(t, 200, resp.StatusCode)
		assert.Equal(t, 400, w.response(promised).StatusCode)
		assert.Equal(t, 10*time.Second, time.Since(began))
		assert.Equal(t, 400, w.response(w.offer(get+"Content-Length: 60000\r\n\r\n"+padding)).StatusCode)

		time.Sleep(11 * time.Second) // the deadline for the body is over
		require.NoError(t, end.Write([]byte(cancelNote)))
		events := &rawEvents{t: t, resp: resp, r: bufio.NewReader(resp.Body)}
		assert.Equal(t, cancelNote, events.next())
	})
}
