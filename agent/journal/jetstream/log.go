package jetstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/acpkit/go-sdk/agent/journal"
)

// log is an open session, or one that is being opened.
type log struct {
	store   *Store
	id      string
	subject subject
	damage  []journal.Damage

	ctx  context.Context // ends with its cause when the log is lost or closed
	lose context.CancelCauseFunc

	slow sync.Mutex // held while an entry is being put

	last atomic.Pointer[entry] // not modified, but replaced with slow
}

// put stores records, with the last entry as change changes it. It returns the number of the last record.
func (l *log) put(recs []journal.Record, change func(*entry)) (int64, error) {
	l.slow.Lock()
	defer l.slow.Unlock()
	if err := context.Cause(l.ctx); err != nil {
		return 0, err
	}
	e := *l.last.Load()
	change(&e)
	body, err := e.add(recs)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeoutCause(l.ctx, l.store.opts.lease, errTooLate)
	defer cancel()
	err = l.store.put(ctx, l.subject, &e, body)
	if errors.Is(err, errTaken) {
		l.store.count(func(n *Stats) { n.Fenced++ })
	}
	if errors.Is(err, errTaken) || errors.Is(err, errUnknown) {
		l.end(err)
		err = context.Cause(l.ctx)
	}
	if err != nil {
		return 0, err
	}
	l.last.Store(&e)
	return e.Records, nil
}

// end ends the log: nothing more can be appended.
func (l *log) end(cause error) {
	if !errors.Is(cause, journal.ErrClosed) {
		cause = fmt.Errorf("jetstream: session %q: %w: %w", l.id, journal.ErrClosed, cause)
	}
	l.lose(cause)
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if l.store.open[l.id] == l {
		delete(l.store.open, l.id)
	}
}

// Append implements journal.Log. It waits for the servers while they elect a leader. An error that wraps
// journal.ErrClosed means that the log has ended: open the session again.
func (l *log) Append(recs ...journal.Record) (int64, error) {
	if len(recs) == 0 {
		return l.last.Load().Records, context.Cause(l.ctx)
	}
	l.store.count(func(n *Stats) { n.Appends++ })
	return l.put(recs, func(*entry) {})
}

// SetMeta implements journal.Log.
func (l *log) SetMeta(change func(*journal.Meta)) error {
	_, err := l.put(nil, func(e *entry) { e.Meta = e.Meta.Changed(change) })
	return err
}

// Sync implements journal.Log. Append has returned when the replicas have the records; whether they survive
// a loss of power is a setting of the servers, see the package comment.
func (l *log) Sync(context.Context) error { return context.Cause(l.ctx) }

// Meta implements journal.Log.
func (l *log) Meta() journal.Meta { return l.last.Load().Meta.Clone() }

// Damage implements journal.Log.
func (l *log) Damage() []journal.Damage { return slices.Clone(l.damage) }

// inspect looks for messages that a session had and that the stream has not.
func (l *log) inspect(ctx context.Context, last *entry) error {
	return retry(ctx, func(ctx context.Context) (bool, error) {
		info, err := l.store.sessions.Info(ctx, jetstream.WithSubjectFilter(l.subject.name))
		if err != nil {
			return false, err
		}
		if have := int64(info.State.Subjects[l.subject.name]); have < last.Messages {
			l.damage = []journal.Damage{{Reason: fmt.Sprintf("%d of %d messages are missing in the stream %s", last.Messages-have, last.Messages, info.Config.Name)}}
		}
		return true, nil
	})
}

// Read implements journal.Log. A replica may be behind, so Read ends at the message that was the last of the session
// when it began, and not where the replica ends.
func (l *log) Read(ctx context.Context, after int64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		if err := l.read(ctx, after, yield); err != nil {
			yield(journal.Record{}, err)
		}
	}
}

func (l *log) read(ctx context.Context, after int64, yield func(journal.Record, error) bool) error {
	if err := context.Cause(l.ctx); err != nil {
		return err
	}
	ctx, cancel := both(ctx, l.ctx)
	defer cancel()
	until := l.last.Load().seq
	var body []byte
	return l.store.read(ctx, jetstream.ConsumerConfig{FilterSubject: l.subject.name}, func(m jetstream.Msg, seq uint64) (done bool, err error) {
		if seq > until {
			return true, &journal.DamagedError{ID: l.id, Damage: journal.Damage{Reason: "its last message was removed from the stream"}}
		}
		if body = append(body, m.Data()...); m.Headers().Get(entryHeader) == "" {
			return false, nil
		}
		for dec := json.NewDecoder(bytes.NewReader(body)); dec.More(); {
			var r journal.Record
			if err := dec.Decode(&r); err != nil {
				return true, fmt.Errorf("jetstream: a record of session %q cannot be read: %w", l.id, err)
			}
			if r.Seq > after && !yield(r, nil) {
				return true, nil
			}
		}
		body = body[:0]
		return seq == until, nil
	})
}

// Close implements journal.Log. It ends an Append that waits for the servers after 5 seconds. If they do not answer, others
// can open the session when this process ends or has opened it again.
func (l *log) Close() error {
	defer time.AfterFunc(answerTime, func() { l.end(errTooLate) }).Stop()
	open := false
	_, err := l.put(nil, func(e *entry) { open, e.State = true, isClosed })
	if err != nil && open {
		l.store.log.Warn("a session was closed without telling the servers", "session", l.id, "error", err)
	}
	l.end(journal.ErrClosed)
	return nil
}
