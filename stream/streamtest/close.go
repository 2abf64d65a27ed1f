package streamtest

import (
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/acpkit/go-sdk/stream"
)

func endOfInput(t *testing.T, a, b stream.Stream) {
	closed := start(func() error {
		for i := range 3 {
			if err := a.Write(message(i, 1000)); err != nil {
				return err
			}
		}
		return a.Close()
	})
	for i := range 3 {
		expect(t, b, message(i, 1000))
	}
	for range 2 {
		if msg, err := read(t, b); !errors.Is(err, io.EOF) {
			t.Fatalf("Read after the peer's close: got %.80q, %v, want io.EOF", msg, err)
		}
	}
	expectOK(t, "Close", b.Close())
	wait(t, closed, "Close")
}

func brokenPeer(t *testing.T, a, b stream.Stream) {
	closed := start(b.Close)
	failed := start(func() error {
		for a.Write(message(0, 10_000)) == nil {
		}
		return nil
	})
	wait(t, failed, "the failure of a write")
	if err := a.Write(message(0, 0)); err == nil {
		t.Error("Write worked after it had failed")
	}
	wait(t, closed, "Close")
}

func afterClose(t *testing.T, a, b stream.Stream) {
	expectOK(t, "Close", a.Close())
	if err := a.Write(message(0, 0)); err == nil {
		t.Error("Write worked after Close")
	}
	if msg, err := read(t, a); err == nil {
		t.Errorf("Read after Close returned %.80q", msg)
	}
	expectOK(t, "Close again", a.Close())
}

func interruptRead(t *testing.T, a, b stream.Stream) {
	sent := start(func() error { return b.Write(message(0, 0)) })
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { // ends with the close
		_, err := a.Read()
		first <- err
		_, err = a.Read()
		second <- err
	}()
	wait(t, sent, "Write")
	wait(t, first, "Read")
	expectOK(t, "Close", a.Close())
	select {
	case err := <-second:
		if err == nil {
			t.Error("Read returned a message that was not sent")
		}
	case <-time.After(timeout):
		t.Fatal("Close does not interrupt Read")
	}
}

// quiet is how long a write makes no progress before it counts as blocked. It is longer than TCP
// delays an acknowledgement (40 ms on Linux), with which the system takes more.
const quiet = 100 * time.Millisecond

func interruptWrite(t *testing.T, a, b stream.Stream) {
	progress := make(chan struct{}, 1)
	failed := start(func() error {
		for a.Write(message(0, 100_000)) == nil {
			select {
			case progress <- struct{}{}:
			default:
			}
		}
		return nil
	})
	for blocked := false; !blocked; {
		select {
		case <-progress:
		case <-time.After(quiet):
			blocked = true
		}
	}
	expectOK(t, "Close", a.Close())
	wait(t, failed, "the write that Close interrupts")
}

func closeByMany(t *testing.T, a, b stream.Stream) {
	closed := start(func() error {
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() { _ = a.Close() })
			all.Go(func() { _ = b.Close() })
		}
		all.Wait()
		return nil
	})
	wait(t, closed, "Close")
}
