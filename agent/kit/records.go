package kit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"syscall"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/rpcerr"
)

// record is one record of the journal. The data of an event is the acp.SessionUpdate for the
// client.
type record struct {
	kind journal.Kind
	data any
}

// encode encodes the data. It calls MarshalJSON directly, because json.Marshal would check the
// result again.
func (r *record) encode() ([]byte, error) {
	if u, ok := r.data.(json.Marshaler); ok {
		return u.MarshalJSON()
	}
	return json.Marshal(r.data)
}

// turnRecord records the begin or end of a turn. A turn without an end was interrupted.
type turnRecord struct {
	State      string         `json:"state"`
	StopReason acp.StopReason `json:"stopReason,omitempty"` // empty after an error
}

const (
	turnBegun       = "begun"
	turnEnded       = "ended"
	turnInterrupted = "interrupted" // written when the session is opened again
)

// settingRecord records the new value of a setting.
type settingRecord struct {
	ID    string `json:"id"`
	Value string `json:"value"`
}

// modelRecord records what the model reads: in addition to the earlier items, or in place of them.
type modelRecord struct {
	Replace bool              `json:"replace,omitempty"`
	Items   []json.RawMessage `json:"items"`
}

// storageError reports that the session cannot be stored.
type storageError struct{ err error }

func (e *storageError) Error() string { return "kit: the session cannot be stored: " + e.err.Error() }
func (e *storageError) Unwrap() error { return e.err }

// RequestError returns the error for the client.
func (e *storageError) RequestError() *rpcerr.RequestError { return storeError(e.err) }

// storeError converts an error of the store into an error for the client.
func storeError(err error) *rpcerr.RequestError {
	var held *journal.HeldError
	var damaged *journal.DamagedError
	var errno syscall.Errno
	text := "the sessions cannot be stored or read"
	switch {
	case errors.As(err, &held):
		return rpcerr.InvalidRequest(nil).WithDetail("this session is open elsewhere, maybe in another process: close it there").WithCause(err)
	case errors.As(err, &damaged):
		text = "the session cannot be read: " + damaged.Damage.String()
	case errors.Is(err, journal.ErrNewer):
		text = "a newer version of this agent wrote the session: it can be read only"
	case errors.As(err, &errno):
		text += ": " + errno.Error()
	}
	return rpcerr.InternalError(nil).WithDetail(text).WithCause(err)
}

// journal returns the log of the session, which it opens again if the session was idle.
func (s *Session) journal() (journal.Log, error) {
	s.logMu.Lock()
	defer s.logMu.Unlock()
	s.used = time.Now()
	if isClosed(s.gone) {
		return nil, rpcerr.SessionNotFound(string(s.id)).WithCause(errClosed)
	}
	if s.log == nil {
		log, err := s.agent.opts.Store.Open(context.Background(), string(s.id))
		if err != nil {
			return nil, &storageError{err}
		}
		s.log = log
		s.idle.Reset(idleTime)
	}
	return s.log, nil
}

// use calls f with the log of the session. An error ends the turn. It means that the session cannot
// be stored, unless ctx is done.
func (s *Session) use(ctx context.Context, f func(journal.Log) error) error {
	log, err := s.journal()
	if err == nil {
		if err = f(log); err == nil || ctx.Err() != nil {
			return err
		}
		err = &storageError{err}
	}
	s.mu.Lock()
	cancel := s.busy
	s.mu.Unlock()
	if cancel != nil {
		cancel(err)
	}
	return err
}

// append stores records.
func (s *Session) append(recs ...record) error {
	all := make([]journal.Record, len(recs))
	for i, r := range recs {
		data, err := r.encode()
		if err != nil {
			return err
		}
		if r.kind == journal.KindEvent {
			data = withoutMeta(data)
		}
		all[i] = journal.Record{Kind: r.kind, Data: data}
	}
	return s.use(context.Background(), func(log journal.Log) error {
		_, err := log.Append(all...)
		return err
	})
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

var (
	metaMember = []byte(`"_meta"`)
	opaque     = map[string]bool{"rawInput": true, "rawOutput": true}
)

// withoutMeta removes the members "_meta", except from the input and output of tools.
func withoutMeta(data []byte) []byte {
	if !bytes.Contains(data, metaMember) {
		return data
	}
	var object map[string]json.RawMessage
	var list []json.RawMessage
	var out any
	if json.Unmarshal(data, &object) == nil {
		delete(object, "_meta")
		for name, value := range object {
			if !opaque[name] {
				object[name] = withoutMeta(value)
			}
		}
		out = object
	} else if json.Unmarshal(data, &list) == nil {
		for i := range list {
			list[i] = withoutMeta(list[i])
		}
		out = list
	} else {
		return data // a text
	}
	if clean, err := json.Marshal(out); err == nil {
		return clean
	}
	return data
}
