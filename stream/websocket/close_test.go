package websocket_test

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
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
		return func(s *websocket.Conn) { s.Features().CloseFor(why) }
	}
	drained := func(then func(*websocket.Conn)) func(*websocket.Conn) {
		return func(s *websocket.Conn) { s.Drain(); s.Drain(); then(s) }
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
			client, server := rawConnect(t)
			sendText(t, client, initialize)
			assert.Equal(t, initialize, receive(t, server))
			if !tt.unanswered {
				// Two at once, because the writer of a connection joins them.
				require.NoError(t, server.Features().WriteBatch([][]byte{[]byte(initialized), []byte(`{"jsonrpc":"2.0","method":"x"}`)}))
				for range 2 {
					readText(t, client)
				}
			}
			ended := make(chan struct{})
			go func() { tt.end(server); ended <- struct{}{} }() // ends with the close of both
			if tt.first != "" {
				assert.Equal(t, tt.first, readText(t, client))
			}
			_, _, err := client.Read(t.Context())
			assert.Equal(t, tt.code, raw.CloseStatus(err))
			<-ended
			assert.NoError(t, server.Features().CloseFor(stream.ReasonFailure), "only the first call has an effect")
		})
	}
}

// The reason that a peer gives is printed as text.
func TestReasonOfThePeer(t *testing.T) {
	err := &websocket.CloseError{Code: 1008, Reason: "no\x1b[2J\u202e\u3164\" \n"}
	assert.Equal(t, `websocket: the peer closed the connection with code 1008 "no\x1b[2J\u202e\u3164\" \n"`, err.Error())
}

// A client whose initialize was refused may send another one, and no more after that.
func TestInitializeAgain(t *testing.T) {
	client, server := rawConnect(t)
	exchange(t, client, server, initialize, `{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"Invalid params"}}`)
	exchange(t, client, server, initialize, initialized)
	ask := `{"jsonrpc":"2.0","id":1,"method":"session/list","params":{"_meta":"initialize"}}`
	sendText(t, client, initialize, ask)
	assert.Equal(t, ask, receive(t, server), "the second one does not arrive")
	assert.Contains(t, readText(t, client), `"code":-32600`)
}

// A client that sends initialize again and again loses its connection, whether it sends faster than
// it is refused or reads no refusal.
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
		client, server := overTCP(t, 0)
		check(t, client, server, 0)
	})
	// The clock of the bubble moves only while all goroutines wait. The server drops what
	// arrives while it closes, so a client without pauses would never let it move.
	t.Run("unread", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client, server := overPipe(t)
			check(t, client, server, time.Millisecond)
		})
	})
}

// rawFrames opens a WebSocket by hand and sends bytes. It returns the close code of the server.
func rawFrames(t *testing.T, frames ...byte) int {
	t.Helper()
	handler, conns := accepting(nil)
	s := httptest.NewServer(handler)
	defer s.Close()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	require.NoError(t, err)
	defer c.Close()
	_, err = io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	require.NoError(t, err)
	server := <-conns
	defer server.Close()
	go func() { // ends with the connection
		for {
			if _, err := server.Read(); err != nil {
				return
			}
		}
	}()
	r := bufio.NewReader(c)
	for line := ""; line != "\r\n"; {
		line, err = r.ReadString('\n')
		require.NoError(t, err)
	}
	_, err = c.Write(frames)
	require.NoError(t, err)
	head := make([]byte, 4)
	_, err = io.ReadFull(r, head)
	require.NoError(t, err, "the server must say why")
	assert.Equal(t, byte(0x88), head[0])
	require.NoError(t, c.Close(), "so that the server does not wait for a close frame")
	return int(head[2])<<8 | int(head[3])
}

// A server must not mask its frames. The client closes with 1002, wherever the frame begins in
// what it reads.
func TestServerThatMasks(t *testing.T) {
	long := func(n int, head ...byte) []byte { return append(head, bytes.Repeat([]byte(" "), n)...) }
	for name, before := range map[string][]byte{
		"the first frame":         nil,
		"behind a frame":          {0x81, 0x02, '{', '}'},
		"behind a frame of 200":   long(200, 0x81, 126, 0, 200),
		"behind a frame of 70000": long(70_000, 0x81, 127, 0, 0, 0, 0, 0, 1, 0x11, 0x70),
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer listener.Close()
			closed := make(chan []byte, 1)
			go func() { // ends with the network connection
				c, err := listener.Accept()
				if err != nil {
					return
				}
				defer c.Close()
				r, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil {
					return
				}
				key := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
				fmt.Fprintf(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nAcp-Connection-Id: c\r\nSec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(key[:]))
				_, _ = c.Write(append(before, 0x81, 0x82, 0, 0, 0, 0, '{', '}'))
				frame := make([]byte, 8)
				_, _ = io.ReadFull(c, frame)
				closed <- frame
			}()
			s, err := websocket.Dial(t.Context(), "ws://"+listener.Addr().String(), nil)
			require.NoError(t, err)
			defer s.Close()
			for err == nil {
				_, err = s.Read()
			}
			assert.ErrorContains(t, err, "masked frame")
			frame := <-closed
			assert.Equal(t, byte(0x88), frame[0])
			assert.Equal(t, 1002, int(frame[6]^frame[2])<<8|int(frame[7]^frame[3]))
		})
	}
}

// A violation of RFC 6455 closes with the code that it names.
func TestViolations(t *testing.T) {
	assert.Equal(t, 1007, rawFrames(t, 0x81, 0x82, 0, 0, 0, 0, 0xff, 0xfe), "a text that is not UTF-8")
	assert.Equal(t, 1002, rawFrames(t, 0x81, 0x02, '{', '}'), "a frame that is not masked")
	assert.Equal(t, 1002, rawFrames(t, 0x83, 0x80, 0, 0, 0, 0), "an opcode that does not exist")
}

// A middleware that hides the network connection is refused at once, with an error that tells
// what it needs.
func TestMiddlewareThatCannotHijack(t *testing.T) {
	refused := make(chan error, 1)
	s := httptest.NewServer(http.TimeoutHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := websocket.Accept(w, r, nil)
		refused <- err
	}), time.Minute, ""))
	defer s.Close()
	_, err := websocket.Dial(t.Context(), s.URL, nil)
	var status *stream.StatusError
	require.ErrorAs(t, err, &status)
	assert.Equal(t, 500, status.Code)
	assert.ErrorContains(t, <-refused, "Unwrap")
}
