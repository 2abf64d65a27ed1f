package streamtest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/acpkit/go-sdk/stream"
)

// TestWrapper checks a stream that wraps another one and looks at its messages, as
// [stream.Tap] does: whatever way a connection sends and receives, the wrapper sees each
// message once, and it loses none of the [stream.Features] of the stream below. wrap returns a
// stream over s that calls see with each message.
//
// A wrapper without ReadMessage and WriteBatch only costs time, so these may be missing. It
// must not have functions that the stream below lacks.
func TestWrapper(t *testing.T, wrap func(s stream.Stream, see func(msg []byte)) stream.Stream) {
	t.Helper()
	t.Run("a stream with all features", func(t *testing.T) { testWrapper(t, wrap, new(full)) })
	t.Run("a stream without features", func(t *testing.T) {
		near, far := stream.Pipe()
		defer near.Close()
		defer far.Close()
		got := stream.FeaturesOf(wrap(struct{ stream.Stream }{near}, func([]byte) {}))
		for name, extra := range map[string]bool{
			"WriteBatch": got.WriteBatch != nil, "ReadMessage": got.ReadMessage != nil, "WriteMessage": got.WriteMessage != nil,
			"Written": got.Written != nil, "Draining": got.Draining != nil,
			"SingleInitialize": got.SingleInitialize,
		} {
			if extra {
				t.Errorf("the wrapper has %s, the stream below does not", name)
			}
		}
	})
}

// full is a stream with all features, whose peer sends notifications.
type full struct {
	sent   [][]byte
	drain  chan struct{}
	closed stream.Reason
}

func (f *full) Read() ([]byte, error) { return message(0, 10), nil }

func (f *full) Write(msg []byte) error {
	f.sent = append(f.sent, bytes.Clone(msg))
	return nil
}

func (f *full) Close() error { return nil }

func (f *full) Features() *stream.Features {
	f.drain = make(chan struct{})
	return &stream.Features{
		WriteBatch: func(msgs [][]byte) error {
			for _, msg := range msgs {
				_ = f.Write(msg) // never fails
			}
			return nil
		},
		ReadMessage:      func() (stream.Message, error) { return stream.ParseMessage(message(0, 10)), nil },
		WriteMessage:     func(m stream.Message) error { return f.Write(m.Data) },
		Written:          func() int64 { return 17 },
		CloseFor:         func(why stream.Reason) error { f.closed = why; return errClosed },
		Draining:         f.drain,
		SingleInitialize: true,
	}
}

var errClosed = errors.New("the error of CloseFor")

func testWrapper(t *testing.T, wrap func(stream.Stream, func([]byte)) stream.Stream, below *full) {
	var seen [][]byte
	s := wrap(below, func(msg []byte) { seen = append(seen, bytes.Clone(msg)) })
	f := stream.FeaturesOf(s)
	// carried checks that each message that step carries is seen once.
	carried := func(what string, want int, step func() error) {
		t.Helper()
		seen, below.sent = nil, nil
		if err := step(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if len(seen) != want {
			t.Errorf("%s: the wrapper saw %d messages, want %d", what, len(seen), want)
		}
		for i, msg := range below.sent {
			if i < len(seen) && !bytes.Equal(msg, seen[i]) {
				t.Errorf("%s: message %d was sent as %.80q and seen as %.80q", what, i, msg, seen[i])
			}
		}
	}
	carried("Read", 1, func() error { _, err := s.Read(); return err })
	carried("Write", 1, func() error { return s.Write(message(1, 10)) })
	if f.ReadMessage != nil {
		carried("ReadMessage", 1, func() error { _, err := f.ReadMessage(); return err })
	}
	if f.WriteBatch != nil {
		carried("WriteBatch", 2, func() error { return f.WriteBatch([][]byte{message(2, 10), message(3, 10)}) })
	}
	if f.WriteMessage == nil {
		t.Error("WriteMessage was lost: a network stream does not route messages without it")
	} else {
		carried("WriteMessage", 1, func() error { return f.WriteMessage(stream.ParseMessage(message(4, 10))) })
	}
	for name, lost := range map[string]bool{
		"Written":          f.Written == nil || f.Written() != 17,
		"Draining":         f.Draining != below.drain,
		"SingleInitialize": !f.SingleInitialize,
		"CloseFor":         f.CloseFor == nil || f.CloseFor(stream.ReasonLimit) != errClosed || below.closed != stream.ReasonLimit,
	} {
		if lost {
			t.Errorf("%s was lost: begin with Features.Information of the stream below", name)
		}
	}
}
