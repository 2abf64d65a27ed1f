package kit_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/internal/kitplay"
)

// What Tools opened is closed with its session: by the client, with the connection, and if the session
// cannot be opened.
func TestOnClose(t *testing.T) {
	for name, end := range map[string]func(u *user, a *kit.Agent, id acp.SessionID){
		"close": func(u *user, _ *kit.Agent, id acp.SessionID) {
			_, err := u.CloseSession(u.t.Context(), &acp.CloseSessionRequest{SessionID: id})
			require.NoError(u.t, err)
		},
		"the connection": func(u *user, _ *kit.Agent, _ acp.SessionID) { u.leave() },
		"the agent":      func(u *user, a *kit.Agent, _ acp.SessionID) { require.NoError(u.t, a.Close(u.t.Context())) },
	} {
		t.Run(name, func(t *testing.T) {
			var closed []string
			var session *kit.Session
			d := newDisk()
			a := kit.New(&kit.Options{Store: d, Turn: echo, Logger: slog.New(slog.DiscardHandler), Tools: func(s *kit.Session) []tools.Tool {
				session = s
				s.OnClose(func() {
					closed = append(closed, "first")
					assert.NoError(t, s.SetState("closed"), "the store is still open")
				})
				s.OnClose(func() { panic("a mistake of the author") })
				s.OnClose(func() { closed = append(closed, "last") })
				return nil
			}})
			u := connect(t, a)
			id := u.open()
			u.ask(id, "hello")
			assert.Empty(t, closed)
			end(u, a, id)
			<-session.Done()
			assert.Equal(t, []string{"last", "first"}, closed)
			session.OnClose(func() { closed = append(closed, "late") })
			assert.Equal(t, []string{"last", "first", "late"}, closed)
		})
	}
	opened, closed := 0, 0
	u := connect(t, kit.New(&kit.Options{Turn: echo, Logger: slog.New(slog.DiscardHandler), Tools: func(s *kit.Session) []tools.Tool {
		opened++
		s.OnClose(func() { closed++ })
		return []tools.Tool{{Name: "not a name"}}
	}}))
	_, err := u.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir()})
	require.Error(t, err)
	assert.Equal(t, []int{1, 1}, []int{opened, closed})
}

// The state of an author is stored with the session.
func TestState(t *testing.T) {
	type state struct{ Branch string }
	dir := t.TempDir()
	options := &kit.Options{Owner: func(context.Context) string { return "me" }, Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
		var now state
		if err := s.State(&now); err != nil {
			return "", err
		}
		assert.Equal(t, "me", s.Meta().Owner)
		assert.Equal(t, string(s.ID()), s.Meta().ID)
		assert.Error(t, s.SetState(make([]byte, 1<<20)))
		if err := s.Text(ctx, now.Branch); err != nil {
			return "", err
		}
		return "", s.SetState(state{acp.PlainText(p.Blocks...)})
	}}
	person := func() *user {
		o := *options
		o.Store = kitplay.Files(t, dir)
		return connect(t, kit.New(&o))
	}
	u := person()
	id := u.open()
	u.ask(id, "main")
	u.leave()
	u = person()
	u.load(id)
	u.ask(id, "next")
	assert.Equal(t, []string{"user: main", "user: next", "agent: main"}, shown(u.set.Thread(id).Snapshot()))
}
