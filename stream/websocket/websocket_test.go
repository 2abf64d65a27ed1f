package websocket_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	raw "github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/streamtest"
	"github.com/acpkit/go-sdk/stream/websocket"
)

func TestContract(t *testing.T) {
	streamtest.Test(t, func() (a, b stream.Stream) { return overTCP(t, 0) })
}

func TestLongMessages(t *testing.T) {
	leak.Check(t)
	client, server := overTCP(t, 0)
	for _, size := range []int{33 << 10, 64<<10 - 1, 64 << 10, 64<<10 + 1, 20 << 20} {
		for _, pair := range [][2]stream.Stream{{client, server}, {server, client}} {
			msg := `{"a":"` + strings.Repeat("x", size) + `"}`
			sent := make(chan error, 1)
			go func() { sent <- pair[0].Write([]byte(msg)) }() // ends when it is read
			got := receive(t, pair[1])
			require.NoError(t, <-sent)
			assert.True(t, msg == got, "%d bytes", size)
		}
	}
}

// A message beyond the limit is skipped, and the error identifies it.
func TestTooLarge(t *testing.T) {
	leak.Check(t)
	client, server := overTCP(t, 100_000)
	for _, size := range []int{100_001, 300_000} {
		for _, pair := range [][2]stream.Stream{{client, server}, {server, client}} {
			msg := fmt.Sprintf(`{"jsonrpc":"2.0","result":"%s","id":7}`, strings.Repeat("x", size-len(`{"jsonrpc":"2.0","result":"","id":7}`)))
			go pair[0].Write([]byte(msg)) // ends when it is read
			_, err := pair[1].Read()
			var long *stream.TooLargeError
			require.ErrorAs(t, err, &long)
			assert.Equal(t, stream.TooLargeError{ID: []byte("7"), HasResult: true, Size: int64(len(msg)), Limit: 100_000}, *long)
			require.NoError(t, pair[0].Write([]byte(`{"n":1}`)))
			assert.Equal(t, `{"n":1}`, receive(t, pair[1]))
		}
	}
	exact := []byte(`{"a":"` + strings.Repeat("x", 100_000-8) + `"}`)
	require.NoError(t, client.Write(exact))
	assert.Len(t, receive(t, server), 100_000)
}

func TestBeforeInitialize(t *testing.T) {
	for name, tt := range map[string]struct {
		send  []string
		reads string // what the server's stream reads first
		code  raw.StatusCode
	}{
		"initialize":                  {[]string{initialize}, initialize, 0},
		"another method":              {[]string{`{"jsonrpc":"2.0","id":1,"method":"session/list"}`}, "", 1002},
		"a notification":              {[]string{`{"jsonrpc":"2.0","method":"x"}`}, "", 1002},
		"initialize without id":       {[]string{`{"jsonrpc":"2.0","method":"initialize","params":{}}`}, "", 1002},
		"no JSON-RPC":                 {[]string{`{"id":1,"method":"initialize"}`}, "", 1002},
		"not JSON":                    {[]string{`{oops`, initialize}, `{oops`, 0},
		"a batch":                     {[]string{`[]`, initialize}, `[]`, 0},
		"a response":                  {[]string{`{"jsonrpc":"2.0","id":4,"result":{}}`, initialize}, initialize, 0},
		"an error":                    {[]string{`{"jsonrpc":"2.0","id":4,"error":{}}`, initialize}, initialize, 0},
		"a response without a result": {[]string{`{"jsonrpc":"2.0","id":4}`, initialize}, initialize, 0},
	} {
		t.Run(name, func(t *testing.T) {
			leak.Check(t)
			client, server := rawConnect(t)
			sendText(t, client, tt.send...)
			if tt.code == 0 {
				assert.Equal(t, tt.reads, receive(t, server))
				return
			}
			closed := make(chan error, 1)
			go func() { // ends with the close
				_, _, err := client.Read(t.Context())
				closed <- err
			}()
			_, err := server.Read()
			assert.Error(t, err)
			assert.Equal(t, tt.code, raw.CloseStatus(<-closed))
		})
	}
}

func TestBinaryFramesAreIgnored(t *testing.T) {
	client, server := rawConnect(t)
	require.NoError(t, client.Write(t.Context(), raw.MessageBinary, []byte(`{"jsonrpc":"2.0","id":1,"method":"x"}`)))
	sendText(t, client, initialize)
	assert.Equal(t, initialize, receive(t, server))
}

func TestHowItEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		end   func(*websocket.Conn, *raw.Conn)
		code  int
		clean bool
	}{
		"normal":        {func(_ *websocket.Conn, c *raw.Conn) { c.Close(1000, "") }, 1000, true},
		"going away":    {func(_ *websocket.Conn, c *raw.Conn) { c.Close(1001, "bye") }, 1001, true},
		"without code":  {func(_ *websocket.Conn, c *raw.Conn) { c.Close(raw.StatusNoStatusRcvd, "") }, 1005, true},
		"limit":         {func(_ *websocket.Conn, c *raw.Conn) { c.Close(1008, "too much") }, 1008, false},
		"failure":       {func(_ *websocket.Conn, c *raw.Conn) { c.Close(1011, "") }, 1011, false},
		"cut":           {func(_ *websocket.Conn, c *raw.Conn) { c.CloseNow() }, 0, false},
		"our own close": {func(s *websocket.Conn, _ *raw.Conn) { s.CloseWith(1001, "bye") }, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			leak.Check(t)
			client, server := rawConnect(t)
			exchange(t, client, server, initialize, initialized)
			seen := make(chan error, 1)
			if name == "our own close" {
				go func() { _, _, err := client.Read(t.Context()); seen <- err }() // ends with the close
			}
			tt.end(server, client)
			_, err := server.Read()
			assert.Equal(t, tt.clean, errors.Is(err, io.EOF), "%v", err)
			var closed *websocket.CloseError
			assert.Equal(t, tt.code != 0, errors.As(err, &closed))
			if closed != nil {
				assert.Equal(t, tt.code, closed.Code)
			}
			switch name {
			case "cut":
				assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
			case "our own close":
				assert.ErrorIs(t, err, stream.ErrClosed)
				assert.Equal(t, raw.StatusGoingAway, raw.CloseStatus(<-seen))
			}
			assert.NoError(t, server.Close())
			assert.Error(t, server.Write([]byte(`{}`)))
		})
	}
}

func TestHandshake(t *testing.T) {
	type key struct{}
	var got http.Header
	given := make(chan string, 1) // the id of the connection
	handler, conns := accepting(nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		handler(w, r)
		given <- w.Header().Get("Acp-Connection-Id")
	}))
	defer s.Close()
	client := &http.Client{}
	opts := &websocket.DialOptions{Client: client, Header: func(ctx context.Context) (http.Header, error) {
		return http.Header{"Authorization": {ctx.Value(key{}).(string)}}, nil
	}}
	ctx := context.WithValue(t.Context(), key{}, "Bearer x")
	c, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(s.URL, "http"), opts)
	require.NoError(t, err)
	server := <-conns
	assert.Equal(t, "Bearer x", got.Get("Authorization"))
	assert.Empty(t, got.Values("Origin"))
	assert.Empty(t, got.Values("Sec-Websocket-Extensions"), "no compression")
	assert.GreaterOrEqual(t, len(<-given), 22, "an id of 128 bits")
	assert.Nil(t, client.Jar, "the options are not changed")
	require.NoError(t, c.Close())
	require.NoError(t, server.Close())

	broken := errors.New("no token")
	_, err = websocket.Dial(ctx, s.URL, &websocket.DialOptions{Header: func(context.Context) (http.Header, error) { return nil, broken }})
	assert.ErrorIs(t, err, broken)
	_, err = websocket.Dial(ctx, "ws://user:secret@host/", nil)
	assert.ErrorContains(t, err, "DialOptions.Header")
	_, err = websocket.Dial(ctx, "ws://user:sec ret@host/", nil)
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "ret")
}

// Cookies of the handshake come back with the next one.
func TestCookies(t *testing.T) {
	var got []string
	handler, conns := accepting(nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Cookie"))
		http.SetCookie(w, &http.Cookie{Name: "pod", Value: "7"})
		handler(w, r)
	}))
	defer s.Close()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	for range 2 {
		c, err := websocket.Dial(t.Context(), s.URL, &websocket.DialOptions{Jar: jar})
		require.NoError(t, err)
		server := <-conns
		require.NoError(t, c.Close())
		require.NoError(t, server.Close())
	}
	assert.Equal(t, []string{"", "pod=7"}, got)
}

func TestRefusedHandshake(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			return
		}
		http.Error(w, "who are you?", http.StatusUnauthorized)
	}))
	defer s.Close()
	for path, want := range map[string]int{"/": 401, "/moved": 307} {
		_, err := websocket.Dial(t.Context(), s.URL+path, nil)
		var status *stream.StatusError
		require.ErrorAs(t, err, &status)
		assert.Equal(t, want, status.Code)
		assert.Equal(t, want == 401, status.Body == "who are you?\n")
	}
}

func TestOrigins(t *testing.T) {
	handler, conns := accepting(&websocket.AcceptOptions{AllowedOrigins: []string{"https://good.example"}})
	s := httptest.NewServer(handler)
	defer s.Close()
	for origin, allowed := range map[string]bool{
		"": true, s.URL: true, "https://good.example": true, "https://evil.example": false, "http://good.example": false,
		"null": false, "https://good.example.evil.example": false, "file://": false,
	} {
		header := http.Header{}
		if origin != "" {
			header.Set("Origin", origin)
		}
		c, resp, err := raw.Dial(t.Context(), s.URL, &raw.DialOptions{HTTPHeader: header})
		assert.Equal(t, allowed, err == nil, "%q: %v", origin, err)
		if err != nil {
			assert.Equal(t, 403, resp.StatusCode)
			continue
		}
		server := <-conns
		c.CloseNow()
		server.Close()
	}
}

// A text frame is UTF-8.
func TestBadUTF8IsReplaced(t *testing.T) {
	client, server := overTCP(t, 0)
	require.NoError(t, client.Write([]byte("{\"a\":\"x\xff\xfey\"}")))
	assert.Equal(t, `{"a":"x`+"\ufffd\ufffd"+`y"}`, receive(t, server))
}

// Two idle ends keep each other alive.
func TestIdleConnectionLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := overPipe(t)
		time.Sleep(time.Hour)
		go client.Write([]byte(`{"n":1}`)) // ends when it is read
		assert.Equal(t, `{"n":1}`, receive(t, server))
	})
}

// writeMany writes a message 20 times, and returns where the error arrives.
func writeMany(s stream.Stream, msg []byte) <-chan error {
	sent := make(chan error, 1)
	go func() { // ends when all is read
		var err error
		for i := 0; i < 20 && err == nil; i++ {
			err = s.Write(msg)
		}
		sent <- err
	}()
	return sent
}

// A reader that pauses for longer than the limit does not end the connection: its
// own limit does not run, and because of its pings the peer does not give up.
func TestPausedReaderLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := overPipe(t)
		msg := bytes.Repeat([]byte("x"), 300_000)
		sent := writeMany(server, msg)
		time.Sleep(10 * time.Minute)
		for range 20 {
			assert.Len(t, receive(t, client), len(msg))
		}
		require.NoError(t, <-sent)
		time.Sleep(10 * time.Minute)
		go server.Write([]byte(`{"n":1}`)) // ends when it is read
		assert.Equal(t, `{"n":1}`, receive(t, client))
	})
}

// When neither end reads, pings meet writes that are stuck. Nothing breaks.
func TestBothPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := overPipe(t)
		msg := bytes.Repeat([]byte("x"), 300_000)
		first, second := writeMany(client, msg), writeMany(server, msg)
		time.Sleep(5 * time.Minute)
		for range 20 {
			assert.Len(t, receive(t, client), len(msg))
		}
		for range 20 {
			assert.Len(t, receive(t, server), len(msg))
		}
		require.NoError(t, <-first)
		require.NoError(t, <-second)
	})
}

func TestSilentPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := rawOverPipe(t, 0) // it does not read, so it does not answer pings
		sendText(t, client, initialize)
		assert.Equal(t, initialize, receive(t, server))
		began := time.Now()
		_, err := server.Read()
		assert.ErrorContains(t, err, "nothing was received for too long")
		assert.Equal(t, time.Minute, time.Since(began), "the first ping after 45 s")
		assert.Error(t, server.Write([]byte(`{}`)))
	})
}

// What is read ahead is bounded by the memory that it takes, however short it is, and also
// if it is too long to be kept.
func TestReadAheadIsBounded(t *testing.T) {
	for name, msg := range map[string]string{"empty": "", "short": "{}", "too long": strings.Repeat("x", 17)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const many = 100_000
				client, _ := rawOverPipe(t, 16)
				var sent atomic.Int32
				ended := make(chan struct{})
				go func() { // ends with the connection
					defer close(ended)
					for range many {
						if client.Write(t.Context(), raw.MessageText, []byte(msg)) != nil {
							return
						}
						sent.Add(1)
					}
				}()
				synctest.Wait()
				assert.Less(t, sent.Load(), int32(many), "the peer is not slowed down")
				client.CloseNow()
				<-ended
			})
		})
	}
}

// A ping that arrives while a refusal is written is answered when that is done, and the
// other way round.
func TestPongAndRefusalLeaveBoth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := rawOverPipe(t, 0)
		got := make(chan string, 10)
		pong := make(chan struct{}, 1)
		sendText(t, client, initialize)
		assert.Equal(t, initialize, receive(t, server))
		go server.Read() // refuses what follows; ends with the connection

		// Nothing is read, so that the refusal is being written when the ping arrives.
		sendText(t, client, initialize)
		synctest.Wait()
		go func() { // ends with the pong, or with the connection
			if client.Ping(t.Context()) == nil {
				pong <- struct{}{}
			}
		}()
		synctest.Wait()
		go func() { // ends with the connection
			for {
				_, msg, err := client.Read(t.Context())
				if err != nil {
					return
				}
				got <- string(msg)
			}
		}()
		began := time.Now()
		assert.Contains(t, <-got, `"code":-32600`)
		<-pong
		assert.Zero(t, time.Since(began))
	})
}
