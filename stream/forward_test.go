package stream_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
)

// forwarded creates two pipes and forwards between their inner ends. It returns the outer ends and
// the result of Forward.
func forwarded(inner func(a, b stream.Stream) (stream.Stream, stream.Stream)) (a, b stream.Stream, done chan error) {
	a, x := stream.Pipe()
	y, b := stream.Pipe()
	if inner != nil {
		x, y = inner(x, y)
	}
	done = make(chan error, 1)
	go func() { done <- stream.Forward(x, y) }() // ends with either pipe
	return a, b, done
}

func send(t *testing.T, s stream.Stream, msg string) {
	t.Helper()
	require.NoError(t, s.Write([]byte(msg)))
}

func receive(t *testing.T, s stream.Stream) string {
	t.Helper()
	msg, err := s.Read()
	require.NoError(t, err)
	return string(msg)
}

// halfClosed forwards between b and a peer that sends asked, closes its output, and continues to
// read.
func halfClosed(asked string) (said *strings.Builder, b stream.Stream, done chan error) {
	said = new(strings.Builder)
	y, b := stream.Pipe()
	done = make(chan error, 1)
	go func() { done <- stream.Forward(stream.Lines(strings.NewReader(asked), said, nil), y) }() // ends with the input
	return said, b, done
}

func TestForwardWaitsForResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said, b, done := halfClosed(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
		receive(t, b)
		time.Sleep(3 * time.Second)
		send(t, b, `{"jsonrpc":"2.0","method":"update"}`)
		send(t, b, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		start := time.Now()
		require.NoError(t, <-done)
		assert.Zero(t, time.Since(start), "nothing is left to wait for")
		assert.Equal(t, `{"jsonrpc":"2.0","method":"update"}`+"\n"+`{"jsonrpc":"2.0","id":1,"result":{}}`+"\n", said.String())
		_, err := b.Read()
		assert.ErrorIs(t, err, io.EOF)
	})
}

func TestForwardDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, b, done := halfClosed(`{"jsonrpc":"2.0","id":1,"method":"m"}`)
		receive(t, b)
		require.NoError(t, <-done)
		assert.Equal(t, 5*time.Second, time.Since(start))
	})
}

// odd is a stream whose reads or writes fail as configured.
type odd struct {
	stream.Stream
	read     func(stream.Stream) ([]byte, error) // in place of Read; may be nil
	write    func(msg []byte) error              // called before Write, which passes on its error; may be nil
	features stream.Features
}

func (o *odd) Read() ([]byte, error) {
	if o.read != nil {
		return o.read(o.Stream)
	}
	return o.Stream.Read()
}

func (o *odd) Write(msg []byte) error {
	if o.write != nil {
		if err := o.write(msg); err != nil {
			return err
		}
	}
	return o.Stream.Write(msg)
}

func (o *odd) Features() *stream.Features { return &o.features }

// refusing returns a write function that refuses messages that contain text.
func refusing(text string) func([]byte) error {
	return func(msg []byte) error {
		if strings.Contains(string(msg), text) {
			return &stream.MessageError{Reason: "it is odd"}
		}
		return nil
	}
}

func TestForwardAnswersWhatCannotBeCarried(t *testing.T) {
	const request = `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s"}}`
	failing := func(err error) func(stream.Stream) ([]byte, error) {
		return func(s stream.Stream) ([]byte, error) {
			if _, readErr := s.Read(); readErr != nil {
				return nil, readErr
			}
			return nil, err
		}
	}
	for name, tt := range map[string]struct {
		near, far odd
		response  string // from b
		want      string
	}{
		"request too long":  {near: odd{read: failing(&stream.TooLargeError{ID: []byte("1"), Method: "m"})}, want: "the request is too long"},
		"response too long": {far: odd{read: failing(&stream.TooLargeError{ID: []byte("1"), HasResult: true})}, response: `{}`, want: "the response is too long"},
		"request refused":   {far: odd{write: refusing("prompt")}, want: "it is odd"},
		"response refused":  {near: odd{write: refusing("result")}, response: `{"jsonrpc":"2.0","id":1,"result":1}`, want: "it is odd"},
		"request lost":      {far: odd{read: failing(&stream.LostError{ID: []byte("1"), Err: errors.New("x")})}, response: `{}`, want: "lost"},
		"session lost":      {far: odd{read: failing(&stream.LostError{SessionID: "s", Err: errors.New("x")})}, response: `{}`, want: "lost"},
	} {
		t.Run(name, func(t *testing.T) {
			leak.Check(t)
			a, b, done := forwarded(func(x, y stream.Stream) (stream.Stream, stream.Stream) {
				tt.near.Stream, tt.far.Stream = x, y
				return &tt.near, &tt.far
			})
			send(t, a, request)
			if tt.response != "" {
				receive(t, b)
				send(t, b, tt.response)
			}
			answer := receive(t, a)
			m := stream.ParseMessage([]byte(answer))
			assert.Equal(t, stream.KindErrorResponse, m.Kind)
			assert.Equal(t, "1", string(m.ID))
			assert.Contains(t, answer, tt.want)
			require.NoError(t, a.Close())
			assert.NoError(t, <-done)
		})
	}
}

// A notification that cannot be passed on has nobody who is told, so it is logged. A flood of them is not.
func TestForwardLogsWhatIsDropped(t *testing.T) {
	leak.Check(t)
	var logged bytes.Buffer
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.NewTextHandler(&logged, nil)))
	a, b, done := forwarded(func(x, y stream.Stream) (stream.Stream, stream.Stream) {
		return x, &odd{Stream: y, write: refusing("odd")}
	})
	for range 1000 {
		send(t, a, `{"jsonrpc":"2.0","method":"_odd\u001b"}`)
	}
	send(t, a, `{"jsonrpc":"2.0","method":"_last"}`)
	assert.Contains(t, receive(t, b), "_last")
	require.NoError(t, a.Close())
	require.NoError(t, <-done)
	assert.Contains(t, logged.String(), `reason="it is odd"`)
	assert.Contains(t, logged.String(), `_odd`)
	assert.NotContains(t, logged.String(), "\x1b")
	assert.Equal(t, 10, strings.Count(logged.String(), "dropped a message"), "%s", &logged)
}

// What a tolerant stream skips may be a message, and is told then. Messages beside what does no harm are passed on.
func TestForwardLogsWhatIsSkipped(t *testing.T) {
	leak.Check(t)
	var logged bytes.Buffer
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.NewTextHandler(&logged, nil)))
	const one, two = `{"jsonrpc":"2.0","method":"_one"}`, `{"jsonrpc":"2.0","method":"_two"}`
	var noise []string
	input := "ready\n{1/2}\nDEBUG sent " + one + "\n\x1b]0;title\a" + one + two + "\n" + `{"level":30}` + "\n"
	agent := stream.Lines(strings.NewReader(input), io.Discard, &stream.LinesOptions{Tolerant: true, OnNoise: func(text string) { noise = append(noise, text) }})
	client, b := stream.Pipe()
	done := make(chan error, 1)
	go func() { done <- stream.Forward(agent, b) }() // ends with the input
	for _, want := range []string{one, two, `{"level":30}`} {
		assert.Equal(t, want, receive(t, client))
	}
	require.NoError(t, <-done)
	assert.Equal(t, []string{"ready", "{1/2}", "DEBUG sent " + one}, noise)
	assert.Equal(t, 1, strings.Count(logged.String(), "dropped a message"), "%s", &logged)
	assert.Contains(t, logged.String(), "DEBUG sent")
}

func TestForwardEndsWithTheError(t *testing.T) {
	leak.Check(t)
	broken := errors.New("cable cut")
	a, b, done := forwarded(func(x, y stream.Stream) (stream.Stream, stream.Stream) {
		return &odd{Stream: x, read: func(stream.Stream) ([]byte, error) { return nil, broken }}, y
	})
	assert.ErrorIs(t, <-done, broken)
	for _, s := range []stream.Stream{a, b} {
		_, err := s.Read()
		assert.ErrorIs(t, err, io.EOF)
	}
}

// Forward returns although standard input cannot be interrupted.
func TestForwardLeavesABlockedRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		_, b, done := forwarded(func(x, y stream.Stream) (stream.Stream, stream.Stream) {
			return &odd{Stream: x, read: func(stream.Stream) ([]byte, error) { <-release; return nil, io.EOF }}, y
		})
		require.NoError(t, b.Close())
		assert.NoError(t, <-done)
		close(release)
	})
}

func TestForwardDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drain := make(chan struct{})
		a, b, done := forwarded(func(x, y stream.Stream) (stream.Stream, stream.Stream) {
			return &odd{Stream: x, features: stream.Features{Draining: drain}}, y
		})
		send(t, a, `{"jsonrpc":"2.0","id":1,"method":"m"}`)
		receive(t, b)
		close(drain)
		var ended atomic.Bool
		go func() { // ends when Forward does
			done <- <-done
			ended.Store(true)
		}()
		synctest.Wait()
		assert.False(t, ended.Load(), "a request is in flight")
		send(t, b, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		assert.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, receive(t, a))
		assert.NoError(t, <-done)
	})
}

// A stream of the user that returns a nil pointer as its error, or panics, ends Forward and
// not the program.
func TestForwardSurvivesAStream(t *testing.T) {
	for name, fail := range map[string]func() error{
		"nil pointer": func() error { return (*url.Error)(nil) },
		"panic":       func() error { panic("oops") },
	} {
		for _, reads := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				a, _, done := forwarded(func(a, b stream.Stream) (stream.Stream, stream.Stream) {
					if reads {
						return &odd{Stream: a, read: func(stream.Stream) ([]byte, error) { return nil, fail() }}, b
					}
					return a, &odd{Stream: b, write: func([]byte) error { return fail() }}
				})
				_ = a.Write([]byte(`{"jsonrpc":"2.0","method":"a"}`))
				assert.ErrorContains(t, <-done, "panic", name)
			})
		}
	}
}

// When one stream of a bridge ends or fails, both streams are closed with the reason.
func TestForwardTellsWhyItCloses(t *testing.T) {
	broken := errors.New("broken")
	for name, tt := range map[string]struct {
		err  error
		want stream.Reason
	}{"end of input": {io.EOF, stream.ReasonDone}, "failure": {broken, stream.ReasonFailure}} {
		t.Run(name, func(t *testing.T) {
			reasons := make(chan stream.Reason, 2)
			telling := func(s stream.Stream) *odd {
				return &odd{Stream: s, features: stream.Features{CloseFor: func(why stream.Reason) error {
					reasons <- why
					return s.Close()
				}}}
			}
			_, _, done := forwarded(func(a, b stream.Stream) (stream.Stream, stream.Stream) {
				near := telling(a)
				near.read = func(stream.Stream) ([]byte, error) { return nil, tt.err }
				return near, telling(b)
			})
			assert.Equal(t, tt.want == stream.ReasonFailure, errors.Is(<-done, broken))
			assert.Equal(t, []stream.Reason{tt.want, tt.want}, []stream.Reason{<-reasons, <-reasons})
		})
	}
}
