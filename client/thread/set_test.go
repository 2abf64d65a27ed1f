package thread_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
)

// call passes a message through a middleware to the handler rest.
func call(m acp.Middleware, params any, rest func() (any, error)) (any, error) {
	return m(func(context.Context, string, any) (any, error) { return rest() })(context.Background(), "", params)
}

func result(v any, err error) func() (any, error) { return func() (any, error) { return v, err } }

// receive passes an update to a client with the threads of a set.
func receive(t *testing.T, set *thread.Set, id acp.SessionID, u acp.SessionUpdate) {
	t.Helper()
	c := &peertest.Client{}
	assert.NoError(t, set.Client(c).SessionUpdate(t.Context(), &acp.SessionNotification{SessionID: id, Update: u}))
	assert.Equal(t, []acp.SessionUpdate{u}, c.Updates())
}

func TestSet(t *testing.T) {
	set := new(thread.Set)
	receive := func(id acp.SessionID, u acp.SessionUpdate) { receive(t, set, id, u) }
	broken := errors.New("broken")

	// A mode from an update that arrived before the response is kept.
	modes := &acp.SessionModeState{CurrentModeID: "first", AvailableModes: []acp.SessionMode{{ID: "first", Name: "F"}}}
	receive("s", &acp.CurrentModeUpdate{CurrentModeID: "told"})
	call(set.Sending, &acp.NewSessionRequest{}, result(&acp.NewSessionResponse{SessionID: "s", Modes: modes}, nil))
	th := set.Thread("s")
	assert.Equal(t, &thread.Modes{Current: "told", Available: []thread.Mode{{ID: "first", Name: "F"}}}, th.Snapshot().Modes)

	// A permission request is pending while the client handles it.
	call(set.Sending, &acp.PromptRequest{SessionID: "s", Prompt: []acp.ContentBlock{acp.Text("hello")}}, func() (any, error) {
		receive("s", &acp.ToolCall{ToolCallID: "1", Title: "T"})
		c := set.Client(&peertest.Client{OnPermission: func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
			assert.Len(t, th.Snapshot().Permissions, 1)
			return acp.Selected("o"), nil
		}})
		res, err := c.RequestPermission(t.Context(), &acp.RequestPermissionRequest{SessionID: "s", ToolCall: acp.ToolCallUpdate{ToolCallID: "1"}})
		assert.NoError(t, err)
		assert.Equal(t, acp.Selected("o"), res)
		return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
	})
	assert.Equal(t, []string{"user: hello", "tool 1: T (pending, ended)"}, lines(th))
	assert.Empty(t, th.Snapshot().Permissions)
	assert.Equal(t, thread.Turn{State: thread.StateIdle, StopReason: "end_turn"}, th.Snapshot().Turn)
	live := toJSON(t, th.Snapshot().Items.Slice())

	call(set.Sending, &acp.SetSessionModeRequest{SessionID: "s", ModeID: "first"}, result(&acp.SetSessionModeResponse{}, nil))
	assert.Equal(t, "first", th.Snapshot().Modes.Current)
	options := []acp.SessionConfigOption{{ID: "o", Name: "O", Kind: &acp.SessionConfigBoolean{CurrentValue: true}}}
	call(set.Sending, &acp.SetSessionConfigOptionRequest{SessionID: "s"}, result(&acp.SetSessionConfigOptionResponse{ConfigOptions: options}, nil))
	assert.True(t, th.Snapshot().Options[0].On)

	// A load that fails restores the thread. Otherwise the thread has what was replayed.
	for _, fails := range []bool{true, false} {
		_, err := call(set.Sending, &acp.LoadSessionRequest{SessionID: "s"}, func() (any, error) {
			receive("s", &acp.UserMessageChunk{Content: acp.Text("new")})
			receive("s", &acp.ToolCall{ToolCallID: "2", Title: "U"})
			if fails {
				return nil, broken
			}
			return &acp.LoadSessionResponse{Modes: &acp.SessionModeState{CurrentModeID: "m"}}, nil
		})
		if fails {
			assert.ErrorIs(t, err, broken)
			assert.Equal(t, live, toJSON(t, th.Snapshot().Items.Slice()))
			continue
		}
		assert.NoError(t, err)
		assert.Equal(t, []string{"user: new", "tool 2: U (pending, ended)"}, lines(th))
		assert.Equal(t, "m", th.Snapshot().Modes.Current)
	}
	call(set.Sending, &acp.ResumeSessionRequest{SessionID: "s"}, result(&acp.ResumeSessionResponse{Modes: modes}, nil))
	assert.Equal(t, "first", th.Snapshot().Modes.Current)
}

// The number of threads of sessions that only the agent has named is bounded.
func TestSetForgetsSessionsThatWereNotOpened(t *testing.T) {
	set := new(thread.Set)
	kept := set.Thread("kept")
	for i := range 1000 {
		receive(t, set, acp.SessionID(fmt.Sprint(i)), &acp.AgentMessageChunk{Content: acp.Text("x")})
	}
	assert.Same(t, kept, set.Thread("kept"))
	assert.Equal(t, 1, set.Thread("999").Snapshot().Items.Len())
	assert.Zero(t, set.Thread("0").Snapshot().Items.Len(), "it was forgotten")
	set.Forget("999")
	assert.Zero(t, set.Thread("999").Snapshot().Items.Len())
}

func TestLastActivity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := new(thread.Set)
		assert.Zero(t, set.Thread("s").LastActivity())
		for _, u := range []acp.SessionUpdate{acp.AgentText("x"), acp.AgentText("y"), &acp.ToolCall{ToolCallID: "1"}} {
			time.Sleep(time.Minute)
			receive(t, set, "s", u)
			assert.Equal(t, time.Now(), set.Thread("s").LastActivity())
		}
		time.Sleep(time.Minute)
		set.Thread("s").Snapshot()
		assert.Equal(t, time.Minute, time.Since(set.Thread("s").LastActivity()))
	})
}
