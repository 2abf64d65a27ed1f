package thread_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
)

// An agent that asks without end makes no list that is copied whole at each change. Each
// question is listed once those before it are answered.
func TestPermissionsAreBounded(t *testing.T) {
	th := thread.New()
	var answered []func()
	for range 6000 {
		answered = append(answered, th.Ask(thread.Permission{}))
	}
	assert.Len(t, th.Snapshot().Permissions, 100)
	for i := 200; i < 300; i++ { // out of order
		answered[i]()
	}
	for i, done := range answered {
		if i < 200 || i >= 300 {
			require.EqualValues(t, i+1, th.Snapshot().Permissions[0].Key)
		}
		done()
		done()
	}
	assert.Empty(t, th.Snapshot().Permissions)

	for range 200 {
		th.Ask(thread.Permission{})
	}
	th.Do(thread.StateChanged{State: thread.StateIdle})
	assert.Empty(t, th.Snapshot().Permissions, "the turn is over")
	th.Ask(thread.Permission{Title: "next"})
	require.Len(t, th.Snapshot().Permissions, 1)
	assert.Equal(t, "next", th.Snapshot().Permissions[0].Title)
}

func TestPlansAreBounded(t *testing.T) {
	th := thread.New()
	for i := range 6000 {
		th.Do(thread.PlanChanged{Plan: thread.Plan{ID: strconv.Itoa(i)}})
	}
	plans := th.Snapshot().Plans
	require.Len(t, plans, 100)
	assert.Equal(t, "5999", plans[99].ID)
}

// An agent that counts its tool calls from 1 in each turn has a new item for each. In a replay
// the same id is the same call, and an update never makes an item.
func TestAToolCallThatBeginsAnew(t *testing.T) {
	th := thread.New()
	begin := func(title string) {
		th.Apply(&acp.ToolCall{ToolCallID: "1", Title: title, Status: acp.ToolCallStatusPending})
	}
	titles := func() (all []string) {
		for _, item := range th.Snapshot().Items.All() {
			if call, ok := item.(*thread.ToolCall); ok {
				all = append(all, call.Title)
			}
		}
		return all
	}
	begin("replayed")
	begin("replayed again")
	assert.Equal(t, []string{"replayed again"}, titles())
	th.Prompt(nil)
	begin("first turn")
	th.Apply(&acp.ToolCallUpdate{ToolCallID: "1", Status: acp.ToolCallStatusCompleted})
	begin("first turn, said again")
	th.EndTurn(&acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil)
	th.Prompt(nil)
	th.Apply(&acp.ToolCallUpdate{ToolCallID: "1", Title: "late"})
	old := th.Snapshot()
	begin("second turn")
	th.Apply(&acp.ToolCallUpdate{ToolCallID: "1", Status: acp.ToolCallStatusFailed})
	assert.Equal(t, []string{"replayed again", "late", "second turn"}, titles())
	require.NotNil(t, old.ToolCall("1"), "a snapshot that was taken before has the call")
	assert.Equal(t, "late", old.ToolCall("1").Title)
	s := th.Snapshot()
	assert.Equal(t, thread.ToolFailed, s.ToolCall("1").Status)
	data, err := json.Marshal(s)
	require.NoError(t, err)
	var read thread.Snapshot
	require.NoError(t, json.Unmarshal(data, &read))
	assert.Equal(t, "second turn", read.ToolCall("1").Title)
}

func TestLargeIntegersOfMeta(t *testing.T) {
	for _, n := range []string{"0", "-1", "9007199254740993", "9223372036854775807", "9223372036854775808", "9223372036854775809", "18446744073709551615", "-9223372036854775809"} {
		var m thread.Meta
		require.NoError(t, json.Unmarshal([]byte(`{"n":`+n+`}`), &m))
		data, err := json.Marshal(m)
		require.NoError(t, err)
		assert.Equal(t, `{"n":`+n+`}`, string(data))
	}
}

// An agent may send new keys with each update. The Meta of an item holds at most 1000 keys,
// and the value of a key that it has can still be replaced.
func TestMetaIsBounded(t *testing.T) {
	th := thread.New()
	chunk := func(meta thread.Meta) thread.Meta {
		th.AddChunk(thread.MessageChunk{Role: thread.RoleAgent, ID: "1", Content: thread.Block{Type: thread.BlockText, Text: "x"}, Meta: meta})
		return th.Snapshot().Items.At(0).(*thread.Message).Meta
	}
	before := chunk(thread.Meta{"first": 1})
	for i := range 3000 {
		chunk(thread.Meta{strconv.Itoa(i): i})
	}
	all := chunk(thread.Meta{"first": 2, "last": 1})
	assert.Len(t, all, 1000)
	assert.Equal(t, 2, all["first"])
	_, there := all["last"]
	assert.False(t, there)
	assert.Equal(t, thread.Meta{"first": 1}, before)
	big := thread.Meta{}
	for i := range 2000 {
		big[strconv.Itoa(i)] = i
	}
	th = thread.New()
	assert.Len(t, chunk(big), 1000)
	assert.Len(t, big, 2000)
}
