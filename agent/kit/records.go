package kit

import (
	"bytes"
	"context"
	"errors"

	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/internal/envelope"
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

// maxDepth is the nesting limit of encoding/json, which decodes the records.
const maxDepth = 10_000

// withoutMeta returns valid JSON without the members "_meta", except those in the input and output of tools.
func withoutMeta(data []byte) []byte {
	if !bytes.Contains(data, []byte(`"_meta"`)) {
		return data
	}
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); {
		if data[i] != '"' {
			out = append(out, data[i])
			i++
			continue
		}
		end, _ := envelope.SkipString(data, i)
		colon := envelope.SkipSpace(data, end)
		if colon == len(data) || data[colon] != ':' { // a value, and no name
			out = append(out, data[i:end]...)
			i = end
			continue
		}
		start, name := i, string(data[i:end])
		i = colon + 1
		switch name {
		case `"_meta"`:
			i, _ = envelope.Skip(data, i, maxDepth)
			// One of the commas around it goes too.
			if next := envelope.SkipSpace(data, i); data[next] == ',' {
				i = next + 1
			} else {
				out = bytes.TrimSuffix(bytes.TrimSpace(out), []byte(","))
			}
			continue
		case `"rawInput"`, `"rawOutput"`:
			i, _ = envelope.Skip(data, i, maxDepth)
		}
		out = append(out, data[start:i]...)
	}
	return out
}
