package router

import "github.com/acpkit/go-sdk/stream"

// handover returns s as the agent reads it: first is read again, and the rest follows. It
// implements the optional interfaces that s implements, so that the connection over it
// behaves like one over s, except MessageReader, which only saves time. noise is what s
// returned for Unchecked, or nil.
func handover(s stream.Stream, first []byte, noise func([]byte)) stream.Stream {
	r := &resumed{Stream: s, first: first, noise: noise}
	writes, isWriter := s.(stream.MessageWriter)
	batches, isBatch := s.(stream.BatchWriter)
	switch {
	case isWriter && isBatch:
		return struct {
			*resumed
			stream.MessageWriter
			stream.BatchWriter
		}{r, writes, batches}
	case isWriter:
		return struct {
			*resumed
			stream.MessageWriter
		}{r, writes}
	case isBatch:
		return struct {
			*resumed
			stream.BatchWriter
		}{r, batches}
	}
	return r
}

// resumed is a stream whose first messages were read. It implements those optional
// interfaces whose methods can report that the stream below does not implement them.
type resumed struct {
	stream.Stream

	first []byte // nil when it has been read again
	noise func([]byte)
}

func (r *resumed) Read() ([]byte, error) {
	if first := r.first; first != nil {
		r.first = nil
		return first, nil
	}
	return r.Stream.Read()
}

// Unchecked implements [stream.TolerantReader].
func (r *resumed) Unchecked() func([]byte) { return r.noise }

// Written implements [stream.ProgressWriter]. A stream without one never makes progress.
func (r *resumed) Written() int64 {
	if s, ok := r.Stream.(stream.ProgressWriter); ok {
		return s.Written()
	}
	return 0
}

// Hasten implements [stream.Hastener]. It changes nothing for a stream without one.
func (r *resumed) Hasten() {
	if s, ok := r.Stream.(stream.Hastener); ok {
		s.Hasten()
	}
}

// CloseFor implements [stream.ReasonCloser]. A stream without one is closed.
func (r *resumed) CloseFor(why stream.Reason) error {
	if s, ok := r.Stream.(stream.ReasonCloser); ok {
		return s.CloseFor(why)
	}
	return r.Stream.Close()
}

// Draining implements [stream.Drainer]. A stream without one never drains.
func (r *resumed) Draining() <-chan struct{} { return draining(r.Stream) }

func draining(s stream.Stream) <-chan struct{} {
	if d, ok := s.(stream.Drainer); ok {
		return d.Draining()
	}
	return nil
}
