package kit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/internal/history"
)

// A Backend stores sessions in place of Options.Store, for a program that already has a store, for
// example one that it shares with a terminal interface. It stores what the person sees. The program
// itself stores what the model reads: Remember and Compact of a Session fail, and History is empty.
// What a person allows for the rest of a session is not stored; it ends when the session is closed.
//
// The methods are called for several sessions at once. For one session, the calls do not overlap,
// except those of Replay. A method returns when its data is written, because the response to a
// prompt is sent after that. Two programs that share a store must themselves prevent that both use
// the same session at the same time. Package kittest tests a Backend.
type Backend interface {
	// Create stores a new session. Its ID, Cwd, AdditionalDirectories, Owner and Created are set.
	Create(ctx context.Context, m journal.Meta) error

	// Load returns the metadata of a session, or an error that wraps journal.ErrNotFound.
	Load(ctx context.Context, id string) (journal.Meta, error)

	// List returns a page of sessions, as journal.Store does.
	List(ctx context.Context, q journal.Query) (page []journal.Meta, next string, err error)

	// Replay returns the updates of a session in their order. Chunks with the same message id may
	// be joined. If several updates are about one tool call, the last one counts.
	Replay(ctx context.Context, id string) iter.Seq2[acp.SessionUpdate, error]

	// Append adds updates: messages including those of the user, tool calls when they are announced
	// and when they end, plans, usage, and the mode. Any other setting is a ConfigOptionUpdate with
	// one option. A title is a SessionInfoUpdate; Load returns the title, and Replay omits the
	// update.
	Append(ctx context.Context, id string, updates ...acp.SessionUpdate) error

	// Delete deletes a session. It returns nil if there is none.
	Delete(ctx context.Context, id string) error
}

type backendStore struct{ Backend }

func (s backendStore) Create(ctx context.Context, id string, m journal.Meta) (journal.Log, error) {
	m.ID = id
	return &backendLog{b: s.Backend, meta: m}, s.Backend.Create(ctx, m)
}

func (s backendStore) Open(ctx context.Context, id string) (journal.Log, error) {
	m, err := s.Load(ctx, id)
	return &backendLog{b: s.Backend, meta: m}, err
}

func (s backendStore) Meta(ctx context.Context, id string) (journal.Meta, error) {
	return s.Load(ctx, id)
}

type backendLog struct {
	b Backend

	mu   sync.Mutex // held while Append of the Backend runs
	meta journal.Meta
	seq  int64
}

var errNoHistory = errors.New("kit: with a Backend, what the model reads is kept by the program: do not call Remember and Compact")

func (l *backendLog) Append(recs ...journal.Record) (int64, error) {
	var updates []acp.SessionUpdate
	for _, r := range recs {
		switch r.Kind {
		case journal.KindEvent:
			u, err := acp.UnmarshalSessionUpdate(r.Data)
			if err != nil {
				return 0, err
			}
			updates = append(updates, u)
		case journal.KindSetting:
			var t settingRecord
			if err := json.Unmarshal(r.Data, &t); err != nil {
				return 0, err
			}
			updates = append(updates, t.update())
		case journal.KindModel:
			return 0, errNoHistory
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq += int64(len(recs))
	if len(updates) == 0 {
		return l.seq, nil
	}
	return l.seq, l.b.Append(context.Background(), l.meta.ID, updates...)
}

// update returns the update that a Backend stores for the setting.
func (t settingRecord) update() acp.SessionUpdate {
	if t.ID == modeSetting {
		return &acp.CurrentModeUpdate{CurrentModeID: acp.SessionModeID(t.Value)}
	}
	s := Setting{ID: t.ID, Name: t.ID, Values: []acp.SessionConfigSelectOption{{Value: acp.SessionConfigValueID(t.Value), Name: t.Value}}}
	return &acp.ConfigOptionUpdate{ConfigOptions: []acp.SessionConfigOption{s.option(t.Value)}}
}

// recordsOf returns the records that a stored update stands for.
func recordsOf(u acp.SessionUpdate) (all []record) {
	switch u := u.(type) {
	case *acp.CurrentModeUpdate:
		return []record{{journal.KindSetting, settingRecord{modeSetting, string(u.CurrentModeID)}}}
	case *acp.ConfigOptionUpdate:
		for _, o := range u.ConfigOptions {
			if kind, ok := o.Kind.(*acp.SessionConfigSelect); ok {
				all = append(all, record{journal.KindSetting, settingRecord{string(o.ID), string(kind.CurrentValue)}})
			}
		}
		return all
	}
	return []record{{journal.KindEvent, u}}
}

func (l *backendLog) Read(ctx context.Context, _ int64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		for u, err := range l.b.Replay(ctx, l.meta.ID) {
			if err != nil {
				yield(journal.Record{}, err)
				return
			}
			for _, r := range recordsOf(u) {
				data, err := history.Encode(r.data)
				if !yield(journal.Record{Kind: r.kind, Data: data}, err) || err != nil {
					return
				}
			}
		}
	}
}

func (l *backendLog) Meta() journal.Meta {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.meta
}

// SetMeta stores the title if it has changed.
func (l *backendLog) SetMeta(change func(*journal.Meta)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.meta
	change(&m)
	if m.Title != l.meta.Title {
		if err := l.b.Append(context.Background(), m.ID, &acp.SessionInfoUpdate{Title: acp.Some(m.Title)}); err != nil {
			return fmt.Errorf("kit: the title: %w", err)
		}
	}
	l.meta = m
	return nil
}

func (l *backendLog) Sync(context.Context) error { return nil }
func (l *backendLog) Damage() []journal.Damage   { return nil }
func (l *backendLog) Close() error               { return nil }
