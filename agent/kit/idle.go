package kit

import (
	"context"
	"errors"
	"time"

	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/rpcerr"
)

// idleTime is the time without a turn after which a session closes its log.
const idleTime = 30 * time.Minute

// rest closes the log of an idle session. The next use opens it again.
func (s *Session) rest() {
	if s.running() {
		s.idle.Reset(idleTime)
		return
	}
	s.logMu.Lock()
	idle := time.Since(s.used)
	switch {
	case s.log == nil:
	case idle < idleTime: // a caller of journal may be using the log
		s.idle.Reset(idleTime - idle)
	default:
		s.closeLog()
	}
	s.logMu.Unlock()
}

// closeLog closes the log if it is open. The caller holds logMu.
func (s *Session) closeLog() {
	if s.log == nil {
		return
	}
	if err := s.log.Close(); err != nil {
		s.agent.log.Warn("the log of a session cannot be closed", "session", string(s.id), "error", err)
	}
	s.log, s.items = nil, nil
}

// journal returns the log of the session. If the session was idle, it opens the log again, and reads
// what another process has written meanwhile.
func (s *Session) journal() (journal.Log, error) {
	s.logMu.Lock()
	defer s.logMu.Unlock()
	s.used = time.Now()
	if isClosed(s.gone) {
		return nil, rpcerr.SessionNotFound(string(s.id)).WithCause(errClosed)
	}
	if s.log == nil {
		log, err := s.agent.opts.Store.Open(context.Background(), string(s.id))
		if errors.Is(err, journal.ErrNotFound) { // deleted meanwhile
			return nil, rpcerr.SessionNotFound(string(s.id)).WithCause(err)
		} else if err != nil {
			return nil, &storageError{err}
		}
		if _, err := s.catchUp(context.Background(), log); err != nil {
			return nil, &storageError{errors.Join(err, log.Close())}
		}
		s.log = log
		s.idle.Reset(idleTime)
	}
	return s.log, nil
}

// retry closes the log if it could not be written, so that the next use opens it again: the disk may
// have room now. It is called between turns.
func (s *Session) retry() {
	s.logMu.Lock()
	defer s.logMu.Unlock()
	if s.failed {
		s.failed = false
		s.closeLog()
	}
}

// catchUp reads the records that the session does not know, applies them, and ends what a crash has left
// open. The caller holds logMu if the session is open.
func (s *Session) catchUp(ctx context.Context, log journal.Log) (*restored, error) {
	h, known := newRestored(), s.seq
	if err := h.read(ctx, log, s.replaced, known); err != nil { // what the model reads was forgotten
		return nil, err
	}
	again := s.opened > 0
	if recs := h.repair(); recs != nil {
		encoded, err := encode(recs)
		if err == nil {
			h.last, err = log.Append(encoded...)
		}
		if err != nil && !errors.Is(err, journal.ErrNewer) { // such a session can still be read
			return nil, err
		}
	}
	s.tellDamage(log)
	s.opened, s.items, s.seq, s.replaced = s.opened+1, h.items, max(s.seq, h.last), max(s.replaced, h.replaced)
	for _, rule := range h.rules {
		s.rules.Add(rule)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.apply(h.settings)
	if h.prompted {
		s.recorded = h.system
	}
	if usage := h.shown.Usage(); usage != nil {
		s.cost = usage.Cost
	}
	if again && h.last > known {
		s.missed = h
	}
	return h, nil
}

// tellMissed sends the client what another process has added while the session was idle.
func (s *Session) tellMissed(ctx context.Context) error {
	s.mu.Lock()
	missed := s.missed
	s.missed = nil
	s.mu.Unlock()
	if missed == nil {
		return nil
	}
	if err := missed.replay(ctx, s); err != nil {
		return err
	}
	if _, changed := missed.settings[modeSetting]; changed {
		if err := s.client.SetMode(ctx, s.Mode()); err != nil {
			return err
		}
	}
	if len(missed.settings) > 0 {
		return s.client.SetConfigOptions(ctx, s.configOptions()...)
	}
	return nil
}
