package streamhttp_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
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

func TestPostFails(t *testing.T) {
	status := func(code int) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { http.Error(w, "because", code) }
	}
	cut := func(http.ResponseWriter) { panic(http.ErrAbortHandler) }
	ask := request(1, "session/prompt", "s")
	note := `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`
	for name, tt := range map[string]struct {
		answer    func(http.ResponseWriter)
		msg       string
		fatal     bool
		session   bool
		uncertain bool
		code      int
	}{
		"500 on a request":      {answer: status(500), msg: ask, code: 500},
		"413 on a request":      {answer: status(413), msg: ask, code: 413},
		"400 on a request":      {answer: status(400), msg: ask, code: 400},
		"409 on a request":      {answer: status(409), msg: ask, code: 409, session: true},
		"cut on a request":      {answer: cut, msg: ask, uncertain: true},
		"401 on a request":      {answer: status(401), msg: ask, code: 401, fatal: true},
		"403 on a request":      {answer: status(403), msg: ask, code: 403, fatal: true},
		"404 on a request":      {answer: status(404), msg: ask, code: 404, fatal: true},
		"410 on a request":      {answer: status(410), msg: ask, code: 410, fatal: true},
		"302 on a request":      {answer: status(302), msg: ask, code: 302},
		"500 on a notification": {answer: status(500), msg: note, code: 500, fatal: true},
		"cut on a notification": {answer: cut, msg: note, fatal: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newScripted(t)
			var posts atomic.Int32
			p.post = func(w http.ResponseWriter, r *http.Request, m stream.Message) bool {
				if string(m.Data) == tt.msg {
					posts.Add(1)
					tt.answer(w)
				}
				return string(m.Data) == tt.msg
			}
			c := p.dial(t, nil)
			require.NoError(t, c.Write([]byte(tt.msg)))
			_, err := c.Read()
			require.Error(t, err)
			l, isLost := errors.AsType[*stream.LostError](err)
			assert.Equal(t, !tt.fatal, isLost, "%v", err)
			assert.Equal(t, tt.uncertain, errors.Is(err, streamhttp.ErrUncertain))
			assert.Equal(t, tt.code, statusOf(err))
			if isLost && tt.session {
				assert.Equal(t, "s", l.SessionID)
			} else if isLost {
				assert.Equal(t, "1", string(l.ID))
			}
			if isLost { // the connection goes on
				require.NoError(t, c.Write([]byte(`{"jsonrpc":"2.0","method":"next"}`)))
				assert.Equal(t, "next", (<-p.posts).Method)
			} else {
				assert.NotErrorIs(t, err, io.EOF)
			}
			assert.Equal(t, int32(1), posts.Load(), "it is never repeated")
		})
	}
}

func TestStreamFails(t *testing.T) {
	refuse := func(code int, session string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Acp-Session-Id") == session {
				http.Error(w, "no", code)
				return true
			}
			return false
		}
	}
	for _, code := range []int{403, 404, 409, 500} {
		t.Run(fmt.Sprint("session ", code), inBubble(func(t *testing.T) {
			p := scriptedInBubble(t)
			p.get = refuse(code, "s")
			c := p.dial(t, nil)
			require.NoError(t, c.Write([]byte(request(1, "session/prompt", "s"))))
			_, err := c.Read()
			require.ErrorAs(t, err, new(*stream.LostError))
			assert.Equal(t, code, statusOf(err))
			require.NoError(t, c.Write([]byte(request(2, "session/prompt", "other"))))
			for m := range p.posts {
				if m.SessionID == "other" {
					break
				}
			}
		}))
		t.Run(fmt.Sprint("connection ", code), inBubble(func(t *testing.T) {
			p := scriptedInBubble(t)
			p.get = refuse(code, "")
			c := p.raw(t, nil)
			require.NoError(t, c.Write([]byte(initialize)))
			_, err := c.Read()
			assert.Equal(t, code, statusOf(err))
		}))
	}
}

// Some servers know a session only after it was loaded.
func TestLoadOfAnUnknownSession(t *testing.T) {
	p := newScripted(t)
	var known sync.Map
	p.get = func(w http.ResponseWriter, r *http.Request) bool {
		id := r.Header.Get("Acp-Session-Id")
		if _, ok := known.Load(id); id == "" || ok {
			return false
		}
		http.Error(w, "not owned", http.StatusForbidden)
		return true
	}
	c := p.dial(t, nil)
	require.NoError(t, c.Write([]byte(request(1, load, "s"))))
	<-p.posts
	known.Store("s", true)
	p.say("", `{"jsonrpc":"2.0","id":1,"result":{}}`)
	barrier := <-p.posts
	p.say("s", `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s"}}`)
	p.say("s", `{"jsonrpc":"2.0","id":`+string(barrier.ID)+`,"result":1}`)
	assert.Contains(t, receive(t, c), "session/update")
	assert.Contains(t, receive(t, c), `"id":1`)
}

func TestCuts(t *testing.T) {
	for name, tt := range map[string]struct {
		session, how string
		clean, fatal bool
	}{
		"session ended":    {session: "s", how: "end"},
		"session cut":      {session: "s", how: "cut"},
		"connection ended": {how: "end", fatal: true, clean: true},
		"connection cut":   {how: "cut", fatal: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := newScripted(t)
			c := p.dial(t, nil)
			require.NoError(t, c.Write([]byte(request(1, "session/prompt", "s"))))
			<-p.posts
			p.on(tt.session) <- tt.how
			if tt.how == "end" && tt.fatal {
				p.on("s") <- "end" // a server that ends all ends this as well
			}
			_, err := c.Read()
			require.Error(t, err)
			_, isLost := errors.AsType[*stream.LostError](err)
			assert.Equal(t, !tt.fatal, isLost)
			assert.Equal(t, tt.clean, errors.Is(err, io.EOF), "%v", err)
			if !tt.fatal {
				require.NoError(t, c.Write([]byte(request(2, "session/prompt", "s"))))
				<-p.posts // the stream is open again
				p.say("s", `{"jsonrpc":"2.0","id":2,"result":{}}`)
				assert.Contains(t, receive(t, c), `"id":2`)
			}
		})
	}
}

// If the server ends the event stream of the connection and not that of a session, messages may be
// missing: the end is an error.
func TestOneStreamDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scriptedInBubble(t)
		c := p.dial(t, nil)
		require.NoError(t, c.Write([]byte(request(1, "session/prompt", "s"))))
		<-p.posts
		began := time.Now()
		p.on("") <- "end"
		p.say("s", cancelNote)
		assert.Equal(t, cancelNote, receive(t, c))
		_, err := c.Read()
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.NotErrorIs(t, err, io.EOF)
		assert.Equal(t, 5*time.Second, time.Since(began))
	})
}

// A stream that is silent is cut.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := scriptedInBubble(t)
		c := p.dial(t, nil)
		began := time.Now()
		_, err := c.Read()
		assert.ErrorContains(t, err, "silent")
		assert.Equal(t, time.Minute, time.Since(began))
	})
}

func TestInitializeFails(t *testing.T) {
	for name, tt := range map[string]struct {
		answer func(w http.ResponseWriter)
		want   string
	}{
		"status": {func(w http.ResponseWriter) { http.Error(w, "", http.StatusServiceUnavailable) }, "503"},
		"202":    {func(w http.ResponseWriter) { w.WriteHeader(202) }, "202"},
		"no id":  {func(w http.ResponseWriter) { io.WriteString(w, initialized) }, "not one of this protocol"},
		"another id": {func(w http.ResponseWriter) {
			w.Header().Set("Acp-Connection-Id", "c")
			io.WriteString(w, strings.Replace(initialized, "0", "1", 1))
		}, "not one of this protocol"},
		"no response": {func(w http.ResponseWriter) { w.Header().Set("Acp-Connection-Id", "c"); io.WriteString(w, initialize) }, "not one of this protocol"},
		"not JSON":    {func(w http.ResponseWriter) { w.Header().Set("Acp-Connection-Id", "c"); io.WriteString(w, "<html>") }, "not one of this protocol"},
		"cut":         {func(w http.ResponseWriter) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newScripted(t)
			p.post = func(w http.ResponseWriter, _ *http.Request, _ stream.Message) bool { tt.answer(w); return true }
			c := p.raw(t, nil)
			assert.Error(t, c.Write([]byte(`{"jsonrpc":"2.0","method":"x"}`)), "initialize comes first")
			require.NoError(t, c.Write([]byte(initialize)))
			_, err := c.Read()
			assert.ErrorContains(t, err, tt.want)
			assert.NotErrorIs(t, err, io.EOF)
			assert.NotContains(t, err.Error(), p.URL, "a URL may hold a secret")
		})
	}
}
