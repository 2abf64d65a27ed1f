package client_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
)

// A system prompt is sent only to an agent that has advertised its mode, and only if it is text. Otherwise nothing
// is sent.
func TestSystemPromptsThatAreSent(t *testing.T) {
	words := []acp.ContentBlock{acp.Text("Be brief.")}
	prompt := func(mode acp.SystemPromptMode, content ...acp.ContentBlock) *acp.SystemPrompt {
		return &acp.SystemPrompt{Mode: mode, Content: content}
	}
	const group = "sessionCapabilities.systemPrompt"
	for _, tt := range []struct {
		name    string
		caps    string // the member systemPrompt
		ignore  bool   // Options.IgnoreCapabilities
		prompt  *acp.SystemPrompt
		missing string // the capability
		invalid string // the place in the params
	}{
		{"append", `{}`, false, prompt("append", words...), "", ""},
		{"append unadvertised", `null`, false, prompt("append", words...), group, ""},
		{"append ignoring capabilities", `null`, true, prompt("append", words...), "", ""},
		{"override", `{"mode":{"override":{}}}`, false, prompt("override", words...), "", ""},
		{"override unadvertised", `{"mode":{}}`, false, prompt("override", words...), group + ".mode.override", ""},
		{"another mode", `{"mode":{"override":{},"bogus":{}}}`, false, prompt("bogus", words...), group + ".mode.bogus", ""},
		{"another mode ignoring capabilities", `null`, true, prompt("_x", words...), "", ""},
		{"no mode", `{}`, false, prompt("", words...), "", "systemPrompt.mode"},
		{"no content", `{}`, false, prompt("append"), "", "systemPrompt.content"},
		{"no content ignoring capabilities", `null`, true, prompt("append"), "", "systemPrompt.content"},
		{"blank", `{}`, false, prompt("append", acp.Text(" \n")), "", "systemPrompt.content"},
		{"an image", `{}`, false, prompt("append", words[0], &acp.ImageContent{MIMEType: "image/png"}), "", "systemPrompt.content[1]"},
		{"nil", `{}`, false, prompt("append", (*acp.TextContent)(nil)), "", "systemPrompt.content[0]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, peer := open(t, &peertest.Client{}, `{"loadSession":true,"sessionCapabilities":{"resume":{},"fork":{},"systemPrompt":`+tt.caps+`}}`,
				&client.Options{Unstable: true, IgnoreCapabilities: tt.ignore})
			for method, call := range map[string]func(context.Context) error{
				"session/new": func(ctx context.Context) error {
					_, err := c.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/", SystemPrompt: tt.prompt})
					return err
				},
				"session/load": func(ctx context.Context) error {
					_, err := c.LoadSession(ctx, &acp.LoadSessionRequest{SessionID: "s", Cwd: "/", SystemPrompt: tt.prompt})
					return err
				},
				"session/resume": func(ctx context.Context) error {
					_, err := c.StartResumedSession(ctx, &acp.ResumeSessionRequest{SessionID: "s", Cwd: "/", SystemPrompt: tt.prompt})
					return err
				},
				"session/fork": func(ctx context.Context) error {
					return c.Call(ctx, "session/fork", &acp.ForkSessionRequest{SessionID: "s", Cwd: "/", SystemPrompt: tt.prompt}, nil)
				},
			} {
				done := make(chan error, 1)
				go func() { done <- call(t.Context()) }() // ends with the call
				switch {
				case tt.missing != "":
					var missing *acp.CapabilityError
					if assert.ErrorAs(t, <-done, &missing, method) {
						assert.Equal(t, acp.CapabilityError{Method: method, Capability: tt.missing}, *missing)
					}
				case tt.invalid != "":
					var invalid *acp.InvalidError
					if assert.ErrorAs(t, <-done, &invalid, method) {
						assert.Equal(t, tt.invalid, invalid.Fields[0].Path)
					}
				default:
					peer.Answer(peer.Expect(method), `{"sessionId":"s1"}`)
					assert.NoError(t, <-done)
				}
			}
			if tt.missing != "" || tt.invalid != "" {
				require.NoError(t, c.Notify(t.Context(), "_next", nil))
				peer.Expect("_next") // and nothing before it
			}
		})
	}
}
