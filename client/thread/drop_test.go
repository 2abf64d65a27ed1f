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

// heap returns the bytes that are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A session that lasts for days needs no more memory than what its user interface keeps of it,
// and some bytes for each item.
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

// What comes for a dropped item later is a new item: the index of no other item changes.
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

// Drop takes any number, and a loop over Watch hears of it.
func TestDropIsAnnounced(t *testing.T) {
	th := told(t, says("one"))
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
	th.Apply(update(t, says("two")))
	assert.Equal(t, []string{"agent: two"}, lines(th))
	assert.Equal(t, 2, th.Snapshot().Items.Len())
}
