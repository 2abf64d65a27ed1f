package kit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/internal/kitplay"
)

func values(all ...string) (list []acp.SessionConfigSelectOption) {
	for _, v := range all {
		list = append(list, acp.SessionConfigSelectOption{Value: acp.SessionConfigValueID(v), Name: strings.ToUpper(v)})
	}
	return list
}

var model = kit.Setting{ID: "model", Name: "Model", Default: "large", Values: values("small", "large")}

// obey is a Turn function that executes the text of the prompt, and then sends the settings as
// text.
func obey(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
	verb, id, _ := strings.Cut(acp.PlainText(p.Blocks...), " ")
	var err error
	switch verb {
	case "mode":
		err = s.SetMode(ctx, acp.SessionModeID(id))
	case "model":
		err = s.SetSetting(ctx, "model", id)
	case "minute":
		time.Sleep(time.Minute) // in the bubble of its caller
	}
	return "", errors.Join(err, s.Text(ctx, fmt.Sprintf("%s %s", s.Mode(), s.Setting("model"))))
}

// settings returns the settings in the updates that a client received: "mode=auto model=large" for
// options and "auto" for a mode.
func (w *wire) settings() (all []string) {
	for _, u := range w.received() {
		switch u.SessionUpdate {
		case "current_mode_update":
			all = append(all, u.CurrentModeID)
		case "config_option_update":
			all = append(all, options(w.t, u.ConfigOptions))
		}
	}
	return all
}

// options formats config options as "id=value".
func options(t *testing.T, raw json.RawMessage) string {
	var list []struct{ ID, ConfigID, CurrentValue string }
	require.NoError(t, json.Unmarshal(raw, &list), "%s", raw)
	var text []string
	for _, o := range list {
		text = append(text, o.ID+o.ConfigID+"="+o.CurrentValue)
	}
	return strings.Join(text, " ")
}

// opened returns the modes and options in a response: "ask mode=ask model=large".
func (w *wire) opened(id int) string {
	w.t.Helper()
	m, ok := w.reply(id)
	require.True(w.t, ok && m.Error == nil, "%s", m.Raw)
	var res struct {
		Modes         struct{ CurrentModeID string }
		ConfigOptions json.RawMessage
	}
	require.NoError(w.t, json.Unmarshal(m.Result, &res))
	return strings.TrimSpace(res.Modes.CurrentModeID + " " + options(w.t, res.ConfigOptions))
}

func (w *wire) setMode(id string) int {
	return w.send("session/set_mode", fmt.Sprintf(`{"sessionId":"SESSION","modeId":%q}`, id))
}

// A setting has one writer at a time. A client that did not request a change is told of it once.
func TestSettings(t *testing.T) {
	eachVersion(t, func(t *testing.T, v int) {
		w := dial(t, kit.New(&kit.Options{Modes: modes, Settings: kit.Settings{model}, Turn: obey, Logger: slog.New(slog.DiscardHandler)}), v)
		now := func(mode, options string) string {
			if w.v2 {
				return options
			}
			return mode + " " + options
		}
		assert.Equal(t, now("ask", "mode=ask model=large"), w.opened(w.send("session/new", `{"cwd":"/w","mcpServers":[]}`)))
		w.open()
		w.settings()
		if !w.v2 {
			assert.Equal(t, "ok", w.outcome(w.setMode("auto")))
			assert.Equal(t, []string{"mode=auto model=large"}, w.settings())
			assert.Equal(t, "ok", w.outcome(w.setMode("auto")))
			assert.Empty(t, w.settings(), "nothing has changed")
		} else {
			assert.Equal(t, "mode=auto model=large", w.opened(w.set("mode", "auto")))
			assert.Empty(t, w.settings())
		}
		assert.Equal(t, "mode=ask model=large", w.opened(w.set("mode", "ask")))
		if w.v2 {
			assert.Empty(t, w.settings())
		} else {
			assert.Equal(t, []string{"ask"}, w.settings())
		}
		assert.Equal(t, "mode=ask model=small", w.opened(w.set("model", "small")))
		assert.Empty(t, w.settings())

		assert.Equal(t, "end_turn", w.outcome(w.prompt("mode auto")))
		changed := []string{"auto", "mode=auto model=small"}
		if w.v2 {
			changed = changed[1:]
		}
		assert.Equal(t, changed, w.settings())
		assert.Equal(t, "end_turn", w.outcome(w.prompt("model large")))
		assert.Equal(t, []string{"mode=auto model=large"}, w.settings())

		w.prompt("minute")
		assert.Equal(t, "mode=ask model=large", w.opened(w.set("mode", "ask")))
		w.received()
		time.Sleep(time.Minute) // in the bubble of its caller
		assert.Equal(t, []string{"ask large"}, w.says(), "a change in a turn counts at once")

		for _, id := range []int{w.set("mode", "yolo"), w.set("model", "tiny"), w.set("color", "red"), w.set("mode", "")} {
			assert.Equal(t, "-32602", w.outcome(id))
		}
		if !w.v2 {
			assert.Equal(t, "-32602", w.outcome(w.setMode("yolo")))
		}
		assert.Equal(t, "-32603", w.outcome(w.prompt("mode yolo")), "not the fault of the client")
		assert.Empty(t, w.settings())
		assert.Equal(t, now("ask", "mode=ask model=large"), w.opened(w.load()))
		assert.Equal(t, now("ask", "mode=ask model=large"), w.opened(w.resume()))
	})
}

// A mode that the user chose survives every kind of end of the program. A stored mode that is no
// longer offered is replaced by the first one.
func TestStoredSettings(t *testing.T) {
	eachVersion(t, func(t *testing.T, v int) {
		dir := t.TempDir()
		program := func(o kit.Options) *wire {
			copied := t.TempDir() // the files as kill -9 leaves them: the locks are gone
			require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
			dir = copied
			o.Store, o.Turn, o.Logger = kitplay.Files(t, dir), obey, slog.New(slog.DiscardHandler)
			return dial(t, kit.New(&o), v)
		}
		all := kit.Options{Modes: modes, Settings: kit.Settings{model}}
		w := program(all)
		id := w.open()
		w.prompt("mode auto")
		assert.Equal(t, "ok", w.outcome(w.set("model", "small")))

		w = program(all)
		w.session = id
		assert.Contains(t, w.opened(w.load()), "mode=auto model=small")

		w = program(kit.Options{Modes: modes[:1], Settings: kit.Settings{{ID: "model", Name: "Model", Values: values("huge")}}})
		w.session = id
		assert.Contains(t, w.opened(w.load()), "mode=ask model=huge")
		w.prompt("hello")
		said := strings.Join(w.says(), "\n")
		assert.Contains(t, said, `Mode: "auto" is not offered any more. It is "ask" now.`)
		assert.Contains(t, said, `Model: "small" is not offered any more. It is "huge" now.`)
		assert.Equal(t, "ok", w.outcome(w.set("mode", "ask")), "the user has seen ask and wants it")

		w = program(all)
		w.session = id
		assert.Contains(t, w.opened(w.load()), "mode=ask model=small", "never wider than what the user has chosen last")
	})
}

// A setting that cannot be stored does not change.
func TestSettingThatCannotBeStored(t *testing.T) {
	eachVersion(t, func(t *testing.T, v int) {
		store := newWatched()
		w := dial(t, kit.New(&kit.Options{Modes: modes, Turn: obey, Store: store, Logger: slog.New(slog.DiscardHandler)}), v)
		w.open()
		for _, store.broken = range []string{"append", "sync"} {
			m := w.call("session/set_config_option", `{"sessionId":"SESSION","configId":"mode","type":"id","value":"auto"}`)
			require.NotNil(t, m.Error, m.Raw)
			assert.Equal(t, "Internal error: the sessions cannot be stored or read", m.Error.Message)
		}
		store.broken = ""
		assert.Empty(t, w.settings())
		w.prompt("hello")
		assert.Equal(t, []string{"ask "}, w.says())
	})
}

// Values that are loaded take the place of those in the program, unless loading fails.
func TestLoadedValues(t *testing.T) {
	eachVersion(t, func(t *testing.T, v int) {
		err := error(nil)
		var log logged
		w := dial(t, kit.New(&kit.Options{Turn: obey, Logger: slog.New(&log), Settings: kit.Settings{
			{ID: "model", Name: "Model", Default: "b", Values: values("fallback"), Load: func(context.Context) ([]acp.SessionConfigSelectOption, error) { return values("a", "b"), err }},
			{ID: "none", Name: "None", Load: func(context.Context) ([]acp.SessionConfigSelectOption, error) { return nil, nil }},
		}}), v)
		assert.Equal(t, "model=b", w.opened(w.send("session/new", `{"cwd":"/w","mcpServers":[]}`)))
		err = errors.New("no network")
		assert.Equal(t, "model=fallback", w.opened(w.send("session/new", `{"cwd":"/w","mcpServers":[]}`)))
		assert.Equal(t, 1, log.count("no network"))
	})
}

// commandNames returns the lists of commands since the last call.
func (w *wire) commandNames() (all []string) {
	for _, u := range w.received() {
		if u.SessionUpdate == "available_commands_update" {
			var names []string
			for _, c := range u.AvailableCommands {
				names = append(names, c.Name)
			}
			all = append(all, strings.Join(names, " "))
		}
	}
	return all
}

// The list of commands follows each response that opens a session, and each change. The model gets
// prompts with unknown commands.
func TestCommands(t *testing.T) {
	say := func(text string) func(context.Context, *kit.Session, *kit.Prompt) (acp.StopReason, error) {
		return func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
			return "", s.Text(ctx, text+": "+p.Command+" "+p.Args)
		}
	}
	swap := func(ctx context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
		bad := s.SetCommands(ctx, kit.Commands{{Name: "a b", Run: say("")}})
		return "", errors.Join(s.SetCommands(ctx, kit.Commands{{Name: "other", Run: say("other")}}), s.Text(ctx, bad.Error()))
	}
	eachVersion(t, func(t *testing.T, v int) {
		w := dial(t, kit.New(&kit.Options{Turn: say("model"), Logger: slog.New(slog.DiscardHandler), Commands: kit.Commands{
			{Name: "swap", Description: "Other commands", Run: swap}, {Name: "fix", Description: "Fix it", Hint: "what", Run: say("fix")},
		}}), v)
		w.open()
		assert.Equal(t, []string{"swap fix"}, w.commandNames())
		assert.Equal(t, "ok", w.outcome(w.resume()))
		assert.Equal(t, "ok", w.outcome(w.load()))
		assert.Equal(t, []string{"swap fix", "swap fix"}, w.commandNames())
		for prompt, want := range map[string]string{
			"/fix it all": "fix: fix it all", "/unknown x": "model: unknown x", "fix": "model:  ", "/other": "model: other ", "/fix": "fix: fix ",
		} {
			assert.Equal(t, "end_turn", w.outcome(w.prompt(prompt)))
			assert.Equal(t, []string{want}, w.says(), prompt)
		}
		assert.Equal(t, "end_turn", w.outcome(w.prompt("/swap")))
		all := w.received()
		w.updates = all // the next two lines read the same updates
		assert.Equal(t, []string{`kit: the name "a b" of a command must be letters, digits, - or _`}, w.says())
		w.updates = all
		assert.Equal(t, []string{"other"}, w.commandNames())
		w.prompt("/fix it")
		w.prompt("/other one")
		assert.Equal(t, []string{"model: fix it", "other: other one"}, w.says())
		assert.Equal(t, "ok", w.outcome(w.load()))
		assert.Equal(t, []string{"swap fix"}, w.commandNames(), "until it is closed")
	})
}

// A client receives no empty name, because version 2 of the protocol requires one.
func TestInfoWithoutName(t *testing.T) {
	eachVersion(t, func(t *testing.T, v int) {
		w := dial(t, kit.New(&kit.Options{Turn: func(context.Context, *kit.Session, *kit.Prompt) (acp.StopReason, error) { return "", nil }}), v)
		first, _ := w.reply(w.sent)
		assert.NotContains(t, string(first.Result), `"name":""`)
	})
}

// Requests that the protocol does not define reach Options.Extension, with the Conn of
// the client that sent them. Without it they fail as an unknown method does.
func TestExtension(t *testing.T) {
	eachVersion(t, func(t *testing.T, v int) {
		opts := &kit.Options{Turn: echo}
		m := dial(t, kit.New(opts), v).call("_example/count", `{"of":"files"}`)
		require.NotNil(t, m.Error)
		assert.Equal(t, -32601, m.Error.Code)

		opts.Extension = func(_ context.Context, conn *agent.Conn, method string, params json.RawMessage) (any, error) {
			assert.NotNil(t, conn)
			return map[string]any{"method": method, "params": params}, nil
		}
		m = dial(t, kit.New(opts), v).call("_example/count", `{"of":"files"}`)
		require.Nil(t, m.Error)
		assert.JSONEq(t, `{"method":"_example/count","params":{"of":"files"}}`, string(m.Result))
	})
}
