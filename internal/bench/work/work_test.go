package work_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/bench/work"
)

func TestCorpus(t *testing.T) {
	assert.Len(t, work.Updates("updates"), 16)
	for _, n := range work.Lengths("updates") {
		assert.EqualValues(t, 100, n)
	}
	kinds := map[string]int{}
	for _, u := range work.Decoded[struct {
		SessionID string
		Update    struct{ SessionUpdate string }
	}]("mixed") {
		assert.Equal(t, work.SessionID, u.SessionID)
		kinds[u.Update.SessionUpdate]++
	}
	assert.Equal(t, map[string]int{
		"agent_message_chunk": 36, "agent_thought_chunk": 9, "tool_call_update": 12, "plan": 3,
	}, kinds, "60 %%, 15 %%, 20 %% and 5 %%")
}

func TestFile(t *testing.T) {
	for _, kind := range []string{"ascii", "go"} {
		f := work.File(kind, 5000)
		assert.Len(t, f, 5000)
		assert.True(t, json.Valid([]byte(fmt.Sprintf("%q", f))))
	}
	assert.Equal(t, byte('\n'), work.File("ascii", 128)[63])
}

// recorder is an agent end that records its calls.
type recorder struct {
	calls []string
	fail  error
}

func (r *recorder) Update(_ context.Context, kind, sessionID string, i int) error {
	r.calls = append(r.calls, fmt.Sprint(kind, " ", sessionID, " ", i))
	return r.fail
}

func (r *recorder) ReadFile(_ context.Context, _, path string) (int, error) {
	r.calls = append(r.calls, path)
	return 64, r.fail
}

func (r *recorder) Sync(_ context.Context, p work.SyncParams) error {
	r.calls = append(r.calls, fmt.Sprint("sync ", p.Sent))
	return nil
}

func TestRunTask(t *testing.T) {
	for _, tt := range []struct {
		task string
		want []string
	}{
		{"updates 2 0", []string{"updates s 0", "updates s 1"}},
		{"mixed 3 2", []string{"mixed s 0", "mixed s 1", "sync 2", "mixed s 2"}},
		{"spread 3 2", []string{"updates " + work.SessionID + " 0", "updates sess_0000000000000001 1", "updates " + work.SessionID + " 2"}},
		{"read go 64 2", []string{"/bench/go-64", "/bench/go-64"}},
	} {
		var r recorder
		require.NoError(t, work.RunTask(t.Context(), &r, "s", tt.task))
		assert.Equal(t, tt.want, r.calls)
	}
	var r recorder
	require.NoError(t, work.RunLoad(t.Context(), &r, "load-1"))
	assert.Equal(t, []string{"updates load-1 0"}, r.calls)

	assert.Error(t, work.RunTask(t.Context(), &r, "s", "dance"))
	assert.Error(t, work.RunTask(t.Context(), &r, "s", "read go 65 1"), "a file of another length")
	assert.Error(t, work.RunLoad(t.Context(), &r, "s"))
	broken := errors.New("broken")
	assert.ErrorIs(t, work.RunTask(t.Context(), &recorder{fail: broken}, "s", "updates 1 0"), broken)
}

func TestTally(t *testing.T) {
	tally := work.NewTally(2)
	tally.Add(3)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, tally.Wait(ctx), "one of two")
	require.NoError(t, tally.Until(t.Context(), 1))
	require.Error(t, tally.Until(ctx, 2))
	go tally.Add(4) // ends at once
	require.NoError(t, tally.Until(t.Context(), 2))
	require.NoError(t, tally.Wait(t.Context()))
	assert.EqualValues(t, 7, tally.Length())
	assert.EqualValues(t, 2, tally.Count())
	tally.Reset(0)
	require.NoError(t, tally.Wait(t.Context()))
}
