package flood_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/stream"
)

// slowReader reads a little now and then.
type slowReader struct {
	r     io.Reader
	chunk int
}

func (s *slowReader) Read(b []byte) (int, error) { return s.r.Read(b[:min(len(b), s.chunk)]) }

// Over a pipe of the operating system a write stops in the middle of a frame when
// the peer does not read. Whoever leaves then, the frames stay whole.
func TestNoFrameIsCut(t *testing.T) {
	leak.Check(t)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	idle, idleWriter, err := os.Pipe() // the agent never says anything
	require.NoError(t, err)
	t.Cleanup(func() { _ = idleWriter.Close() })
	c := pairtest.StartClient(t, stream.Lines(idle, w, nil), pairtest.Setup{
		ClientOptions: client.Options{Limits: acp.Limits{SendQueue: 300_000}},
	})
	var sent sync.Map
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			for k := 0; ctx.Err() == nil; k++ {
				id := strconv.Itoa(i) + "." + strconv.Itoa(k)
				if c.Notify(ctx, "_frame", []string{id, strings.Repeat("x", 1+(i*7919+k*104729)%150_000)}) == nil {
					sent.Store(id, true)
				}
			}
		})
	}
	wg.Wait()
	read := make(chan map[string]bool)
	go func() { // ends with the pipe
		got := map[string]bool{}
		s := stream.Lines(&slowReader{r, 10_000}, nil, nil)
		for {
			msg, err := s.Read()
			if err != nil {
				assert.ErrorIs(t, err, io.EOF)
				read <- got
				return
			}
			var m struct{ Params []string }
			if !assert.NoError(t, json.Unmarshal(msg, &m), "%.100s", msg) {
				continue
			}
			got[m.Params[0]] = true
		}
	}()
	require.NoError(t, c.Close()) // what was accepted is still written
	got := <-read
	n := 0
	sent.Range(func(id, _ any) bool {
		n++
		assert.True(t, got[id.(string)], "%s was accepted and is lost", id)
		return true
	})
	assert.Len(t, got, n, "what was not accepted was not written")
	assert.Positive(t, n)
	_ = r.Close()
}

// A peer that reads too slowly for what it is sent is no such peer.
func TestSlowPeerIsNotCutOff(t *testing.T) {
	pairtest.Bubble(t, func(t *testing.T) {
		near, far := stream.Pipe()
		c := pairtest.StartAgent(t, near, pairtest.Setup{AgentOptions: agent.Options{Limits: acp.Limits{SendQueue: 1 << 20}}})
		const n, text = 50, 200_000
		go func() { // ends when all were read
			for range n {
				time.Sleep(20 * time.Second)
				_, err := far.Read()
				assert.NoError(t, err)
			}
		}()
		for i := range n {
			require.NoError(t, c.SessionUpdate(t.Context(), numbered("s", i, text)))
		}
		synctest.Wait()
		require.NoError(t, c.Err())
		time.Sleep(n * 20 * time.Second)
		require.NoError(t, c.Err())
	})
}

// Nor is one that takes minutes for one message, while others wait.
func TestLongMessageOverASlowLink(t *testing.T) {
	pairtest.Bubble(t, func(t *testing.T) {
		r, w := io.Pipe()
		idle, _ := io.Pipe()
		c := pairtest.StartAgent(t, stream.Lines(idle, w, nil), pairtest.Setup{})
		read := make(chan int, 1)
		go func() { // ends with the pipe
			n, buf := 0, make([]byte, 100_000)
			for {
				time.Sleep(10 * time.Second)
				k, err := r.Read(buf)
				if n += k; err != nil {
					read <- n
					return
				}
			}
		}()
		begun := time.Now()
		const size = 20 << 20
		require.NoError(t, c.SessionUpdate(t.Context(), numbered("s", 0, size)))
		require.NoError(t, c.SessionUpdate(t.Context(), numbered("s", 1, 10)), "it had to wait for room")
		assert.Greater(t, time.Since(begun), 30*time.Minute)
		require.NoError(t, c.Err())
		require.NoError(t, c.Close())
		assert.Greater(t, <-read, size)
	})
}

// A peer that closes its reading side: writing fails, and the process lives.
func TestPeerThatClosedItsReadingSide(t *testing.T) {
	leak.Check(t)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	in, inWriter, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = inWriter.Close() })
	c := pairtest.StartAgent(t, stream.Lines(in, w, nil), pairtest.Setup{})
	require.NoError(t, r.Close())
	for err == nil {
		err = c.SessionUpdate(t.Context(), numbered("s", 0, 1000))
	}
	require.ErrorIs(t, err, acp.ErrClosed)
	err = c.Wait()
	require.ErrorIs(t, err, acp.ErrClosed)
	assert.ErrorIs(t, err, syscall.EPIPE)
}
