package streamhttp_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/pipenet"
	"github.com/acpkit/go-sdk/stream/streamhttp"
)

// A client that reads a long event slowly is not one that reads nothing: the connection lives,
// and its writers see that something leaves.
func TestSlowReaderOfALongEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wired(t, &streamhttp.HandlerOptions{MaxBuffered: 100_000})
		end := w.connect()
		slow := w.say("GET / HTTP/1.1\r\nHost: h\r\nAccept: text/event-stream\r\nAcp-Connection-Id: " + end.ConnectionID() + "\r\n\r\n")
		over := make(chan struct{})
		go func() { // ends with the network connection
			defer close(over)
			for {
				if _, err := io.ReadFull(slow, make([]byte, 4<<10)); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		}()
		long := []byte(`{"jsonrpc":"2.0","method":"u","params":{"x":"` + strings.Repeat("x", 500_000) + `"}}`)
		began := time.Now()
		require.NoError(t, end.Write(long))
		last := int64(0)
		for range 3 {
			time.Sleep(20 * time.Second)
			assert.Greater(t, end.Features().Written(), last)
			last = end.Features().Written()
		}
		require.NoError(t, end.Write(long), "it waits for room")
		assert.Greater(t, time.Since(began), 100*time.Second)
		require.NoError(t, slow.Close())
		<-over // a bubble does not wait for one who sleeps
	})
}

// A comment that keeps an event stream alive is no progress: the client of a full queue may
// still read nothing.
func TestCommentsAreNoProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wired(t, &streamhttp.HandlerOptions{MaxBuffered: 100_000})
		end := w.connect()
		lives := w.say("GET / HTTP/1.1\r\nHost: h\r\nAccept: text/event-stream\r\nAcp-Connection-Id: " + end.ConnectionID() + "\r\n\r\n")
		go io.Copy(io.Discard, lives) // ends with the network connection
		long := []byte(`{"jsonrpc":"2.0","method":"u","params":{"sessionId":"s","x":"` + strings.Repeat("x", 90_000) + `"}}`)
		require.NoError(t, end.Write(long)) // the client does not read it
		began := time.Now()
		written := end.Features().Written()
		require.Error(t, end.Write(long))
		assert.Equal(t, time.Minute, time.Since(began))
		assert.Equal(t, written, end.Features().Written())
	})
}

// While a long POST is under way, the client says how much of it has left.
func TestWrittenDuringPost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener := pipenet.Listen()
		read := make(chan struct{})
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != "POST" || r.ContentLength < 1000 {
				(&peer{streams: map[string]chan string{}}).ServeHTTP(w, r)
				return
			}
			_, _ = io.ReadFull(r.Body, make([]byte, 500_000))
			<-read
			n, _ := io.Copy(io.Discard, r.Body)
			assert.EqualValues(t, 500_000, n)
			w.WriteHeader(202)
		})}
		go s.Serve(listener) // ends with Close
		defer s.Close()
		transport := &http.Transport{DialContext: listener.DialContext}
		defer transport.CloseIdleConnections()
		c := (&peer{client: &http.Client{Transport: transport}}).dial(t, nil)
		before := c.Features().Written()
		require.NoError(t, c.Write(bytes.Join([][]byte{[]byte(`{"jsonrpc":"2.0","method":"m","params":"`), []byte(`"}`)}, bytes.Repeat([]byte("x"), 1_000_000-42))))
		synctest.Wait()
		half := c.Features().Written() - before
		assert.GreaterOrEqual(t, half, int64(500_000))
		assert.Less(t, half, int64(1_000_000))
		close(read)
		synctest.Wait()
		assert.EqualValues(t, 1_000_000, c.Features().Written()-before)
	})
}
