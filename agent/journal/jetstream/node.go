package jetstream

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/acpkit/go-sdk/agent/journal"
)

var errName = fmt.Errorf("jetstream: another process runs with the name of this one: give each a name of its own, and start this one again: %w", journal.ErrClosed)

// beats returns where the heartbeats of a process are.
func (s *Store) beats(node string) subject {
	return subject{s.nodes, fmt.Sprintf("%s.node.%x", s.opts.Name, sha256.Sum256([]byte(node)))}
}

// beat puts a heartbeat of this process. The first one replaces that of an earlier process of the name, whose sessions are free
// then; a later one does not.
func (s *Store) beat(ctx context.Context, state state, first bool) error {
	_, err := s.change(ctx, s.beats(s.opts.Node), func(_ context.Context, last at) (*entry, error) {
		if !first && last.entry != nil && last.State == isOpen && last.Epoch != s.epoch {
			return nil, errName
		}
		return &entry{State: state}, nil
	})
	return err
}

// renew renews the heartbeat, which was sent at a time. When that fails for as long as it is valid, the logs end, and none can be
// opened until there is a heartbeat again. It ends with s.ctx, also when another process has the name of this one.
func (s *Store) renew(sent time.Time) {
	pause := time.NewTicker(s.opts.lease / 6)
	defer pause.Stop()
	for {
		select {
		case <-pause.C:
		case <-s.ctx.Done():
			return
		}
		begun := time.Now() // before the servers have it, so it is over there no earlier than lease after
		ctx, cancel := context.WithDeadlineCause(s.ctx, sent.Add(s.opts.lease), errTooLate)
		err := s.beat(ctx, isOpen, false)
		cancel()
		switch {
		case s.ctx.Err() != nil:
			return
		case err != nil && !errors.Is(err, errName) && time.Since(sent) < s.opts.lease: // the servers have no room
			continue
		}
		open := s.serve(err == nil)
		if err != nil {
			s.log.Error("this process has no heartbeat, so others may have its sessions, and they are closed here", "node", s.opts.Node, "error", err)
			for _, l := range open {
				l.end(err)
			}
		}
		if errors.Is(err, errName) {
			s.end(err)
		}
		sent = begun
	}
}

// serve sets whether sessions can be opened. It returns those that are open.
func (s *Store) serve(on bool) []*log {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serving = on
	return slices.Collect(maps.Values(s.open))
}
