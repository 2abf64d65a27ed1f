package websocket_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	raw "github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/pipenet"
	"github.com/acpkit/go-sdk/stream/websocket"
)

// rawOverPipe connects a client without the stream in memory.
func rawOverPipe(t *testing.T, opts websocket.Options) (*raw.Conn, *websocket.Conn) {
	handler, conns := accepting(&websocket.AcceptOptions{Options: opts})
	listener := pipenet.Listen()
	s := &http.Server{Handler: handler}
	go s.Serve(listener) // ends with the test
	transport := &http.Transport{DialContext: listener.DialContext}
	t.Cleanup(func() { transport.CloseIdleConnections(); s.Close() })
	client, _, err := raw.Dial(t.Context(), "ws://server", &raw.DialOptions{HTTPClient: &http.Client{Transport: transport}})
	require.NoError(t, err)
	server := <-conns
	t.Cleanup(func() { client.CloseNow(); server.Close() })
	return client, server
}

// What is read ahead is bounded by the memory that it takes, however short it is, and also
// if it is too long to be kept.
func TestReadAheadIsBounded(t *testing.T) {
	for name, msg := range map[string]string{"empty": "", "short": "{}", "too long": strings.Repeat("x", 17)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const many = 100_000
				client, _ := rawOverPipe(t, websocket.Options{MaxMessage: 16})
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
		client, server := rawOverPipe(t, websocket.Options{PingInterval: time.Hour, Timeout: 2 * time.Hour})
		got := make(chan string, 10)
		pong := make(chan struct{}, 1)
		send := func(msg string) { require.NoError(t, client.Write(t.Context(), raw.MessageText, []byte(msg))) }
		send(initialize)
		assert.Equal(t, initialize, receive(t, server))
		go server.Read() // refuses what follows; ends with the connection

		// Nothing is read, so that the refusal is being written when the ping arrives.
		send(initialize)
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
