package kittest_test

import (
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/kit/kittest"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/stream"
)

// shelf is a Backend in memory.
type shelf struct {
	mu  sync.Mutex
	all map[string]*book
}

type book struct {
	meta    journal.Meta
	updates []acp.SessionUpdate
}

func newShelf(_ *testing.T, before kit.Backend) kit.Backend {
	if before != nil {
		return before
	}
	return &shelf{all: make(map[string]*book)}
}

func (s *shelf) Create(_ context.Context, m journal.Meta) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[m.ID] = &book{meta: m}
	return nil
}

func (s *shelf) Load(_ context.Context, id string) (journal.Meta, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[id] == nil {
		return journal.Meta{}, journal.ErrNotFound
	}
	return s.all[id].meta, nil
}

func (s *shelf) List(_ context.Context, q journal.Query) (page []journal.Meta, next string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.Cursor != "" && s.all[q.Cursor] == nil {
		return nil, "", journal.ErrCursor
	}
	for _, b := range s.all {
		if b.meta.Owner == q.Owner && (q.Cwd == "" || b.meta.Cwd == q.Cwd) && b.meta.ID > q.Cursor {
			page = append(page, b.meta)
		}
	}
	slices.SortFunc(page, func(a, b journal.Meta) int { return strings.Compare(a.ID, b.ID) })
	if q.Limit > 0 && len(page) > q.Limit {
		page = page[:q.Limit]
		next = page[q.Limit-1].ID
	}
	return page, next, nil
}

func (s *shelf) Replay(ctx context.Context, id string) iter.Seq2[acp.SessionUpdate, error] {
	return func(yield func(acp.SessionUpdate, error) bool) {
		s.mu.Lock()
		all := slices.Clone(s.all[id].updates)
		s.mu.Unlock()
		for _, u := range all {
			if !yield(u, ctx.Err()) || ctx.Err() != nil {
				return
			}
		}
	}
}

func (s *shelf) Append(_ context.Context, id string, updates ...acp.SessionUpdate) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.all[id]
	for _, u := range updates {
		if info, ok := u.(*acp.SessionInfoUpdate); ok {
			b.meta.Title, _ = info.Title.Get()
			continue
		}
		b.updates = append(b.updates, u)
	}
	return nil
}

func (s *shelf) Delete(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, id)
	return nil
}

func TestShelf(t *testing.T) { kittest.TestBackend(t, newShelf) }

// An agent with a Backend loads what it has shown, and the mode, the setting and the title. A call
// that a crash has interrupted counts as failed.
func TestAgentWithBackend(t *testing.T) {
	b := newShelf(t, nil)
	var text string // of the messages that the client receives
	show := func(_ context.Context, n *acp.SessionNotification) error {
		switch u := n.Update.(type) {
		case *acp.UserMessageChunk:
			text += "user: " + acp.PlainText(u.Content) + "\n"
		case *acp.AgentMessageChunk:
			text += acp.PlainText(u.Content)
		case *acp.ToolCall:
			text += u.Title + " " + string(u.Status) + "\n"
		}
		return nil
	}
	serve := func() *client.Conn {
		a := kit.New(&kit.Options{
			Backend: b, Modes: kit.Modes{{ID: "ask", Name: "Ask"}, {ID: "auto", Name: "Auto"}},
			Settings: kit.Settings{{ID: "model", Name: "Model", Values: []acp.SessionConfigSelectOption{{Value: "big", Name: "Big"}, {Value: "small", Name: "Small"}}}},
			Turn: func(ctx context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
				for _, delta := range []string{"It ", "is ", "done.\n"} {
					if err := s.Text(ctx, delta); err != nil {
						return "", err
					}
				}
				return "", nil
			},
		})
		ours, theirs := stream.Pipe()
		served := make(chan error, 1)
		go func() { served <- a.Serve(context.Background(), theirs) }() // ends with the connection
		conn, err := client.Connect(t.Context(), ours, func(*client.Conn) acp.Client { return &peertest.Client{OnUpdate: show} }, nil)
		require.NoError(t, err)
		t.Cleanup(func() {
			conn.Close()
			<-served
		})
		return conn
	}
	conn := serve()
	s, err := conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir()})
	require.NoError(t, err)
	_, err = conn.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: s.SessionID, ModeID: "auto"})
	require.NoError(t, err)
	_, err = conn.SetSessionConfigOption(t.Context(), &acp.SetSessionConfigOptionRequest{SessionID: s.SessionID, ConfigID: "model", Value: &acp.SessionConfigValue{Value: "small"}})
	require.NoError(t, err)
	_, err = conn.Prompt(t.Context(), &acp.PromptRequest{SessionID: s.SessionID, Prompt: []acp.ContentBlock{acp.Text("Do it")}})
	require.NoError(t, err)
	require.NoError(t, b.Append(t.Context(), string(s.SessionID), acp.AgentText("Before.\n"), // as another program has stored it, without ids
		&acp.ToolCall{ToolCallID: "c", Title: "Build", Status: acp.ToolCallStatusInProgress}, acp.AgentText("Af"), acp.AgentText("ter.")))

	conn.Close()
	<-conn.Done()

	text = ""
	again := serve()
	res, err := again.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: s.SessionID, Cwd: t.TempDir()})
	require.NoError(t, err)
	assert.Equal(t, "user: Do it\nIt is done.\nBefore.\nBuild failed\nAfter.", text)
	assert.Equal(t, acp.SessionModeID("auto"), res.Modes.CurrentModeID)
	assert.Equal(t, acp.SessionConfigValueID("small"), res.ConfigOptions[1].Kind.(*acp.SessionConfigSelect).CurrentValue)
	list, err := again.ListSessions(t.Context(), &acp.ListSessionsRequest{})
	require.NoError(t, err)
	assert.Equal(t, "Do it", list.Sessions[0].Title)
}
