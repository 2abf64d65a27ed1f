package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/acpkit/go-sdk/agent/journal"
)

// read calls each for messages of the sessions, in the order of the stream, until each is done. It reads from any replica, and
// goes on at another one if that dies.
func (s *Store) read(ctx context.Context, which jetstream.ConsumerConfig, each func(m jetstream.Msg, seq uint64) (done bool, err error)) error {
	which.AckPolicy, which.MemoryStorage, which.Replicas, which.InactiveThreshold = jetstream.AckNonePolicy, true, 1, 30*time.Second
	return retry(ctx, func(asked context.Context) (bool, error) {
		consumer, err := s.sessions.CreateConsumer(asked, which)
		if err != nil {
			return false, err
		}
		messages, err := consumer.Messages(jetstream.PullExpiry(4*time.Second), jetstream.PullHeartbeat(time.Second))
		if err != nil {
			return false, err
		}
		defer messages.Stop()
		for n := uint64(1); ; n++ {
			m, err := messages.Next(jetstream.NextContext(ctx))
			if err != nil {
				return false, err
			}
			at, err := m.Metadata()
			if err == nil && at.Sequence.Consumer != n {
				err = errors.New("a message was not delivered")
			}
			if err != nil {
				return false, err
			}
			which.DeliverPolicy, which.OptStartSeq = jetstream.DeliverByStartSequencePolicy, at.Sequence.Stream+1
			if done, err := each(m, at.Sequence.Stream); done || err != nil {
				return true, err
			}
		}
	})
}

// follow keeps the list of all sessions in memory. It ends with s.ctx.
func (s *Store) follow() {
	which := jetstream.ConsumerConfig{FilterSubject: s.all().name, DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy, HeadersOnly: true}
	_ = s.read(s.ctx, which, func(m jetstream.Msg, seq uint64) (bool, error) {
		e, err := decodeEntry(m.Headers())
		if err != nil {
			s.log.Warn("a message in the stream of the sessions is ignored", "sequence", seq, "error", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.seen = seq; e != nil && e.State == isDeleted {
			s.index.Drop(e.Meta.ID)
		} else if e != nil {
			s.index.Put(e.Meta.ID, e.Meta)
		}
		return false, nil
	})
}

// List implements journal.Store. For a first page it asks the servers for the last message, and waits until the
// list in memory has it.
func (s *Store) List(ctx context.Context, q journal.Query) (page []journal.Meta, next string, err error) {
	ctx, cancel := s.within(ctx)
	defer cancel()
	var last at
	if q.Cursor == "" {
		last, err = s.last(ctx, s.all())
	}
	if err == nil {
		err = retry(ctx, func(context.Context) (bool, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.seen < last.seq {
				return false, errors.New("the list is behind the stream")
			}
			page, next, err = s.index.Page(q)
			return true, err
		})
	}
	if err != nil {
		return nil, "", fmt.Errorf("jetstream: the sessions cannot be listed: %w", err)
	}
	return page, next, nil
}
