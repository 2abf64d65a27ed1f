package router

import "github.com/acpkit/go-sdk/stream"

// handover returns s as the agent reads it: first is read again, and the rest follows. It
// has the features of s, so that the connection over it behaves like one over s, but
// ReadMessage, which only saves time. noise is what s returned for Unchecked, or nil.
func handover(s stream.Stream, below *stream.Features, first []byte, noise func([]byte)) stream.Stream {
	f := below.Information()
	f.WriteBatch, f.WriteMessage = below.WriteBatch, below.WriteMessage
	if noise != nil {
		f.Unchecked = func() func([]byte) { return noise }
	}
	return &resumed{Stream: s, first: first, features: f}
}

// resumed is a stream whose first message was read.
type resumed struct {
	stream.Stream

	first    []byte // nil when it has been read again
	features *stream.Features
}

func (r *resumed) Read() ([]byte, error) {
	if first := r.first; first != nil {
		r.first = nil
		return first, nil
	}
	return r.Stream.Read()
}

// Features returns those of the stream below.
func (r *resumed) Features() *stream.Features { return r.features }
