package websocket_test

import (
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	raw "github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/websocket"
)

// The close code that the peer receives is the reason why the connection ends.
func TestCloseCodes(t *testing.T) {
	const failed = `{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"Initialize failed"}}`
	close := func(s *websocket.Conn) { s.Close() }
	closeFor := func(why stream.Reason) func(*websocket.Conn) {
		return func(s *websocket.Conn) { s.CloseFor(why) }
	}
	drained := func(then func(*websocket.Conn)) func(*websocket.Conn) {
		return func(s *websocket.Conn) { s.Drain(); then(s) }
	}
	for name, tt := range map[string]struct {
		unanswered bool // initialize has no response yet
		end        func(*websocket.Conn)
		first      string // what arrives before the close
		code       raw.StatusCode
	}{
		"Close":                    {end: close, code: 1000},
		"done":                     {end: closeFor(stream.ReasonDone), code: 1000},
		"a limit":                  {end: closeFor(stream.ReasonLimit), code: 1008},
		"a failure":                {end: closeFor(stream.ReasonFailure), code: 1011},
		"after Drain":              {end: drained(close), code: 1001},
		"done, after Drain":        {end: drained(closeFor(stream.ReasonDone)), code: 1001},
		"a limit, after Drain":     {end: drained(closeFor(stream.ReasonLimit)), code: 1008},
		"Close, uninitialized":     {unanswered: true, end: close, first: failed, code: 1011},
		"a failure, uninitialized": {unanswered: true, end: closeFor(stream.ReasonFailure), first: failed, code: 1011},
		"Drain, uninitialized":     {unanswered: true, end: drained(close), first: failed, code: 1001},
	} {
		t.Run(name, func(t *testing.T) {
			leak.Check(t)
			handler, conns := accepting(nil)
			s := httptest.NewServer(handler)
			defer s.Close()
			client := rawClient(t, s.URL)
			server := <-conns
			require.NoError(t, client.Write(t.Context(), raw.MessageText, []byte(initialize)))
			assert.Equal(t, initialize, receive(t, server))
			if !tt.unanswered {
				// Two at once, because the writer of a connection joins them.
				require.NoError(t, server.WriteBatch([][]byte{[]byte(initialized), []byte(`{"jsonrpc":"2.0","method":"x"}`)}))
				for range 2 {
					_, _, err := client.Read(t.Context())
					require.NoError(t, err)
				}
			}
			ended := make(chan struct{})
			go func() { tt.end(server); ended <- struct{}{} }() // ends with the close of both
			if tt.first != "" {
				_, got, err := client.Read(t.Context())
				require.NoError(t, err)
				assert.Equal(t, tt.first, string(got))
			}
			_, _, err := client.Read(t.Context())
			assert.Equal(t, tt.code, raw.CloseStatus(err))
			<-ended
			assert.NoError(t, server.CloseFor(stream.ReasonFailure), "only the first call has an effect")
		})
	}
}

// A client whose initialize was refused may send another one, and no more after that.
func TestInitializeAgain(t *testing.T) {
	handler, conns := accepting(nil)
	s := httptest.NewServer(handler)
	defer s.Close()
	client := rawClient(t, s.URL)
	server := <-conns
	defer server.Close()
	send := func(msg string) { require.NoError(t, client.Write(t.Context(), raw.MessageText, []byte(msg))) }
	got := func() string {
		_, msg, err := client.Read(t.Context())
		require.NoError(t, err)
		return string(msg)
	}
	send(initialize)
	assert.Equal(t, initialize, receive(t, server))
	refusal := `{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"Invalid params"}}`
	require.NoError(t, server.Write([]byte(refusal)))
	assert.Equal(t, refusal, got())
	send(initialize)
	assert.Equal(t, initialize, receive(t, server))
	require.NoError(t, server.Write([]byte(initialized)))
	assert.Equal(t, initialized, got())
	send(initialize)
	ask := `{"jsonrpc":"2.0","id":1,"method":"session/list","params":{"_meta":"initialize"}}`
	send(ask)
	assert.Equal(t, ask, receive(t, server), "the second one does not arrive")
	assert.Contains(t, got(), `"code":-32600`)
	client.CloseNow()
}

// A client that sends initialize for ever is cut off, whether it sends faster than it is
// refused or reads no refusal.
func TestInitializeForEver(t *testing.T) {
	check := func(t *testing.T, client, server *websocket.Conn, pause time.Duration) {
		var flood sync.WaitGroup
		flood.Go(func() { // ends with the connection
			for client.Write([]byte(initialize)) == nil {
				time.Sleep(pause)
			}
		})
		_, err := server.Read()
		assert.ErrorContains(t, err, "initialize again")
		client.Close()
		flood.Wait()
	}
	t.Run("faster", func(t *testing.T) {
		client, server := overTCP(t, websocket.Options{})
		check(t, client, server, 0)
	})
	// The clock of the bubble moves only while all goroutines wait. The server drops what
	// arrives while it closes, so a client without pauses would never let it move.
	t.Run("unread", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client, server := overPipe(t, websocket.Options{})
			check(t, client, server, time.Millisecond)
		})
	})
}
