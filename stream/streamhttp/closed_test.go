package streamhttp_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/pipenet"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/streamhttp"
)

// bubbleConnect returns the ends of a connection in memory.
func bubbleConnect(t *testing.T, opts *streamhttp.HandlerOptions, protocols *http.Protocols) (*streamhttp.Client, *serverEnd) {
	h, conns := handler(opts)
	return (&server{conns: conns, client: pipenet.Serve(t, h, protocols)}).connect(t, nil)
}

// exchange sends a request of the client and a response to it.
func exchange(t *testing.T, client, end stream.Stream, ask, answer string) {
	t.Helper()
	require.NoError(t, client.Write([]byte(ask)))
	require.Equal(t, ask, receive(t, end))
	require.NoError(t, end.Write([]byte(answer)))
	require.Equal(t, answer, receive(t, client))
}

// A connection can have any number of sessions, one after the other: the end of a session, and
// one that cannot be loaded, end its event stream at both ends.
func TestSessionsOneAfterTheOther(t *testing.T) {
	for _, resume := range []bool{false, true} {
		for name, protocols := range map[string]*http.Protocols{"HTTP/1.1": nil, "HTTP/2": http2()} {
			for _, method := range []string{"session/close", "session/delete", "session/load"} {
				t.Run(fmt.Sprintf("%s, resume %v, %s", name, resume, method), inBubble(func(t *testing.T) {
					client, end := bubbleConnect(t, &streamhttp.HandlerOptions{Resume: resume}, protocols)
					for n := range 1100 {
						id := fmt.Sprint("s", n)
						answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, 2*n+2)
						if method == "session/load" {
							answer = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32002,"message":"no"}}`, 2*n+2)
						} else {
							exchange(t, client, end, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/new","params":{}}`, 2*n+1),
								fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"sessionId":"%s"}}`, 2*n+1, id))
						}
						exchange(t, client, end, request(2*n+2, method, id), answer)
					}
					synctest.Wait()
					assert.Equal(t, 1, client.Streams())
					all, attached := end.Streams()
					assert.Equal(t, 1, attached)
					assert.LessOrEqual(t, all, 1025, "what the server remembers is bounded")
				}))
			}
		}
	}
}

// A session that was closed can be loaded again, even before the close was answered.
func TestClosedAndLoaded(t *testing.T) {
	for _, resume := range []bool{false, true} {
		t.Run(fmt.Sprint("resume ", resume), inBubble(func(t *testing.T) {
			client, end := bubbleConnect(t, &streamhttp.HandlerOptions{Resume: resume}, nil)
			open(t, client, end)
			update := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"` + session + `"}}`
			go func() { // ends with the connection
				for {
					m, err := end.Features().ReadMessage()
					if err != nil {
						return
					}
					say := func(msg string) { assert.NoError(t, end.Write([]byte(msg))) }
					switch m.Method {
					case "session/close":
						say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID))
					case "session/load":
						say(update)
						say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID))
						say(update)
					default: // the load was answered before the event stream was open again
						say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID))
					}
				}
			}()
			for n := range 10 {
				require.NoError(t, client.Write([]byte(request(10*n+2, "session/close", session))))
				if n%2 == 0 { // before the close was answered
					require.NoError(t, client.Write([]byte(request(10*n+3, "session/load", session))))
				}
				require.Contains(t, receive(t, client), fmt.Sprintf(`"id":%d`, 10*n+2))
				if n%2 == 1 {
					require.NoError(t, client.Write([]byte(request(10*n+3, "session/load", session))))
				}
				require.Equal(t, update, receive(t, client))
				got := []string{receive(t, client), receive(t, client)}
				assert.Contains(t, got, update)
				assert.Contains(t, got, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, 10*n+3))
			}
		}))
	}
}

// A client that keeps the event streams of closed sessions, as that of TypeScript does, can
// still use them. If it has as many as it may, the server ends one of them for a new one.
func TestClosedStreamsMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveRaw(t, nil)
		end := w.connect()
		get := func(session string) int {
			c := w.send(getText(end, session))
			code := w.response(c).StatusCode
			go io.Copy(io.Discard, c) // ends with the connection
			return code
		}
		for n := range 1025 {
			require.Equal(t, 200, get(fmt.Sprint("s", n)))
		}
		require.Equal(t, 429, get("more"))
		for n := range 3 {
			ask := request(n, "session/close", fmt.Sprint("s", n))
			require.Equal(t, 202, <-w.later(end, ask))
			require.Equal(t, ask, receive(t, end))
			require.NoError(t, end.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{}}`, n)))
		}
		synctest.Wait()
		_, attached := end.Streams()
		assert.Equal(t, 1025, attached)
		for n := range 3 {
			require.Equal(t, 200, get(fmt.Sprint("more", n)))
		}
		require.Equal(t, 429, get("more"))
	})
}

// A session that could not be closed goes on.
func TestNotClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, end := bubbleConnect(t, nil, nil)
		open(t, client, end)
		exchange(t, client, end, request(2, "session/close", session), `{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no"}}`)
		synctest.Wait()
		assert.Equal(t, 2, client.Streams())
	})
}

// Messages of the agent for a closed session are sent on the event stream of the connection,
// because the client will not open that of the session.
func TestUpdateAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, end := bubbleConnect(t, nil, nil)
		for n := range 1100 { // more than sessions that may be without a receiver
			id := fmt.Sprint("s", n)
			exchange(t, client, end, request(n, "session/close", id), fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, n))
			synctest.Wait() // the server has seen the end of the event stream
			late := fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s"}}`, id)
			require.NoError(t, end.Write([]byte(late)))
			require.Equal(t, late, receive(t, client))
		}
	})
}
