package thread_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
)

// piece is a text of one speaker, which can be cut anywhere.
type piece struct{ kind, id, text string }

// cut applies the pieces to a new thread: a tool call as a whole, a text in chunks of random
// lengths, some of them empty, or as a whole if r is nil.
func cut(r *rand.Rand, t *testing.T, pieces []piece) *thread.Thread {
	th := thread.New()
	for _, p := range pieces {
		if p.kind == "tool" {
			th.Apply(&acp.ToolCall{ToolCallID: acp.ToolCallID(p.id), Title: p.text})
			continue
		}
		for rest := p.text; rest != ""; {
			n := len(rest)
			if r != nil {
				n = r.IntN(n + 1)
			}
			th.Apply(update(t, chunk(p.kind, p.id, rest[:n])))
			rest = rest[n:]
			if r != nil && r.IntN(4) == 0 {
				th.Snapshot() // taking a snapshot changes nothing
			}
		}
	}
	return th
}

func randomPieces(r *rand.Rand) []piece {
	var all []piece
	for i := range 1 + r.IntN(12) {
		kind := []string{"agent_message_chunk", "agent_thought_chunk", "user_message_chunk", "tool"}[r.IntN(4)]
		id := ""
		if kind == "tool" {
			id = fmt.Sprint(i)
		} else if r.IntN(2) == 0 {
			id = fmt.Sprint(r.IntN(3))
		}
		text := make([]byte, 1+r.IntN(20))
		for j := range text {
			text[j] = byte('a' + r.IntN(26))
		}
		all = append(all, piece{kind, id, string(text)})
	}
	return all
}

func TestAnyChunkingGivesEqualItems(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		pieces := randomPieces(r)
		whole := cut(nil, t, pieces)
		for range 4 {
			require.Equal(t, toJSON(t, whole.Snapshot().Items.Slice()), toJSON(t, cut(r, t, pieces).Snapshot().Items.Slice()), "seed %d: %v", seed, pieces)
		}
	}
}

// scripted is an agent that records what it says and can replay it.
type scripted struct {
	history []acp.SessionUpdate
	calls   int
}

// turn answers a prompt and records both.
func (a *scripted) turn(r *rand.Rand, prompt string, say func(acp.SessionUpdate)) {
	a.history = append(a.history, &acp.UserMessageChunk{Content: acp.Text(prompt)})
	for range 1 + r.IntN(6) {
		switch r.IntN(4) {
		case 0:
			a.calls++
			id := acp.ToolCallID(fmt.Sprint("call", a.calls))
			end := acp.ToolCallUpdate{ToolCallID: id, Status: acp.ToolCallStatusCompleted, Content: []acp.ToolCallContent{&acp.Content{Content: acp.Text("out")}}}
			if r.IntN(4) == 0 {
				end.Status = acp.ToolCallStatusInProgress // left open
			}
			call := &acp.ToolCall{ToolCallID: id, Title: "T", Kind: acp.ToolKindRead}
			say(call)
			say(&end)
			a.history = append(a.history, &acp.ToolCall{ToolCallID: id, Title: "T", Kind: acp.ToolKindRead, Status: end.Status, Content: end.Content})
		case 1:
			for _, s := range []string{"th", "ink"} {
				say(&acp.AgentThoughtChunk{Content: acp.Text(s)})
			}
			a.history = append(a.history, &acp.AgentThoughtChunk{Content: acp.Text("think")})
		default:
			for range 1 + r.IntN(3) {
				say(&acp.AgentMessageChunk{Content: acp.Text("word ")})
				a.history = append(a.history, &acp.AgentMessageChunk{Content: acp.Text("word ")})
			}
		}
	}
	say(&acp.AgentMessageChunk{Content: acp.Text("Done.")})
	a.history = append(a.history, &acp.AgentMessageChunk{Content: acp.Text("Done.")})
	title := &acp.SessionInfoUpdate{Title: acp.Some("about " + prompt)}
	say(title)
	a.history = append(a.history, title)
}

func TestReplayEqualsLive(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		live, agent := thread.New(), &scripted{}
		modes := &acp.SessionModeState{CurrentModeID: "m"}
		live.Opened(modes, nil)
		for i := range 1 + r.IntN(4) {
			prompt := fmt.Sprint("prompt ", i)
			live.Prompt([]acp.ContentBlock{acp.Text(prompt)})
			if r.IntN(2) == 0 {
				live.Apply(&acp.UserMessageChunk{Content: acp.Text(prompt)}) // some agents echo
			}
			agent.turn(r, prompt, live.Apply)
			live.EndTurn(&acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil)
		}
		loaded := threadOf(t, agentText("of another life"))
		loaded.Reset()
		for _, u := range agent.history {
			loaded.Apply(u)
		}
		loaded.Opened(modes, nil)
		a, b := live.Snapshot(), loaded.Snapshot()
		require.Equal(t, toJSON(t, a.Items.Slice()), toJSON(t, b.Items.Slice()), "seed %d", seed)
		require.Equal(t, a.Title, b.Title)
		require.Equal(t, a.Modes, b.Modes)
	}
}

func TestListAgainstSlice(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	th := thread.New()
	var want []string
	for i := range 5000 {
		th.Do(thread.MessageChanged{Role: thread.RoleAgent, ID: fmt.Sprint(i), Content: &[]thread.Block{{Type: "text", Text: fmt.Sprint(i)}}})
		want = append(want, fmt.Sprint(i))
		if j := r.IntN(i + 1); i%3 == 0 {
			th.Do(thread.MessageChunk{Role: thread.RoleAgent, ID: fmt.Sprint(j), Content: thread.Block{Type: "text", Text: "+"}})
			want[j] += "+"
		}
		if i%100 == 0 || i > 4990 || i >= 1020 && i <= 1030 {
			s := th.Snapshot()
			require.Equal(t, len(want), s.Items.Len())
			n := 0
			for j, item := range s.Items.All() {
				require.Equal(t, n, j)
				require.Equal(t, want[j], item.(*thread.Message).Text())
				require.Equal(t, want[j], s.Items.At(j).(*thread.Message).Text())
				n++
			}
			require.Equal(t, len(want), n)
		}
	}
	for range th.Snapshot().Items.All() {
		break // a loop may end early
	}
	assert.Len(t, th.Snapshot().Items.Slice(), 5000)
}
