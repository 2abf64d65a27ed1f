package thread_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	model "github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/thread"
)

// call passes a message through a middleware to the handler rest.
func call(m acp.Middleware, params any, rest func() (any, error)) (any, error) {
	return m(func(context.Context, string, any) (any, error) { return rest() })(context.Background(), "", params)
}

func result(v any, err error) func() (any, error) { return func() (any, error) { return v, err } }

// viewer is a client that calls ask when it is asked for permission.
type viewer struct{ ask func() }

func (viewer) SessionUpdate(context.Context, *acp.UpdateSessionNotification) error { return nil }

func (v viewer) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	v.ask()
	return acp.Cancelled(), nil
}

func agentMessage(id acp.SessionID, text string) *acp.UpdateSessionNotification {
	return &acp.UpdateSessionNotification{SessionID: id, Update: &acp.AgentMessage{MessageID: acp.MessageID(text), Content: acp.Some([]acp.ContentBlock{acp.Text(text)})}}
}

func texts(th *model.Thread) (all []string) {
	for _, item := range th.Snapshot().Items.All() {
		all = append(all, item.(*model.Message).Text())
	}
	return all
}

func TestSet(t *testing.T) {
	set := new(thread.Set)
	options := []acp.SessionConfigOption{{ConfigID: "o", Name: "O", Kind: &acp.SessionConfigBoolean{CurrentValue: true}}}
	commands := []acp.AvailableCommand{&acp.Command{Name: "old"}}
	refused := errors.New("refused")

	// Commands from an update that arrived before the response are kept.
	receive := func(n *acp.UpdateSessionNotification) {
		assert.NoError(t, set.Client(viewer{}).SessionUpdate(t.Context(), n))
	}
	receive(&acp.UpdateSessionNotification{SessionID: "s", Update: &acp.AvailableCommandsUpdate{AvailableCommands: []acp.AvailableCommand{&acp.Command{Name: "new"}}}})
	call(set.Sending, &acp.NewSessionRequest{}, result(&acp.NewSessionResponse{SessionID: "s", ConfigOptions: options, AvailableCommands: commands}, nil))
	th := set.Thread("s")
	assert.Equal(t, "new", th.Snapshot().Commands[0].Name)
	assert.True(t, th.Snapshot().Options[0].On)

	// A prompt waits until the response.
	call(set.Sending, &acp.PromptRequest{SessionID: "s", Prompt: []acp.ContentBlock{acp.Text("hi")}}, func() (any, error) {
		assert.Len(t, th.Snapshot().Queued, 1)
		return &acp.PromptResponse{MessageID: "u"}, nil
	})
	_, err := call(set.Sending, &acp.PromptRequest{SessionID: "s", Prompt: []acp.ContentBlock{acp.Text("no")}}, result(nil, refused))
	assert.ErrorIs(t, err, refused)
	assert.Empty(t, th.Snapshot().Queued)
	assert.Equal(t, []string{"hi"}, texts(th))

	// A question is pending while the client handles it.
	asks := viewer{ask: func() { assert.Len(t, th.Snapshot().Permissions, 1) }}
	answer, err := set.Client(asks).RequestPermission(t.Context(), &acp.RequestPermissionRequest{SessionID: "s", Title: "?"})
	assert.NoError(t, err)
	assert.Equal(t, acp.Cancelled(), answer)
	assert.Empty(t, th.Snapshot().Permissions)

	call(set.Sending, &acp.SetSessionConfigOptionRequest{SessionID: "s"}, result(&acp.SetSessionConfigOptionResponse{}, nil))
	assert.Empty(t, th.Snapshot().Options)

	// A resume without a replay keeps the thread. One with a replay replaces it.
	call(set.Sending, &acp.ResumeSessionRequest{SessionID: "s"}, result(&acp.ResumeSessionResponse{AvailableCommands: commands}, nil))
	assert.Equal(t, []string{"hi"}, texts(th))
	assert.Equal(t, "old", th.Snapshot().Commands[0].Name, "the response is newer than all updates")
	replay := &acp.ResumeSessionRequest{SessionID: "s", ReplayFrom: &acp.ReplayFromStart{}}
	call(set.Sending, replay, func() (any, error) {
		receive(agentMessage("s", "part of it"))
		return nil, refused
	})
	assert.Equal(t, []string{"hi"}, texts(th), "as before")
	call(set.Sending, replay, func() (any, error) {
		receive(agentMessage("s", "all of it"))
		return &acp.ResumeSessionResponse{ConfigOptions: options}, nil
	})
	assert.Equal(t, []string{"all of it"}, texts(th))
	assert.True(t, th.Snapshot().Options[0].On)

	// The number of threads of sessions that are only mentioned is bounded.
	for i := range 100 {
		receive(agentMessage(acp.SessionID(fmt.Sprint(i)), "x"))
	}
	assert.Empty(t, texts(set.Thread("0")))
	assert.Equal(t, []string{"x"}, texts(set.Thread("99")))
	assert.Same(t, th, set.Thread("s"))
	set.Forget("s")
	assert.NotSame(t, th, set.Thread("s"))
}

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
