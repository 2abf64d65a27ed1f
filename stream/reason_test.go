package stream_test

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/stream"
)

// telling is a stream that can tell its peer why it is closed.
type telling struct {
	stream.Stream
	why chan stream.Reason
	err error // what Read returns; if nil, Read reads from the stream below
}

func (s *telling) Read() ([]byte, error) {
	if s.err != nil {
		return nil, s.err
	}
	return s.Stream.Read()
}

func (s *telling) Features() *stream.Features {
	return &stream.Features{CloseFor: func(why stream.Reason) error {
		s.why <- why
		return s.Close()
	}}
}

// When one stream of a bridge ends or fails, both streams are closed with the reason.
func TestForwardTellsWhyItCloses(t *testing.T) {
	broken := errors.New("broken")
	for name, tt := range map[string]struct {
		err  error
		want stream.Reason
	}{"end of input": {io.EOF, stream.ReasonDone}, "failure": {broken, stream.ReasonFailure}} {
		t.Run(name, func(t *testing.T) {
			a, _ := stream.Pipe()
			b, _ := stream.Pipe()
			near, far := &telling{Stream: a, why: make(chan stream.Reason, 1), err: tt.err}, &telling{Stream: b, why: make(chan stream.Reason, 1)}
			err := stream.Forward(near, far)
			assert.Equal(t, tt.want == stream.ReasonFailure, errors.Is(err, broken))
			assert.Equal(t, tt.want, <-near.why)
			assert.Equal(t, tt.want, <-far.why)
		})
	}
}
