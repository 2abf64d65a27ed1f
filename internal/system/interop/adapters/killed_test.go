package adapters_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/supervise"
	"github.com/acpkit/go-sdk/client/thread"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/stream"
)

// An agent that is killed in the middle of a turn is started again by the supervisor, and knows
// the conversation.
func TestKilledAndSupervised(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a *adapter) {
		place := newWorkplace(t, a)
		ctx, cancel := context.WithTimeout(context.Background(), conversationTimeout)
		defer cancel()
		h, err := host.Open(nil)
		require.NoError(t, err)
		defer h.Close()
		var pid atomic.Int64
		threads := new(thread.Set)
		returned := make(chan supervise.Return, 1)
		s := supervise.New(&supervise.Options{
			Client: func(c *client.Conn) acp.Client { return threads.Client(h.Client(c)) },
			Dial: func(context.Context) (stream.Stream, error) {
				p, err := stream.Command(place.command(), nil)
				if err != nil {
					return nil, err
				}
				pid.Store(int64(p.PID()))
				return p, nil
			},
			Conn:     &client.Options{Sending: []acp.Middleware{threads.Sending}},
			Restart:  supervise.Restart{Min: time.Millisecond},
			OnReturn: func(r supervise.Return) { returned <- r },
		})
		require.NoError(t, s.Start(ctx))
		session, err := s.Open(ctx, &supervise.SessionOptions{Cwd: place.dir})
		require.NoError(t, err)
		require.NoError(t, session.SetConfigOption(ctx, "mode", acp.SessionConfigValueID(a.asking)))
		turn, err := session.Prompt(ctx, acp.Text(scriptMark+"say"))
		require.NoError(t, err)
		_, err = turn.Wait()
		require.NoError(t, err)

		turn, err = session.Prompt(ctx, acp.Text(scriptMark+"wait"))
		require.NoError(t, err)
		said := ""
		for u := range turn.Updates() {
			if chunk, ok := u.(*acp.AgentMessageChunk); ok {
				if said += acp.PlainText(chunk.Content); said == "I wait." {
					break // the model waits now
				}
			}
		}
		kill(t, int(pid.Load()))
		_, err = turn.Wait()
		var exit *stream.ExitError
		assert.ErrorAs(t, err, &exit)
		assert.ErrorIs(t, err, acp.ErrClosed)

		back := <-returned
		assert.NoError(t, back.Err)
		assert.NoError(t, back.Settings)
		assert.NotEqual(t, supervise.HowNew, back.How, "%v", back.Lost)
		assert.Equal(t, back.OldID, back.NewID)
		turn, err = session.Prompt(ctx, acp.Text(scriptMark+"say"))
		require.NoError(t, err)
		text, err := turn.Text()
		require.NoError(t, err)
		assert.Contains(t, text, "One two three.")
		assert.Contains(t, messages(threads.Thread(session.ID()).Snapshot()), "agent: I wait.")
		assert.NoError(t, s.Close())
		assert.NoError(t, s.Wait())
	})
}

// In version 2 the same turn fails with the same error, and another process knows the
// conversation.
func TestKilledInVersion2(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a *adapter) {
		place := newWorkplace(t, a)
		var pid int
		c := converseOver(t, place, func(_ *testing.T, s stream.Stream) stream.Stream {
			pid = s.(*stream.Process).PID()
			return s
		})
		c.dies = true
		c.start(t)
		c.text(t)
		turn := c.prompt("wait")
		waits(t, turn)
		kill(t, pid)
		_, err := turn.Wait()
		var exit *stream.ExitError
		assert.ErrorAs(t, err, &exit)
		assert.ErrorIs(t, err, acp2.ErrClosed)

		again := converse(t, place, &recording{place: place})
		again.resume(t, c.session.ID())
	})
}

func kill(t *testing.T, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	require.NoError(t, err)
	require.NoError(t, p.Kill())
}

// With -record the conversations with the agents of this folder become the transcripts
// that TestReplay and others play:
//
//	ACPKIT_INTEROP_ADAPTERS=1 go test ./internal/system/interop/adapters -record
var record = flag.Bool("record", false, "write what the agents of this folder say to testdata, with filler for texts")

// recording holds the messages exchanged with the processes of one agent. It is safe for
// concurrent use.
type recording struct {
	place *workplace
	begin time.Time // of the process

	mu    sync.Mutex // guards lines
	lines []any
}

// tap records the messages of a process that was just started.
func (r *recording) tap(s stream.Stream, label string) stream.Stream {
	r.begin = time.Now()
	r.add(struct {
		T     float64  `json:"t"`
		Dir   string   `json:"dir"`
		Event string   `json:"event"`
		Argv  []string `json:"argv"`
		Label string   `json:"label"`
	}{0, "meta", "start", []string{r.place.adapter.name}, label})
	return stream.Tap(s, func(d stream.Direction, msg []byte) {
		dir := "send"
		if d == stream.Received {
			dir = "recv"
		}
		r.add(struct {
			T   float64 `json:"t"`
			Dir string  `json:"dir"`
			Raw string  `json:"raw"`
		}{float64(time.Since(r.begin).Milliseconds()) / 1000, dir, r.clean(msg)})
	})
}

func (r *recording) add(line any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line)
}

// clean returns the message with filler for its texts, and without the names of this computer.
func (r *recording) clean(msg []byte) string {
	message := string(fill(bytes.TrimSpace(bytes.ReplaceAll(msg, []byte(r.place.dir), []byte("/srv/acp/ws")))))
	return strings.ReplaceAll(message, r.place.home, "/home/user")
}

// write writes the recording to the folder of testdata, if that is asked for.
func (r *recording) write(t *testing.T, folder, suffix string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	var b bytes.Buffer
	lines := json.NewEncoder(&b)
	lines.SetEscapeHTML(false)
	for _, line := range r.lines {
		require.NoError(t, lines.Encode(line))
	}
	for _, private := range []string{os.TempDir() + "/", filepath.Base(r.place.dir) + "/", "127.0.0.1", "localhost"} {
		assert.NotContains(t, b.String(), private)
	}
	if *record && !t.Failed() {
		a := r.place.adapter
		require.NoError(t, os.WriteFile(filepath.Join("..", "..", "..", "recordings", folder, a.name+"-"+a.version+suffix+".jsonl"), b.Bytes(), 0o644))
	}
}
