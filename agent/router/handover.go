package router

import "github.com/acpkit/go-sdk/stream"

// handover returns a stream that first returns first again, and then the messages of s. It has the
// features of s except ReadMessage, which only saves time. noise is the result of Unchecked of s,
// or nil.
func handover(s stream.Stream, below *stream.Features, first []byte, noise func([]byte)) stream.Stream {
	f := below.Information()
	f.WriteBatch, f.WriteMessage = below.WriteBatch, below.WriteMessage
	if noise != nil {
		f.Unchecked = func() func([]byte) { return noise }
	}
	return &resumed{Stream: s, first: first, features: f}
}

// resumed is a stream whose first message is read again.
type resumed struct {
	stream.Stream

	first    []byte // nil after it was read again
	features *stream.Features
}

func (r *resumed) Read() ([]byte, error) {
	if first := r.first; first != nil {
		r.first = nil
		return first, nil
	}
	return r.Stream.Read()
}

func (r *resumed) Features() *stream.Features { return r.features }
