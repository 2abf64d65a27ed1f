// Package streamtest checks that a [stream.Stream] keeps its contract.
// Experimental: it may change in any release. Use it in the tests of a stream of
// your own:
//
//	func TestMyStream(t *testing.T) {
//		streamtest.Test(t, func() (a, b stream.Stream) {
//			x, y := net.Pipe()
//			return mystream.New(x), mystream.New(y)
//		})
//	}
package streamtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
)

// timeout is how long a check waits for something that must happen.
const timeout = 20 * time.Second

// SessionID is the session that all messages of the kit belong to.
const SessionID = "sess_streamtest"

// Test runs the kit. connect is called for each check and returns the two ends of
// a fresh connection: what a writes b reads, and vice versa. The kit
// closes both. Every check is run with the ends swapped as well.
//
// The kit sends JSON-RPC notifications whose params name the session [SessionID], in
// both directions. If a stream carries nothing else before a connection is
// initialized or a session is known, connect must do that first, at both ends: write and
// read initialize and its response, then session/new and a response with this session id.
//
// The kit expects that Close interrupts a blocked Read, which the contract leaves to
// the system, so connect must return streams whose Read can be interrupted.
func Test(t *testing.T, connect func() (a, b stream.Stream)) {
	t.Helper()
	for _, c := range checks {
		for _, swapped := range []bool{false, true} {
			name := c.name
			if swapped {
				name += ", swapped"
			}
			t.Run(name, func(t *testing.T) {
				leak.Check(t)
				a, b := connect()
				t.Cleanup(func() {
					_ = a.Close()
					_ = b.Close()
				})
				if swapped {
					a, b = b, a
				}
				c.run(t, a, b)
			})
		}
	}
}

var checks = []struct {
	name string
	run  func(t *testing.T, a, b stream.Stream)
}{
	{"messages arrive whole and in order", inOrder},
	{"both directions at once", bothWays},
	{"slices belong to their callers", ownership},
	{"batches", batches},
	{"messages with their envelope", envelopes},
	{"a refused message", refusal},
	{"close is the end of input for the peer", endOfInput},
	{"write fails once the peer has closed", brokenPeer},
	{"nothing works after close", afterClose},
	{"close interrupts a read", interruptRead},
	{"close interrupts a write", interruptWrite},
	{"close by many", closeByMany},
}

// message returns a notification of about n bytes that contains i.
func message(i, n int) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","n":%d,"é":"%s"}}`, SessionID, i, strings.Repeat("x", n))
}

// someSizes are near the sizes of pipes and buffers, and above.
var someSizes = []int{0, 1, 100, 4000, 4096, 65_400, 65_536, 70_000, 131_072, 1 << 20}

// someMessages are many short messages and a few long ones.
var someMessages = func() (all [][]byte) {
	for _, size := range someSizes {
		for range max(1, min(20, 200_000/(size+1))) {
			all = append(all, message(len(all), size))
		}
	}
	return all
}()

func inOrder(t *testing.T, a, b stream.Stream) {
	sent := start(func() error { return writeSome(a) })
	for _, want := range someMessages {
		expect(t, b, want)
	}
	wait(t, sent, "writing")
}

func writeSome(s stream.Stream) error {
	for i, msg := range someMessages {
		if err := s.Write(msg); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	return nil
}

func bothWays(t *testing.T, a, b stream.Stream) {
	there := start(func() error { return writeSome(a) })
	back := start(func() error { return writeSome(b) })
	got := start(func() error {
		for i, want := range someMessages {
			msg, err := a.Read()
			if err == nil && !bytes.Equal(msg, want) {
				err = errors.New("it differs")
			}
			if err != nil {
				return fmt.Errorf("reading message %d: %w", i, err)
			}
		}
		return nil
	})
	for _, want := range someMessages {
		expect(t, b, want)
	}
	for _, done := range []<-chan error{there, back, got} {
		wait(t, done, "the exchange")
	}
}

func ownership(t *testing.T, a, b stream.Stream) {
	sent := start(func() error {
		buf := message(1, 100)
		if err := a.Write(buf); err != nil {
			return err
		}
		copy(buf, message(2, 100))
		if err := a.Write(buf); err != nil {
			return err
		}
		clear(buf)
		for i := range 50 {
			if err := a.Write(message(3, i)); err != nil {
				return err
			}
		}
		return nil
	})
	first := expect(t, b, message(1, 100))
	for i := range first[:cap(first)] {
		first[:cap(first)][i] = '!' // the slice belongs to the reader, up to its capacity
	}
	kept := expect(t, b, message(2, 100))
	for i := range 50 {
		expect(t, b, message(3, i))
	}
	wait(t, sent, "writing")
	if !bytes.Equal(kept, message(2, 100)) {
		t.Error("a message changed after it was returned")
	}
}

func batches(t *testing.T, a, b stream.Stream) {
	writeBatch := stream.FeaturesOf(a).WriteBatch
	if writeBatch == nil {
		t.Skip("the stream has no WriteBatch: it is optional")
	}
	sent := start(func() error {
		if err := writeBatch(nil); err != nil {
			return err
		}
		for i := range 20 {
			msgs := [][]byte{message(i, 10)}
			for _, size := range someSizes[:i%len(someSizes)] {
				msgs = append(msgs, message(i, size))
			}
			if err := writeBatch(msgs); err != nil {
				return err
			}
			for _, msg := range msgs {
				clear(msg)
			}
		}
		return a.Write(message(100, 0))
	})
	for i := range 20 {
		expect(t, b, message(i, 10))
		for _, size := range someSizes[:i%len(someSizes)] {
			expect(t, b, message(i, size))
		}
	}
	expect(t, b, message(100, 0))
	wait(t, sent, "writing")
}

// refusal tests that a stream which cannot carry a message returns a *stream.MessageError.
func refusal(t *testing.T, a, b stream.Stream) {
	odd := bytes.Replace(message(0, 0), []byte("{"), []byte("{\n"), 1)
	sent := start(func() error {
		err := a.Write(odd)
		if _, refused := errors.AsType[*stream.MessageError](err); err != nil && !refused {
			return fmt.Errorf("a message with a line feed: %w, want nil or a *MessageError", err)
		}
		return a.Write(message(1, 0))
	})
	msg, err := read(t, b)
	expectOK(t, "Read", err)
	// White space may change, because only the value has to stay.
	var compact bytes.Buffer
	_ = json.Compact(&compact, msg) // invalid JSON is reported below
	if bytes.Equal(compact.Bytes(), message(0, 0)) {
		msg = expect(t, b, message(1, 0))
	}
	if !bytes.Equal(msg, message(1, 0)) {
		t.Errorf("Read %.80q, want %.80q", msg, message(1, 0))
	}
	wait(t, sent, "writing")
}

// start runs f on a goroutine of its own. f ends when its stream is closed, at the latest.
func start(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f() }() // ends with f
	return done
}

// read is Read with a deadline.
func read(t *testing.T, s stream.Stream) ([]byte, error) {
	t.Helper()
	return await(t, s.Read)
}

// await calls next and waits for it with a deadline. After the deadline the test fails, and the
// goroutine runs until the connection is closed.
func await[T any](t *testing.T, next func() (T, error)) (T, error) {
	t.Helper()
	var msg T
	got := start(func() (err error) {
		msg, err = next()
		return err
	})
	select {
	case err := <-got:
		return msg, err
	case <-time.After(timeout):
		t.Fatal("reading takes too long")
		panic("unreachable")
	}
}

func expect(t *testing.T, s stream.Stream, want []byte) []byte {
	t.Helper()
	msg, err := read(t, s)
	if err != nil {
		t.Fatalf("Read: %v, want %.80q", err, want)
	}
	if !bytes.Equal(msg, want) {
		t.Fatalf("Read %.80q (%d bytes), want %.80q (%d bytes)", msg, len(msg), want, len(want))
	}
	return msg
}

func expectOK(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func wait(t *testing.T, done <-chan error, what string) {
	t.Helper()
	select {
	case err := <-done:
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	case <-time.After(timeout):
		t.Fatalf("%s takes too long", what)
	}
}

// envelopes tests that WriteMessage and ReadMessage carry the same messages as Write and Read.
func envelopes(t *testing.T, a, b stream.Stream) {
	write, read := stream.FeaturesOf(a).WriteMessage, stream.FeaturesOf(b).ReadMessage
	if write == nil && read == nil {
		t.Skip("the stream has neither WriteMessage nor ReadMessage: they are optional")
	}
	sent := start(func() error {
		for i, size := range someSizes {
			var err error
			if msg := message(i, size); write != nil {
				err = write(stream.ParseMessage(msg))
				clear(msg)
			} else {
				err = a.Write(msg)
			}
			if err != nil {
				return fmt.Errorf("message %d: %w", i, err)
			}
		}
		return nil
	})
	for i, size := range someSizes {
		if read == nil {
			expect(t, b, message(i, size))
			continue
		}
		m, err := await(t, read)
		expectOK(t, "ReadMessage", err)
		if want := stream.ParseMessage(message(i, size)); !same(m, want) {
			t.Fatalf("ReadMessage: got %.200v, want %.200v", m, want)
		}
	}
	wait(t, sent, "writing")
}

// same compares the exported fields of two messages. Only ParseMessage sets the others.
func same(a, b stream.Message) bool {
	return bytes.Equal(a.Data, b.Data) && a.Kind == b.Kind && bytes.Equal(a.ID, b.ID) && a.Method == b.Method &&
		a.SessionID == b.SessionID && bytes.Equal(a.CancelID, b.CancelID)
}
