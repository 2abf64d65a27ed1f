package connect

import (
	"sync"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/stream"
)

// answered is a stream to an agent that has responded to initialize. The initialize of the connection is
// not sent: the connection reads that response, and before it what the agent sent before it.
type answered struct {
	below *probe
	got   *answer

	writing sync.Mutex    // held while messages are written
	taken   chan struct{} // closed when the connection has written its initialize
	over    bool          // guarded by writing: taken is closed
	first   []read        // read before the messages of below; set before taken is closed

	end    sync.Once
	closed chan struct{}
}

// read is the result of one call of Read.
type read struct {
	msg []byte
	err error
}

func newAnswered(below *probe, got *answer) *answered {
	return &answered{below: below, got: got, taken: make(chan struct{}), closed: make(chan struct{})}
}

const methodInitialize = "initialize"

// takeLocked reports whether the message is the initialize of the connection, and does not have to be sent.
func (s *answered) takeLocked(m stream.Message) bool {
	if s.over {
		return false
	}
	m = stream.ParseMessage(m.Data)
	if m.Kind != stream.KindRequest || m.Method != methodInitialize {
		return false
	}
	s.over, s.first = true, append(s.below.early, responseTo(&m, s.got))
	close(s.taken)
	return true
}

func (s *answered) write(m stream.Message, below func() error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.takeLocked(m) {
		return nil
	}
	return below()
}

func (s *answered) Write(msg []byte) error {
	return s.write(stream.Message{Data: msg}, func() error { return s.below.s.Write(msg) })
}

func (s *answered) Read() ([]byte, error) {
	select {
	case <-s.taken:
	case <-s.closed:
		return nil, stream.ErrClosed
	}
	if len(s.first) > 0 {
		r := s.first[0]
		s.first = s.first[1:]
		return r.msg, r.err
	}
	return s.below.s.Read()
}

func (s *answered) Close() error {
	s.end.Do(func() { close(s.closed) })
	return s.below.s.Close()
}

// Features returns the features of the stream below, so that the connection behaves as over that
// stream.
func (s *answered) Features() *stream.Features {
	below := s.below.features
	f := below.Information()
	if below.CloseFor != nil {
		f.CloseFor = func(why stream.Reason) error {
			s.end.Do(func() { close(s.closed) })
			return below.CloseFor(why)
		}
	}
	if noise := s.below.noise; noise != nil {
		envelope.SetUnchecked(f, func() func([]byte) bool { return noise })
	}
	if below.WriteMessage != nil {
		f.WriteMessage = func(m stream.Message) error { return s.write(m, func() error { return below.WriteMessage(m) }) }
	}
	if below.WriteBatch != nil {
		f.WriteBatch = s.writeBatch
	}
	return f
}

func (s *answered) writeBatch(msgs [][]byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	for !s.over && len(msgs) > 0 {
		if m := (stream.Message{Data: msgs[0]}); !s.takeLocked(m) {
			if err := s.below.send(stream.ParseMessage(msgs[0])); err != nil {
				return err
			}
		}
		msgs = msgs[1:]
	}
	if len(msgs) == 0 {
		return nil
	}
	return s.below.features.WriteBatch(msgs)
}
