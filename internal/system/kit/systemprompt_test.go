package kit_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
)

// The system prompt reaches the turns of clients of both versions.
func TestSystemPromptInBothVersions(t *testing.T) {
	eachVersion(t, func(t *testing.T, v int) {
		var got []string
		w := dial(t, kit.New(&kit.Options{
			SystemPrompts: []acp.SystemPromptMode{acp.SystemPromptModeAppend},
			Turn: func(_ context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
				got = append(got, s.SystemPrompt().Apply("Own."))
				return "", nil
			},
		}), v)
		w.open()
		resume := func(prompt string) *string {
			m := w.call("session/resume", `{"sessionId":"`+w.session+`","cwd":"/w","mcpServers":[],"systemPrompt":`+prompt+`}`)
			if m.Error != nil {
				return &m.Error.Message
			}
			w.outcome(w.prompt("x"))
			return nil
		}
		assert.Nil(t, resume(`{"mode":"append","content":[{"type":"text","text":"One."}]}`))
		assert.NotNil(t, resume(`{"mode":"override","content":[{"type":"text","text":"Two."}]}`))
		assert.Nil(t, resume(`null`))
		assert.Equal(t, []string{"Own.\n\nOne.", "Own."}, got)
	})
}

// An agent whose turns do not use the system prompt refuses it in both versions, and the session
// that is open stays as it is.
func TestSystemPromptThatNoTurnApplies(t *testing.T) {
	eachVersion(t, func(t *testing.T, v int) {
		store := new(journal.Memory)
		w := dial(t, kit.New(&kit.Options{Store: store, Turn: echo}), v)
		session := w.open()
		methods := []string{"session/new", "session/resume"}
		if v == 1 {
			methods = append(methods, "session/load")
		}
		for _, method := range methods {
			m := w.call(method, `{"sessionId":"`+session+`","cwd":"/w","mcpServers":[],"systemPrompt":{"mode":"append","content":[{"type":"text","text":"x"}]}}`)
			require.NotNil(t, m.Error, method)
			assert.Equal(t, -32602, m.Error.Code, method)
		}
		assert.Equal(t, "end_turn", w.outcome(w.prompt("x")))
		all, _, err := store.List(t.Context(), journal.Query{})
		require.NoError(t, err)
		assert.Len(t, all, 1)
	})
}
