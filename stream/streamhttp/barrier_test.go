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

func TestBarrierIsNotWaitedForInVain(t *testing.T) {
	response := `{"jsonrpc":"2.0","id":1,"result":{}}`
	for name, tt := range map[string]struct {
		post func(w http.ResponseWriter, r *http.Request, m stream.Message) bool
		then func(p *scriptedServer)
		want time.Duration // from the last message until the response is delivered
	}{
		"it is refused": {post: func(w http.ResponseWriter, _ *http.Request, m stream.Message) bool {
			if strings.HasPrefix(m.Method, "_") {
				http.Error(w, "no", 400)
				return true
			}
			return false
		}},
		"the stream ends":    {then: func(p *scriptedServer) { p.on("s") <- "end" }},
		"nothing comes back": {want: 5 * time.Second},
	} {
		t.Run(name, inBubble(func(t *testing.T) {
			p := scriptedInBubble(t)
			p.post = tt.post
			c := p.dial(t, nil)
			require.NoError(t, c.Write([]byte(request(1, load, "s"))))
			<-p.posts
			p.say("", response)
			if tt.post == nil {
				<-p.posts
			}
			if tt.then != nil {
				tt.then(p)
			}
			began := time.Now()
			assert.Equal(t, response, receive(t, c))
			assert.GreaterOrEqual(t, time.Since(began), tt.want)
			assert.LessOrEqual(t, time.Since(began), tt.want+500*time.Millisecond, "it is looked at four times a second")
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

// A response on the stream of its session needs no barrier.
func TestNoBarrierOnTheSession(t *testing.T) {
	p := newScripted(t)
	c := p.dial(t, nil)
	require.NoError(t, c.Write([]byte(request(1, load, "s"))))
	<-p.posts
	p.say("s", `{"jsonrpc":"2.0","id":1,"result":{}}`)
	receive(t, c)
	assert.Empty(t, p.posts)
}

// A cancel that overtakes its request is held until the request has come.
func TestCancelIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scriptedInBubble(t)
		c := p.dial(t, nil)
		require.NoError(t, c.Write([]byte(request(1, "session/prompt", "s"))))
		<-p.posts
		cancel := `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"a"}}`
		asked := `{"jsonrpc":"2.0","id":"a","method":"session/request_permission","params":{"sessionId":"s"}}`
		p.say("", cancel)
		p.say("", `{"jsonrpc":"2.0","method":"_x"}`)
		assert.Contains(t, receive(t, c), "_x")
		p.say("s", asked)
		assert.Equal(t, asked, receive(t, c))
		assert.Equal(t, cancel, receive(t, c))
		p.say("", cancel) // the request is there
		assert.Equal(t, cancel, receive(t, c))
		began := time.Now()
		unknown := strings.Replace(cancel, `"a"`, `"b"`, 1)
		p.say("", unknown)
		assert.Equal(t, unknown, receive(t, c))
		assert.Equal(t, time.Second, time.Since(began))
	})
}
