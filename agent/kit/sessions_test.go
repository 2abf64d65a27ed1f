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

func echo(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
	if err := s.Thought(ctx, "hm"); err != nil {
		return "", err
	}
	for _, part := range []string{"You ", "said: ", acp.PlainText(p.Blocks...)} {
		if err := s.Text(ctx, part); err != nil {
			return "", err
		}
	}
	return "", nil
}

// A session that is loaded shows what was live, once, on the same connection, on another one and
// in another program.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	store, err := journal.OpenFiles(dir, nil)
	require.NoError(t, err)
	a := kit.New(&kit.Options{Turn: echo, Store: store})
	u := connect(t, a)
	id := u.open()
	assert.Equal(t, acp.StopReasonEndTurn, u.ask(id, "one"))
	assert.Equal(t, acp.StopReasonEndTurn, u.ask(id, "two"))
	want := []string{"user: one", "thought: hm", "agent: You said: one", "user: two", "thought: hm", "agent: You said: two"}
	u.received()
	for range 2 {
		u.load(id)
		assert.Equal(t, want, texts(u.received()))
	}
	u.leave()
	other := connect(t, a)
	other.load(id)
	assert.Equal(t, want, texts(other.received()))
	other.ask(id, "three")
	require.NoError(t, a.Close(t.Context()))

	again, err := journal.OpenFiles(dir, nil)
	require.NoError(t, err)
	last := connect(t, kit.New(&kit.Options{Turn: echo, Store: again}))
	last.load(id)
	assert.Equal(t, append(want, "user: three", "thought: hm", "agent: You said: three"), texts(last.received()))
}
