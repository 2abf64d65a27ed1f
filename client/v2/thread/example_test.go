package thread_test

import (
	"fmt"

	"github.com/acpkit/go-sdk/acp/v2"
	model "github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/client/v2/thread"
)

func ExampleApply() {
	t := model.New()
	responded := thread.Prompt(t, []acp.ContentBlock{acp.Text("Hello")})
	fmt.Println("waiting:", len(t.Snapshot().Queued))
	for _, u := range []acp.SessionUpdate{
		&acp.UserMessage{MessageID: "1", Content: acp.Some([]acp.ContentBlock{acp.Text("Hello")})},
		&acp.SessionStateUpdate{StateUpdate: &acp.RunningStateUpdate{}},
		&acp.AgentMessageChunk{MessageID: "2", Content: acp.Text("Good ")},
		&acp.AgentMessageChunk{MessageID: "2", Content: acp.Text("morning.")},
		&acp.SessionStateUpdate{StateUpdate: &acp.IdleStateUpdate{StopReason: acp.StopReasonEndTurn}},
	} {
		thread.Apply(t, u)
	}
	responded(&acp.PromptResponse{MessageID: "1"})
	s := t.Snapshot()
	for _, item := range s.Items.All() {
		m := item.(*model.Message)
		fmt.Printf("%s: %s\n", m.Role, m.Text())
	}
	fmt.Println(s.Turn.State, s.Turn.StopReason)
	// Output:
	// waiting: 1
	// user: Hello
	// agent: Good morning.
	// idle end_turn
}
