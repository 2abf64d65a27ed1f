package kit_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/internal/kitplay"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// If a function of the author panics while a session is opened, the session can be opened later.
func TestPanicWhileASessionIsOpened(t *testing.T) {
	for name, function := range map[string]func(o *kit.Options, f func()){
		"Tools": func(o *kit.Options, f func()) {
			o.Tools = func(*kit.Session) []tools.Tool { f(); return nil }
		},
		"Setting.Load": func(o *kit.Options, f func()) {
			o.Settings = kit.Settings{{ID: "x", Name: "X", Load: func(context.Context) ([]acp.SessionConfigSelectOption, error) { f(); return nil, nil }}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var faulty atomic.Bool
			o := &kit.Options{Turn: echo, Logger: slog.New(slog.DiscardHandler)}
			function(o, func() {
				if faulty.Load() {
					panic("a mistake of the author")
				}
			})
			u := connect(t, kit.New(o))
			id := u.open()
			_, err := u.CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: id})
			require.NoError(t, err)
			faulty.Store(true)
			_, err = u.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: id, Cwd: t.TempDir()})
			if err == nil { // a panic of this function does not fail the request
				_, err = u.CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: id})
				require.NoError(t, err)
			}
			faulty.Store(false)
			u.load(id)
		})
	}
}

// A turn knows the folders of its session.
func TestCwd(t *testing.T) {
	cwd, more := t.TempDir(), t.TempDir()
	u := connect(t, kit.New(&kit.Options{Turn: func(ctx context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
		dir, additional := s.Cwd()
		assert.Equal(t, cwd, dir)
		assert.Equal(t, []string{more}, additional)
		return "", nil
	}}))
	res, err := u.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: cwd, AdditionalDirectories: []string{more}})
	require.NoError(t, err)
	u.ask(res.SessionID, "where?")
}

// unlisted is a store whose List fails the test.
type unlisted struct{ journal.Store }

func (unlisted) List(context.Context, journal.Query) ([]journal.Meta, string, error) {
	panic("a request lists all sessions")
}

// A request that names a session does not list the stored sessions, because its cost would then grow with
// their number. The same holds for a session of another owner, whose answer is "not found".
func TestNoRequestListsAllSessions(t *testing.T) {
	owner := "me"
	u := connect(t, kit.New(&kit.Options{Store: unlisted{new(journal.Memory)}, Turn: echo, Owner: func(context.Context) string { return owner }}))
	id := u.open()
	u.ask(id, "hello")
	_, err := u.CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: id})
	require.NoError(t, err)
	owner = "you"
	_, err = u.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: id, Cwd: t.TempDir()})
	require.ErrorIs(t, err, rpcerr.ErrSessionNotFound)
	_, err = u.DeleteSession(t.Context(), &acp.DeleteSessionRequest{SessionID: id})
	require.NoError(t, err)
	owner = "me"
	u.load(id)
	_, err = u.DeleteSession(t.Context(), &acp.DeleteSessionRequest{SessionID: id})
	require.NoError(t, err)
	_, err = u.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: id, Cwd: t.TempDir()})
	require.ErrorIs(t, err, rpcerr.ErrSessionNotFound)
}

// A session whose metadata is lost is listed, with the damage in place of its title.
func TestListOfADamagedSession(t *testing.T) {
	dir := t.TempDir()
	u := connect(t, kit.New(&kit.Options{Store: kitplay.Files(t, dir), Turn: echo}))
	id := u.open()
	u.ask(id, "hello")
	u.leave()
	require.NoError(t, os.WriteFile(filepath.Join(dir, string(id), "meta.json"), nil, 0o600))
	u = connect(t, kit.New(&kit.Options{Store: kitplay.Files(t, dir), Turn: echo}))
	list, err := u.ListSessions(t.Context(), &acp.ListSessionsRequest{})
	require.NoError(t, err)
	require.Len(t, list.Sessions, 1)
	assert.Equal(t, id, list.Sessions[0].SessionID)
	assert.Contains(t, list.Sessions[0].Title, "[damaged] meta.json cannot be read")
	u.load(id)
}

// Invalid options are reported before a client is served.
func TestOptions(t *testing.T) {
	run := func(context.Context, *kit.Session, *kit.Prompt) (acp.StopReason, error) { return "", nil }
	ready := func(context.Context) error { return nil }
	modes := kit.Modes{{ID: "ask", Name: "Ask"}, {ID: "auto", Name: "Auto"}}
	values := func(ids ...string) (list []acp.SessionConfigSelectOption) {
		for _, id := range ids {
			list = append(list, acp.SessionConfigSelectOption{Value: acp.SessionConfigValueID(id), Name: id})
		}
		return list
	}
	for want, o := range map[string]kit.Options{
		"Options.Turn is nil":                      {},
		`the mode 1 has the id "ask"`:              {Turn: run, Modes: append(slices.Clone(modes[:1]), modes[0])},
		`the id "mode" of a setting`:               {Turn: run, Modes: modes, Settings: kit.Settings{{ID: "mode", Values: values("x")}}},
		`the setting 0 has the id ""`:              {Turn: run, Settings: kit.Settings{{Values: values("x")}}},
		`the setting "x" has no values`:            {Turn: run, Settings: kit.Settings{{ID: "x"}}},
		`the default of the setting "x"`:           {Turn: run, Settings: kit.Settings{{ID: "x", Default: "c", Values: values("a", "b")}}},
		`the name "/x" of a command`:               {Turn: run, Commands: kit.Commands{{Name: "/x", Run: run}}},
		`the command "x" has no Run`:               {Turn: run, Commands: kit.Commands{{Name: "x"}}},
		`two commands have the name "x"`:           {Turn: run, Commands: kit.Commands{{Name: "x", Run: run}, {Name: "x", Run: run}}},
		"Auth.Ready is nil":                        {Turn: run, Auth: &kit.Auth{}},
		"Auth.Methods has no":                      {Turn: run, Auth: &kit.Auth{Ready: ready}},
		`the method 0 of Auth has the id ""`:       {Turn: run, Auth: &kit.Auth{Ready: ready, Methods: []acp.AuthMethod{&acp.AuthMethodAgent{}}}},
		"Auth.Methods has no *acp.AuthMethodAgent": {Turn: run, Auth: &kit.Auth{Ready: ready, Methods: []acp.AuthMethod{&acp.AuthMethodTerminal{ID: "t"}}}},
		"SystemPrompts lacks append":               {Turn: run, SystemPrompts: []acp.SystemPromptMode{acp.SystemPromptModeOverride}},
		"SystemPrompts has a mode that is neither": {Turn: run, SystemPrompts: []acp.SystemPromptMode{acp.SystemPromptModeAppend, "bogus"}},
	} {
		_, far := stream.Pipe()
		assert.ErrorContains(t, kit.New(&o).Serve(t.Context(), far), want)
	}
}

// closing is a Store that calls before before it stores a setting.
type closing struct {
	journal.Memory
	before func()
}

func (c *closing) Create(ctx context.Context, id string, m journal.Meta) (journal.Log, error) {
	l, err := c.Memory.Create(ctx, id, m)
	return &closingLog{l, c}, err
}

type closingLog struct {
	journal.Log
	of *closing
}

func (l *closingLog) Append(recs ...journal.Record) (int64, error) {
	if recs[0].Kind == journal.KindSetting {
		l.of.before()
	}
	return l.Log.Append(recs...)
}

// A session that is closed while a request uses its log does not exist for that request.
func TestCloseWhileTheLogIsUsed(t *testing.T) {
	store := new(closing)
	u := connect(t, kit.New(&kit.Options{Store: store, Turn: echo, Modes: kit.Modes{{ID: "ask", Name: "Ask"}, {ID: "auto", Name: "Auto"}}, Logger: slog.New(slog.DiscardHandler)}))
	id := u.open()
	store.before = func() {
		_, err := u.CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: id})
		assert.NoError(t, err)
	}
	_, err := u.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: id, ModeID: "auto"})
	assert.ErrorIs(t, err, rpcerr.ErrSessionNotFound)
}
