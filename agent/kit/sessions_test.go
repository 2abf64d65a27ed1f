package kit_test

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
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
