package kit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/internal/history"
	"github.com/acpkit/go-sdk/rpcerr"
)

// record is one record of the journal. The data of an event is the acp.SessionUpdate for the
// client.
type record struct {
	kind journal.Kind
	data any
}

type settingRecord struct {
	ID    string `json:"id"`
	Value string `json:"value"`
}

// storageError reports that the session cannot be stored.
type storageError struct{ err error }

func (e *storageError) Error() string { return "kit: the session cannot be stored: " + e.err.Error() }
func (e *storageError) Unwrap() error { return e.err }

// RequestError returns the error for the client.
func (e *storageError) RequestError() *rpcerr.RequestError { return history.StoreError(e.err) }

// unstored returns the error of a request whose ctx is ctx for an error of the store.
func unstored(ctx context.Context, err error) error {
	return cmp.Or(ctx.Err(), error(history.StoreError(err)))
}

// use calls f with the log of the session. An error ends the turn. It means that the session cannot
// be stored, unless ctx is done.
func (s *Session) use(ctx context.Context, f func(journal.Log) error) error {
	log, err := s.journal()
	if err == nil {
		if err = f(log); errors.Is(err, journal.ErrClosed) { // the session has ended, or its log is opened again
			if log, err = s.journal(); err != nil {
				return err
			}
			err = f(log)
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		err = &storageError{err}
		s.logMu.Lock()
		s.failed = true
		s.logMu.Unlock()
	}
	s.mu.Lock()
	cancel := s.busy
	s.mu.Unlock()
	if cancel != nil {
		cancel(err)
	}
	return err
}

func (s *Session) append(recs ...record) error {
	all, err := encode(recs)
	if err != nil {
		return err
	}
	return s.use(context.Background(), func(log journal.Log) error {
		s.logMu.Lock()
		opened := s.opened
		s.logMu.Unlock()
		seq, err := log.Append(all...)
		if err != nil {
			return err
		}
		s.logMu.Lock()
		defer s.logMu.Unlock()
		s.seq = max(s.seq, seq)
		for i, r := range recs {
			if m, ok := r.data.(modelRecord); ok && s.opened == opened { // otherwise it was read from the log
				s.items = m.after(s.items)
				if m.Replace {
					s.replaced = seq - int64(len(recs)-i)
				}
			}
		}
		return nil
	})
}

func encode(recs []record) ([]journal.Record, error) {
	all := make([]journal.Record, len(recs))
	for i, r := range recs {
		data, err := history.Encode(r.data)
		if err != nil {
			return nil, err
		}
		if r.kind == journal.KindEvent {
			data = withoutMeta(data)
		}
		all[i] = journal.Record{Kind: r.kind, Data: data}
	}
	return all, nil
}

// store appends records and waits until they survive a loss of power.
func (s *Session) store(ctx context.Context, recs ...record) error {
	if err := s.append(recs...); err != nil {
		return err
	}
	return s.sync(ctx)
}

func (s *Session) sync(ctx context.Context) error {
	return s.use(ctx, func(log journal.Log) error { return log.Sync(ctx) })
}

// withoutMeta removes the members "_meta", except from the input and output of tools.
func withoutMeta(data []byte) []byte {
	if !bytes.Contains(data, []byte(`"_meta"`)) {
		return data
	}
	var object map[string]json.RawMessage
	var list []json.RawMessage
	if json.Unmarshal(data, &object) == nil {
		delete(object, "_meta")
		for name, value := range object {
			if name != "rawInput" && name != "rawOutput" {
				object[name] = withoutMeta(value)
			}
		}
		data, _ = json.Marshal(object) // it was decoded
	} else if json.Unmarshal(data, &list) == nil {
		for i := range list {
			list[i] = withoutMeta(list[i])
		}
		data, _ = json.Marshal(list)
	}
	return data
}
