package thread_test

import (
	"encoding/json"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
)

// The list of permission requests in a snapshot is bounded, because each change copies it. Further
// requests are listed when earlier ones are answered.
func TestPermissionsAreBounded(t *testing.T) {
	th := thread.New()
	var keys []uint64
	for range 6000 {
		keys = append(keys, th.Ask(thread.Permission{}))
	}
	assert.Len(t, th.Snapshot().Permissions, 100)
	for i := 200; i < 300; i++ { // out of order
		th.Answered(keys[i])
	}
	for i, key := range keys {
		if i < 200 || i >= 300 {
			require.EqualValues(t, i+1, th.Snapshot().Permissions[0].Key)
		}
		th.Answered(key)
		th.Answered(key)
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

// heap returns the bytes that are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A session that lasts for days needs only the memory for the items that its user interface keeps,
// and some bytes for each other item.
func TestDropBoundsALongSession(t *testing.T) {
	th := thread.New()
	text, before := strings.Repeat("x", 4<<10), heap()
	const turns = 5000
	for i := range turns {
		id := strconv.Itoa(i)
		th.Prompt([]acp.ContentBlock{acp.Text("go on")})
		th.Apply(&acp.ToolCall{ToolCallID: acp.ToolCallID(id), Title: "Run", Content: []acp.ToolCallContent{
			&acp.Content{Content: acp.Text(text + id)}, &acp.Terminal{TerminalID: acp.TerminalID(id)},
		}})
		th.Do(thread.TerminalChanged{ID: id, Append: []byte(text), Exit: new(&thread.Exit{})})
		th.Apply(&acp.AgentMessageChunk{MessageID: acp.MessageID(id), Content: acp.Text(text + id)})
		th.EndTurn(&acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil)
		if n := th.Snapshot().Items.Len(); n > 100 {
			th.Drop(n - 100)
		}
	}
	grown := heap() - before
	t.Logf("%d KiB for %d items", grown>>10, th.Snapshot().Items.Len())
	assert.Less(t, grown, int64(4<<20), "%d MiB were received", turns*3*len(text)>>20)
	s := th.Snapshot()
	require.Equal(t, 3*turns, s.Items.Len())
	assert.Equal(t, &thread.Dropped{}, s.Items.At(3*turns-101))
	assert.IsType(t, &thread.Message{}, s.Items.At(3*turns-1))
	assert.Nil(t, s.ToolCall("0"))
	assert.Equal(t, 3*turns-2, indexOf(s, s.ToolCall(strconv.Itoa(turns-1))))
	runtime.KeepAlive(th)
}

func indexOf(s *thread.Snapshot, want thread.Item) int {
	for i, item := range s.Items.All() {
		if item == want {
			return i
		}
	}
	return -1
}

// A later update of a dropped item makes a new item. The index of no other item changes.
func TestUpdatesOfDroppedItems(t *testing.T) {
	th := thread.New()
	th.Prompt([]acp.ContentBlock{acp.Text("do it")})
	th.Apply(update(t, chunk("agent_message_chunk", "m", "one")))
	th.Apply(&acp.ToolCall{ToolCallID: "1", Title: "Run", Content: []acp.ToolCallContent{&acp.Terminal{TerminalID: "runs"}, &acp.Terminal{TerminalID: "ended"}}})
	for _, id := range []string{"runs", "ended", "shown"} {
		th.Do(thread.TerminalChanged{ID: id, Append: []byte(id)})
	}
	for _, id := range []string{"ended", "shown"} {
		th.Do(thread.TerminalChanged{ID: id, Exit: new(&thread.Exit{})})
	}
	th.Apply(&acp.ToolCall{ToolCallID: "2", Title: "Look", Content: []acp.ToolCallContent{&acp.Terminal{TerminalID: "shown"}}})
	th.Do(thread.CompactionChanged{ID: "c"})
	old := th.Snapshot()

	th.Drop(3)
	s := th.Snapshot()
	require.Equal(t, 5, s.Items.Len())
	for i := range 3 {
		assert.Equal(t, &thread.Dropped{}, s.Items.At(i))
	}
	assert.Nil(t, s.ToolCall("1"))
	assert.Equal(t, "Look", s.ToolCall("2").Title)
	assert.Equal(t, "runs", string(s.Terminal("runs").Output), "its command has not ended")
	assert.Equal(t, "shown", string(s.Terminal("shown").Output), "an item that is left shows it")
	assert.Nil(t, s.Terminal("ended"))
	assert.Equal(t, 3, s.Terminals.Len())
	assert.Equal(t, "Run", old.ToolCall("1").Title, "an older snapshot does not change")
	assert.Equal(t, "ended", string(old.Terminal("ended").Output))

	th.Apply(update(t, chunk("user_message_chunk", "", "do it"))) // an echo
	th.Apply(update(t, chunk("agent_message_chunk", "m", "two")))
	th.Apply(&acp.ToolCallUpdate{ToolCallID: "1", Status: acp.ToolCallStatusCompleted})
	th.Do(thread.CompactionChanged{ID: "c", Status: new("completed")})
	th.EndTurn(&acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil)
	assert.Equal(t, []string{"tool 2: Look (pending, ended)", "compaction: completed", "user: do it", "agent: two", "tool 1:  (completed)"}, lines(th))
	assert.Equal(t, thread.ToolCompleted, th.Snapshot().ToolCall("1").Status)

	data, err := json.Marshal(th.Snapshot())
	require.NoError(t, err)
	var read thread.Snapshot
	require.NoError(t, json.Unmarshal(data, &read))
	restored := thread.New()
	restored.Restore(&read)
	assert.Equal(t, lines(th), lines(restored))
	assert.Equal(t, 8, restored.Snapshot().Items.Len())
	restored.Drop(4)
	assert.Nil(t, restored.Snapshot().ToolCall("2"))
	assert.Nil(t, restored.Snapshot().Terminal("shown"))
}

// Drop accepts any number, and a loop over Watch receives the change.
func TestDropIsAnnounced(t *testing.T) {
	th := threadOf(t, agentText("one"))
	dropped := false
	for s, changes := range th.Watch(t.Context()) {
		assert.Equal(t, []thread.Change{{Part: thread.PartAll}}, changes)
		if dropped {
			assert.Equal(t, &thread.Dropped{}, s.Items.At(0))
			break
		}
		for _, n := range []int{-1, 0, 2, 1} {
			th.Drop(n)
		}
		dropped = true
	}
	th.Apply(update(t, agentText("two")))
	assert.Equal(t, []string{"agent: two"}, lines(th))
	assert.Equal(t, 2, th.Snapshot().Items.Len())
}
