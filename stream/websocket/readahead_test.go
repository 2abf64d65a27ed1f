package websocket_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	raw "github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
)

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
