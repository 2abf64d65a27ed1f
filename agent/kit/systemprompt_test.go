package kit_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Turns get the system prompt of the request that opened the session last. The journal tells under which one each
// turn was made.
func TestSystemPrompt(t *testing.T) {
	store := new(journal.Memory)
	var got []string
	a := kit.New(&kit.Options{
		Store: store, SystemPrompts: []acp.SystemPromptMode{acp.SystemPromptModeAppend, acp.SystemPromptModeOverride},
		Turn: func(_ context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
			got = append(got, s.SystemPrompt().Apply("Own."))
			return "", nil
		},
	})
	u := connect(t, a)
	assert.True(t, u.AgentCapabilities().Has("sessionCapabilities.systemPrompt.mode.override"))
	prompt := func(mode acp.SystemPromptMode, texts ...string) *acp.SystemPrompt {
		p := &acp.SystemPrompt{Mode: mode, Meta: acp.Meta{"secret": true}}
		for _, text := range texts {
			p.Content = append(p.Content, acp.Text(text))
		}
		return p
	}
	cwd := t.TempDir()
	res, err := u.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: cwd, SystemPrompt: prompt("append", "One.", "Two.")})
	require.NoError(t, err)
	id := res.SessionID
	u.ask(id, "x")
	u.ask(id, "x")
	load := func(p *acp.SystemPrompt) {
		_, err := u.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: id, Cwd: cwd, SystemPrompt: p})
		require.NoError(t, err)
		u.ask(id, "x")
	}
	resume := func(p *acp.SystemPrompt) {
		_, err := u.ResumeSession(t.Context(), &acp.ResumeSessionRequest{SessionID: id, Cwd: cwd, SystemPrompt: p})
		require.NoError(t, err)
		u.ask(id, "x")
	}
	load(prompt("append", "One.", "Two.")) // the same
	load(prompt("override", "Three."))
	resume(nil)
	resume(nil)
	resume(prompt("append", "Three."))
	load(nil)
	u.leave()
	again := connect(t, a) // on another connection
	_, err = again.ResumeSession(t.Context(), &acp.ResumeSessionRequest{SessionID: id, Cwd: cwd})
	require.NoError(t, err)
	again.ask(id, "x")
	again.leave()
	one := "Own.\n\nOne.\n\nTwo."
	assert.Equal(t, []string{one, one, one, "Three.", "Own.", "Own.", "Own.\n\nThree.", "Own.", "Own."}, got)

	log, err := store.Open(t.Context(), string(id))
	require.NoError(t, err)
	var kinds []string
	for r, err := range log.Read(t.Context(), 0) {
		require.NoError(t, err)
		switch r.Kind {
		case journal.KindSystem:
			kinds = append(kinds, string(r.Data))
		case journal.KindTurn:
			var turn struct{ State string }
			require.NoError(t, json.Unmarshal(r.Data, &turn))
			if turn.State == "begun" {
				kinds = append(kinds, "turn")
			}
		}
	}
	text := func(mode, text string) string {
		return `{"mode":"` + mode + `","content":[{"type":"text","text":"` + text + `"}]}`
	}
	assert.Equal(t, []string{
		text("append", `One.\n\nTwo.`), "turn", "turn", "turn", text("override", "Three."), "turn", "null", "turn", "turn",
		text("append", "Three."), "turn", "null", "turn", "turn",
	}, kinds)
}

// A system prompt that no model reads is refused.
func TestSystemPromptThatIsTooLong(t *testing.T) {
	u := connect(t, kit.New(&kit.Options{Turn: echo, SystemPrompts: []acp.SystemPromptMode{acp.SystemPromptModeAppend}}))
	half := acp.Text(strings.Repeat("x", 1<<19))
	_, err := u.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir(), SystemPrompt: &acp.SystemPrompt{
		Mode: acp.SystemPromptModeAppend, Content: []acp.ContentBlock{half, half},
	}})
	assert.ErrorIs(t, err, rpcerr.ErrInvalidParams)
	assert.ErrorContains(t, err, "a system prompt may have 1 MiB")
}
