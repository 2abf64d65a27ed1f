package streamhttp_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream"
)

// line is one line of a recorded conversation.
type line struct {
	Dir, Kind, Stream, Method, Raw string
	X, Status                      int
	Headers                        map[string]string
}

// transcripts are the recorded conversations between the client and the server of the
// TypeScript SDK.
func transcripts(t *testing.T, visit func(t *testing.T, name string, lines []line)) {
	paths, err := filepath.Glob("testdata/transcripts/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		t.Run(name, func(t *testing.T) {
			file, err := os.Open(path)
			require.NoError(t, err)
			defer file.Close()
			var lines []line
			in := bufio.NewScanner(file)
			in.Buffer(nil, 1<<20)
			for in.Scan() {
				var l line
				require.NoError(t, json.Unmarshal(in.Bytes(), &l))
				lines = append(lines, l)
			}
			require.NoError(t, in.Err())
			synctest.Test(t, func(t *testing.T) { visit(t, name, lines) })
		})
	}
}

// response returns the recorded response to a request.
func response(lines []line, request line) line {
	for _, l := range lines {
		if l.Kind == "http-response" && l.X == request.X {
			return l
		}
	}
	return line{}
}

// Our server gets what the recorded one got and sends what it sent. Each message arrives on the same
// event stream.
func TestReplayToServer(t *testing.T) {
	transcripts(t, func(t *testing.T, name string, lines []line) {
		s := bubble(t, nil)
		c := s.raw(t)
		var end *serverEnd
		open := map[int]*rawEvents{}
		where := map[string]*rawEvents{} // the open stream of a label
		asked := map[string]*rawEvents{} // the stream of a request of the agent, by id, and of the latest elicitation
		loads := map[string]string{}     // the streams of the responses to session/load, by id
		recorded := ""                   // the id that the recorded server gave
		for _, l := range lines {
			if l.Stream == "ws" {
				break // the rest of the probe is about WebSocket
			}
			switch l.Kind {
			case "http-request":
				want := response(lines, l).Status
				var header []string
				for _, k := range []string{"content-type", "accept", "acp-session-id"} {
					header = append(header, k, l.Headers[k])
				}
				if id := l.Headers["acp-connection-id"]; id != recorded || id == "" {
					header = append(header, "acp-connection-id", id)
				}
				m := stream.ParseMessage([]byte(l.Raw))
				if l.Method == "POST" && m.Method == "initialize" && want == 200 {
					end = replayInitialize(t, s, c, l.Raw, response(lines, l).Raw)
					recorded = response(lines, l).Headers["acp-connection-id"]
					continue
				}
				resp := c.request(l.Method, l.Raw, header...)
				assert.Contains(t, allowed(l, m, want), resp.StatusCode, "%s %s %s", l.Method, l.Stream, l.Raw)
				if resp.StatusCode == 200 && l.Method == "GET" {
					open[l.X] = &rawEvents{t: t, resp: resp, r: bufio.NewReader(resp.Body)}
					where[l.Stream] = open[l.X]
				}
				if resp.StatusCode == 202 && l.Method == "POST" {
					assert.Equal(t, l.Raw, receive(t, end))
					if m.Method == "session/load" {
						loads[string(m.ID)] = "session:" + m.SessionID
					}
				}
			case "sse-event":
				m := stream.ParseMessage([]byte(l.Raw))
				require.NoError(t, end.Write([]byte(l.Raw)))
				on := where[l.Stream]
				if session := loads[string(m.ID)]; m.IsResponse() && where[session] != nil {
					on = where[session] // behind the replay
				}
				switch {
				case m.CancelID != nil: // it goes where its request went
					on = asked[string(m.CancelID)]
				case m.Method == "elicitation/complete":
					on = asked["elicitation"]
				case m.Method == "elicitation/create":
					asked["elicitation"] = on
				}
				if m.Kind == stream.KindRequest {
					asked[string(m.ID)] = on
				}
				require.NotNil(t, on, l.Stream)
				assert.Equal(t, l.Raw, on.next())
			case "sse-abort":
				if e := open[l.X]; e != nil {
					e.resp.Body.Close()
					delete(where, l.Stream)
					synctest.Wait() // the server sees it
				}
			}
		}
		if end != nil {
			end.Close()
		}
	})
}

// replayInitialize initializes a connection as it was recorded.
func replayInitialize(t *testing.T, s *server, c *rawClient, request, response string) *serverEnd {
	t.Helper()
	answered := c.later(request, "Acp-Connection-Id", "")
	end := <-s.conns
	t.Cleanup(func() { end.Close() })
	assert.Equal(t, request, receive(t, end))
	require.NoError(t, end.Write([]byte(response)))
	resp := <-answered
	assert.Equal(t, 200, resp.StatusCode)
	c.id = resp.Header.Get("Acp-Connection-Id")
	return end
}

// allowed returns the statuses that our server may respond with: that of the recorded server, and
// others where we differ on purpose.
func allowed(l line, m stream.Message, want int) []int {
	switch {
	case want == 400 && strings.HasPrefix(l.Raw, "["):
		return []int{501}
	case want == 400 && m.IsResponse():
		return []int{202} // the id is enough, and is forgotten with the first response
	case want == 400 && m.SessionID != "" && l.Headers["acp-session-id"] == "" && len(m.SessionID) <= 1024:
		return []int{202} // params say it
	case l.Headers["origin"] != "":
		return []int{want, 403}
	}
	return []int{want}
}

// Our client sends the messages of the recorded client, with the headers that the recorded server
// requires, and reads the recorded responses.
func TestReplayToClient(t *testing.T) {
	transcripts(t, func(t *testing.T, name string, lines []line) {
		if name == "ts-http-probe" {
			return // its requests are wrong on purpose: our client cannot make them
		}
		p := scriptedInBubble(t)
		first := ""
		p.post = func(w http.ResponseWriter, r *http.Request, m stream.Message) bool {
			if m.Method != "initialize" {
				return false
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Acp-Connection-Id", "c1")
			w.Write([]byte(first))
			return true
		}
		c := p.raw(t, nil)
		for _, l := range lines {
			switch {
			case l.Kind == "http-request" && l.Method == "POST":
				m := stream.ParseMessage([]byte(l.Raw))
				if m.Method == "initialize" {
					first = response(lines, l).Raw
					require.NoError(t, c.Write([]byte(l.Raw)))
					assert.Equal(t, first, receive(t, c))
					continue
				}
				require.NoError(t, c.Write([]byte(l.Raw)))
				assert.Equal(t, l.Raw, string((<-p.posts).Data))
				p.mu.Lock()
				for i := len(p.headers) - 1; i >= 0; i-- {
					if h := p.headers[i]; h.Get("Content-Type") != "" { // the last POST
						assert.Equal(t, l.Headers["acp-session-id"], h.Get("Acp-Session-Id"), l.Raw)
						break
					}
				}
				p.mu.Unlock()
			case l.Kind == "sse-event":
				session := strings.TrimPrefix(strings.TrimPrefix(l.Stream, "conn"), "session:")
				synctest.Wait() // the handler of an event stream that the client has left must not take the event
				p.say(session, l.Raw)
				m := stream.ParseMessage([]byte(l.Raw))
				if m.IsResponse() && session == "" {
					// The response of a session that comes here waits for a barrier.
					select {
					case b := <-p.posts:
						p.say(b.SessionID, `{"jsonrpc":"2.0","id":`+string(b.ID)+`,"error":{"code":-32601,"message":"x"}}`)
					case <-time.After(100 * time.Millisecond):
					}
				}
				assert.Equal(t, l.Raw, receive(t, c))
			}
		}
	})
}
