package kit_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
)

// Requests that need a signed-in user fail until Ready returns nil, and succeed right after.
func TestSigningIn(t *testing.T) {
	eachVersion(t, func(t *testing.T, v int) {
		const sentence = "set EXAMPLE_KEY to your key, then start the agent again"
		ready := true
		signsIn := false
		var log logged
		w := dial(t, kit.New(&kit.Options{Turn: echo, Logger: slog.New(&log), Auth: &kit.Auth{
			Methods: []acp.AuthMethod{
				&acp.AuthMethodTerminal{ID: "setup", Name: "Set up"}, &acp.AuthMethodAgent{ID: "env", Name: "Environment"}, &acp.AuthMethodAgent{ID: "web", Name: "Browser"},
			},
			Login: func(_ context.Context, method acp.AuthMethodID) error {
				if method == "web" {
					ready = signsIn
				}
				return nil
			},
			Ready: func(context.Context) error {
				if !ready {
					return errors.New(sentence)
				}
				return nil
			},
		}}), v)
		stored := w.open()
		assert.Equal(t, "end_turn", w.outcome(w.prompt("hi")))
		require.Equal(t, "ok", w.outcome(w.send("session/close", `{"sessionId":"SESSION"}`)))
		open := w.open()
		ready = false
		opening := []struct {
			name, session, want string
			send                func() int
		}{
			{"new", "", "ok", func() int { return w.send("session/new", `{"cwd":"/w","mcpServers":[]}`) }},
			{"resume", stored, "ok", w.resume}, {"load", stored, "ok", w.load}, {"prompt", open, "end_turn", func() int { return w.prompt("hi") }},
		}
		for _, o := range opening {
			name := o.name
			w.session = o.session
			m, _ := w.reply(o.send())
			require.NotNil(t, m.Error, "%s: %s", name, m.Raw)
			assert.Equal(t, -32000, m.Error.Code, name)
			assert.Equal(t, "Authentication required: "+sentence, m.Error.Message, name)
		}
		login := func(method string) int {
			if w.v2 {
				return w.send("auth/login", `{"methodId":"`+method+`"}`)
			}
			return w.send("authenticate", `{"methodId":"`+method+`"}`)
		}
		assert.Nil(t, w.call("session/list", `{}`).Error)
		if v == 1 { // version 2 refuses a second initialize
			assert.Nil(t, w.call("initialize", `{"protocolVersion":1}`).Error)
		}
		m, _ := w.reply(login("env"))
		require.NotNil(t, m.Error)
		assert.Equal(t, "Authentication required: "+sentence, m.Error.Message, "the environment is as before")
		for _, method := range []string{"setup", "other", "web"} {
			want := map[string]string{"web": "-32000"}[method]
			if want == "" {
				want = "-32602"
			}
			assert.Equal(t, want, w.outcome(login(method)), method)
		}
		signsIn = true
		assert.Equal(t, "ok", w.outcome(login("web")))
		assert.Equal(t, "ok", w.outcome(login("env")))
		w.received()
		for _, o := range opening {
			w.session = o.session
			assert.Equal(t, o.want, w.outcome(o.send()), o.name)
		}
		assert.Contains(t, w.says(), "You ")
		for _, line := range log.lines {
			assert.NotContains(t, line, sentence, "it is for the client")
		}
	})
}

// A terminal method is offered to clients that have a terminal.
func TestTerminalMethods(t *testing.T) {
	eachVersion(t, func(t *testing.T, v int) {
		a := kit.New(&kit.Options{Turn: echo, Logger: slog.New(slog.DiscardHandler), Auth: &kit.Auth{
			Methods: []acp.AuthMethod{&acp.AuthMethodTerminal{ID: "setup", Name: "Set up"}, &acp.AuthMethodAgent{ID: "env", Name: "Environment"}},
			Ready:   func(context.Context) error { return nil },
		}})
		without, with := dial(t, a, v), dialAs(t, t.Context(), a, v, map[int]string{1: `{"auth":{"terminal":true}}`, 2: `{"auth":{"terminal":{}}}`}[v])
		m, _ := without.reply(1)
		assert.Contains(t, string(m.Result), `"env"`)
		assert.NotContains(t, string(m.Result), "setup")
		m, _ = with.reply(1)
		assert.Contains(t, string(m.Result), `"env"`)
		assert.Contains(t, string(m.Result), `"setup"`)
	})
}
