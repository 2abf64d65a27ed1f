package streamhttp_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream"
)

// A response that arrives on the stream of the connection waits for the messages that the server
// has sent before on the stream of its session.
func TestBarrier(t *testing.T) {
	p := newScripted(t)
	c := p.dial(t, nil)
	require.NoError(t, c.Write([]byte(request(1, load, "s"))))
	<-p.posts
	p.say("", `{"jsonrpc":"2.0","id":1,"result":{}}`)
	barrier := <-p.posts
	assert.Equal(t, stream.KindRequest, barrier.Kind)
	assert.Equal(t, "s", barrier.SessionID)
	assert.Equal(t, byte('"'), barrier.ID[0], "the id is a string")
	for n := range 2000 {
		p.say("s", fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","n":%d}}`, n))
	}
	p.say("s", `{"jsonrpc":"2.0","id":`+string(barrier.ID)+`,"error":{"code":-32601,"message":"Method not found"}}`)
	for n := range 2000 {
		assert.Contains(t, receive(t, c), fmt.Sprintf(`"n":%d}`, n))
	}
	assert.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, receive(t, c))
}

// A response whose barrier comes to nothing is delivered if no update can be missing, else its call fails.
func TestBarrierIsNotPassed(t *testing.T) {
	answer := func(code int) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", code) }
	}
	for name, tt := range map[string]struct {
		post func(http.ResponseWriter, *http.Request) // the barrier
		then string                                   // on the event stream of the session
		want string                                   // the error, or "" if the response is delivered
		took time.Duration
	}{
		"it is refused":                      {post: answer(400)},
		"the server cannot take it":          {post: answer(502), want: "502"},
		"its network connection is cut":      {post: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, want: "EOF"},
		"the event stream ends":              {then: "end"},
		"the event stream is cut":            {then: "cut", want: "cut"},
		"nothing comes back":                 {want: "does not say", took: 30 * time.Second},
		"something else comes back, in time": {then: "data: " + cancelNote + "\n\n", want: "does not say", took: 60 * time.Second},
	} {
		t.Run(name, inBubble(func(t *testing.T) {
			p := scriptedInBubble(t)
			p.keepAlive = 15 * time.Second
			p.post = func(w http.ResponseWriter, r *http.Request, m stream.Message) bool {
				if tt.post == nil || m.Method != "_acpkit/barrier" {
					return false
				}
				tt.post(w, r)
				return true
			}
			c := p.dial(t, nil)
			require.NoError(t, c.Write([]byte(request(1, load, "s"))))
			<-p.posts
			p.say("", `{"jsonrpc":"2.0","id":1,"result":{}}`)
			if tt.post == nil {
				<-p.posts
			}
			began := time.Now()
			if tt.then != "" {
				p.on("s") <- tt.then
			}
			if strings.Contains(tt.then, cancelNote) {
				assert.Equal(t, cancelNote, receive(t, c))
			}
			if tt.want == "" {
				assert.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, receive(t, c))
			} else {
				l := lost(t, c)
				assert.Equal(t, "1", string(l.ID))
				assert.ErrorContains(t, l, tt.want)
			}
			assert.Equal(t, tt.took, time.Since(began))
		}))
	}
}

// The event stream of a subagent's session is opened when an update announces it.
func TestSubagent(t *testing.T) {
	p := newScripted(t)
	c := p.dial(t, nil)
	require.NoError(t, c.Write([]byte(request(1, "session/prompt", "s"))))
	<-p.posts
	text := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"x","sessionId":"other","text":"subagent_update"}}}`
	p.say("s", text)
	assert.Equal(t, text, receive(t, c))
	announced := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"subagent_update","sessionId":"child"}}}`
	p.say("s", announced)
	assert.Equal(t, announced, receive(t, c))
	said := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"child","update":{"sessionUpdate":"x"}}}`
	p.say("child", said)
	assert.Equal(t, said, receive(t, c))
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.headers {
		assert.NotEqual(t, "other", h.Get("Acp-Session-Id"), "it was not announced")
	}
}

// A cancel that overtakes its request is held until the request has come. One whose request was answered
// is delivered at once, and so is the oldest if too many are held.
func TestCancelIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scriptedInBubble(t)
		c := p.dial(t, nil)
		require.NoError(t, c.Write([]byte(request(1, "session/prompt", "s"))))
		<-p.posts
		cancel := func(id string) string {
			return `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"` + id + `"}}`
		}
		asked := `{"jsonrpc":"2.0","id":"a","method":"session/request_permission","params":{"sessionId":"s"}}`
		p.say("", cancel("a"))
		p.say("", `{"jsonrpc":"2.0","method":"_x"}`)
		assert.Contains(t, receive(t, c), "_x")
		time.Sleep(30 * time.Second)
		p.say("s", asked)
		assert.Equal(t, asked, receive(t, c))
		assert.Equal(t, cancel("a"), receive(t, c))
		p.say("", cancel("a")) // the request is there
		assert.Equal(t, cancel("a"), receive(t, c))
		require.NoError(t, c.Write([]byte(`{"jsonrpc":"2.0","id":"a","result":{}}`)))
		p.say("", cancel("a")) // it was answered
		assert.Equal(t, cancel("a"), receive(t, c))
		p.say("", cancel("b"))
		for n := range 1024 {
			p.say("", cancel(fmt.Sprint("c", n)))
		}
		assert.Equal(t, cancel("b"), receive(t, c))
	})
}
