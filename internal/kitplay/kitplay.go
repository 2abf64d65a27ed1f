// Package kitplay has what the tests of agent/kit share, which are in two modules.
package kitplay

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
)

// Echo is a turn with a thought that repeats the prompt in three parts.
func Echo(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
	return "", errors.Join(s.Thought(ctx, "hm"), s.Text(ctx, "You "), s.Text(ctx, "said: "), s.Text(ctx, acp.PlainText(p.Blocks...)))
}

// Files opens a store as another program that uses the same folder would.
func Files(t testing.TB, dir string) journal.Store {
	t.Helper()
	store, err := journal.OpenFiles(dir, &journal.FilesOptions{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// Store is a store whose logs are what Log makes of them.
type Store struct {
	journal.Store
	Log func(journal.Log) journal.Log
}

func (s Store) Create(ctx context.Context, id string, m journal.Meta) (journal.Log, error) {
	return s.opened(s.Store.Create(ctx, id, m))
}

func (s Store) Open(ctx context.Context, id string) (journal.Log, error) {
	return s.opened(s.Store.Open(ctx, id))
}

func (s Store) opened(l journal.Log, err error) (journal.Log, error) {
	if err != nil {
		return nil, err
	}
	return s.Log(l), nil
}
