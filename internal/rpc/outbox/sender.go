package outbox

import (
	"errors"

	"github.com/acpkit/go-sdk/stream"
)

// sender passes batches to the stream. It is the writer's alone.
type sender struct {
	cfg   *Config
	msgs  [][]byte
	wrote func() // called for a message of a batch of which others are not written
}

// send writes a batch. What the stream refuses is left out.
func (s *sender) send(batch []*Frame) error {
	if s.cfg.Features.WriteBatch != nil && s.cfg.Features.WriteMessage == nil && (len(batch) > 1 || batch[0].cancels != nil) {
		all := s.msgs[:0]
		for _, f := range batch {
			if f.cancels == nil {
				all = append(all, f.Data)
			} else {
				all = appendCancels(all, f.cancels)
			}
		}
		err := s.cfg.Features.WriteBatch(all)
		clear(all)
		s.msgs = all[:0]
		if cap(all) > keptQueue {
			s.msgs = nil
		}
		if !isRefusal(err) {
			return err
		}
	}
	for i, f := range batch {
		if f.cancels == nil {
			if err := s.sendOne(f, f.Message); err != nil {
				return err
			}
		}
		for _, call := range f.cancels {
			if err := s.sendOne(f, cancelMessage(call)); err != nil {
				return err
			}
			s.wrote()
		}
		if i < len(batch)-1 {
			s.wrote()
		}
	}
	return nil
}

// sendOne writes one message of the frame f.
func (s *sender) sendOne(f *Frame, m stream.Message) (err error) {
	if s.cfg.Features.WriteMessage != nil {
		err = s.cfg.Features.WriteMessage(m)
	} else {
		err = s.cfg.Stream.Write(m.Data)
	}
	if isRefusal(err) {
		s.cfg.Refused(f, err)
		return nil
	}
	return err
}

func isRefusal(err error) bool {
	if err == nil {
		return false
	}
	_, ok := errors.AsType[*stream.MessageError](err)
	return ok
}
