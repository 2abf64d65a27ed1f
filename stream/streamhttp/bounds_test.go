package streamhttp_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/streamhttp"
)

// later posts a message, and returns where the status arrives.
func (w *rawServer) later(end *serverEnd, body string) <-chan int {
	c, status := w.send(post(end.ConnectionID(), body, len(body))), make(chan int, 1)
	go func() { // ends with the response, or with the connection
		if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err == nil {
			status <- resp.StatusCode
		}
	}()
	return status
}

// A response without a request waits for room like a request, because a client could send any
// number of them.
func TestResponsesToNothingWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveRaw(t, streamhttp.HandlerOptions{}.Buffering(100_000))
		end := w.connect()
		stray := `{"jsonrpc":"2.0","id":"a","result":{"x":"` + strings.Repeat("x", 60_000) + `"}}`
		assert.Equal(t, 202, <-w.later(end, stray))
		second := w.later(end, stray)
		synctest.Wait()
		assert.Empty(t, second)
		assert.Equal(t, stray, receive(t, end))
		assert.Equal(t, 202, <-second)
	})
}

// Waiting messages are counted by the memory that they need.
func TestShortMessagesWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveRaw(t, streamhttp.HandlerOptions{}.Buffering(100_000))
		end := w.connect()
		const many = 300
		accepted := 0
		for range many {
			status := w.later(end, `{}`)
			synctest.Wait()
			accepted += len(status)
		}
		assert.Less(t, accepted, many)
		assert.Greater(t, accepted, 10)
	})
}

// Nothing remains of a request whose sender gave up while it waited for room.
func TestRequestThatIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveRaw(t, streamhttp.HandlerOptions{}.Buffering(100_000))
		end := w.connect()
		big := `{"jsonrpc":"2.0","id":%d,"method":"m","params":{"sessionId":"s","x":"` + strings.Repeat("x", 60_000) + `"}}`
		assert.Equal(t, 202, <-w.later(end, fmt.Sprintf(big, 1)))
		for i := range 3 {
			body := fmt.Sprintf(big, 2+i)
			c := w.send(post(end.ConnectionID(), body, len(body)))
			synctest.Wait()
			require.NoError(t, c.Close())
			synctest.Wait()
		}
		assert.Equal(t, 1, end.Routes())
	})
}

// A server that does not take the responses that it asked for slows the client down.
func TestResponsesAreNotTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scriptedInBubble(t)
		taken := make(chan struct{})
		p.post = func(w http.ResponseWriter, r *http.Request, m stream.Message) bool {
			if m.IsResponse() {
				<-taken
				w.WriteHeader(202)
			}
			return m.IsResponse()
		}
		c := p.dial(t, nil)
		const many = 3000
		var written atomic.Int32
		over := make(chan struct{})
		go func() { // ends when all are written
			defer close(over)
			for i := range many {
				if c.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{}}`, i)) != nil {
					return
				}
				written.Add(1)
			}
		}()
		synctest.Wait()
		assert.Less(t, written.Load(), int32(many))
		close(taken)
		<-over
		assert.EqualValues(t, many, written.Load())
	})
}

// A panic of serve ends its connection and nothing else.
func TestServePanics(t *testing.T) {
	var log lockedBuffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(before)
	s := httptest.NewServer(streamhttp.NewHandler(func(context.Context, stream.Stream) error { panic("oops") }, nil))
	t.Cleanup(s.Close)
	c := &rawClient{t: t, url: s.URL}
	for range 2 {
		assert.Equal(t, 500, c.request("POST", initialize).StatusCode)
	}
	assert.Eventually(t, func() bool { return strings.Count(log.String(), "panic in serve") == 2 }, 10*time.Second, time.Millisecond)
}

// lockedBuffer is a buffer for a logger.
type lockedBuffer struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// The number of event streams of a client is bounded, even if the server names new sessions without
// end.
func TestManySessionsAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scriptedInBubble(t)
		var opened atomic.Int32
		p.get = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Acp-Session-Id") != "" {
				opened.Add(1)
			}
			return false
		}
		c := p.dial(t, nil)
		const many = 1100
		for i := range many {
			p.say("", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"sessionId":"s%d"}}`, i, i))
			receive(t, c)
		}
		synctest.Wait()
		assert.LessOrEqual(t, opened.Load(), int32(1024))
		assert.GreaterOrEqual(t, opened.Load(), int32(1000))
	})
}
