package interop_test

import (
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The steps of the conversation of version 2 that show what the agent does in a turn.

//go:embed peers/v2/updates.json
var updates2File []byte

// gist names an update, and the state or status in it, for comparing orders.
func gist(u acp.SessionUpdate) string {
	switch u := u.(type) {
	case *acp.SessionStateUpdate:
		switch u.StateUpdate.(type) {
		case *acp.RunningStateUpdate:
			return "running"
		case *acp.RequiresActionStateUpdate:
			return "requires action"
		case *acp.IdleStateUpdate:
			return "idle"
		}
	case *acp.UserMessage, *acp.UserMessageChunk:
		return "user"
	case *acp.AgentMessage, *acp.AgentMessageChunk:
		return "agent"
	case *acp.ToolCallUpdate:
		return "call " + string(u.Status.Or(""))
	case *acp.ToolCallContentChunk:
		return "content"
	case *acp.TerminalUpdate:
		return "terminal"
	case *acp.TerminalOutputChunk:
		return "output"
	case *acp.PlanUpdate:
		return "plan"
	case *acp.ReplayComplete:
		return "replay complete"
	}
	return "other"
}

func gists(updates []acp.SessionUpdate) []string {
	var out []string
	for _, u := range updates {
		out = append(out, gist(u))
	}
	return out
}

func (c *conversation2) prompt(t *testing.T) {
	turn := c.session.Prompt(c.ctx, acp.Text("say one two three"))
	accepted, err := turn.Accepted()
	require.NoError(t, err)
	said, err := turn.Text()
	require.NoError(t, err)
	assert.Equal(t, "onetwothree", said)
	idle, err := turn.Wait()
	require.NoError(t, err)
	assert.Equal(t, acp.StopReasonEndTurn, idle.StopReason)
	seen := c.handler.seen()
	assert.Equal(t, []string{"user", "running", "agent", "agent", "agent", "idle"}, gists(seen))
	assert.Equal(t, accepted.MessageID, seen[0].(*acp.UserMessage).MessageID)
	assert.Equal(t, idle, c.session.State())

	_, err = c.session.Prompt(c.ctx,
		acp.Text("say hi"), &acp.ImageContent{Data: "aGk=", MIMEType: "image/png"}, &acp.AudioContent{Data: "aGk=", MIMEType: "audio/wav"},
		&acp.ResourceLink{URI: "file:///a", Name: "a"}, &acp.EmbeddedResource{Resource: &acp.TextResourceContents{URI: "file:///a", Text: "t"}},
		&acp.UnknownContentBlock{Type: "_sticker", Raw: json.RawMessage(`{"type":"_sticker","id":7}`)},
	).Wait()
	require.NoError(t, err)
	assert.JSONEq(t, `{"sessionId":"`+string(c.session.ID())+`","prompt":[{"type":"text","text":"say hi"},
		{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"audio","data":"aGk=","mimeType":"audio/wav"},
		{"type":"resource_link","uri":"file:///a","name":"a"},{"type":"resource","resource":{"uri":"file:///a","text":"t"}},
		{"type":"_sticker","id":7}]}`, string(last(t, journal(c.ctx, t, c.conn), "session/prompt")))
}

// The echo, the state running and the response come in any order.
func (c *conversation2) orders(t *testing.T) {
	for _, order := range []string{"usual", "claude", "codex", "late"} {
		c.handler.reset("")
		turn := c.session.Prompt(c.ctx, acp.Text("order "+order+" a b"))
		accepted, err := turn.Accepted()
		require.NoError(t, err, order)
		assert.NotEmpty(t, accepted.MessageID, order)
		said, err := turn.Text()
		require.NoError(t, err, order)
		assert.Equal(t, "ab", said, order)
		idle, err := turn.Wait()
		require.NoError(t, err, order)
		assert.Equal(t, acp.StopReasonEndTurn, idle.StopReason, order)
		seen := gists(c.handler.seen())
		assert.ElementsMatch(t, []string{"user", "running"}, seen[:2], order)
		assert.Equal(t, []string{"agent", "agent", "idle"}, seen[2:], order)
	}
}

func (c *conversation2) everyUpdate(t *testing.T) {
	var ofTurn []acp.SessionUpdate
	for u, err := range c.session.Prompt(c.ctx, acp.Text("updates")).Updates() {
		require.NoError(t, err)
		ofTurn = append(ofTurn, u)
	}
	seen := c.handler.seen()
	require.Equal(t, []string{"user", "running"}, gists(seen[:2]))
	require.Equal(t, "idle", gist(seen[len(seen)-1]))
	assert.Subset(t, seen, ofTurn, "the turn and the client see the same")
	seen = seen[2 : len(seen)-1]
	var want []json.RawMessage
	require.NoError(t, json.Unmarshal(updates2File, &want))
	require.Len(t, seen, len(want))
	kinds := map[string]bool{}
	for i, u := range seen {
		b, err := json.Marshal(&acp.UpdateSessionNotification{SessionID: c.session.ID(), Update: u})
		require.NoError(t, err)
		var got struct {
			Update json.RawMessage
		}
		require.NoError(t, json.Unmarshal(b, &got))
		assert.JSONEq(t, string(want[i]), string(got.Update))
		var tag struct{ SessionUpdate string }
		require.NoError(t, json.Unmarshal(got.Update, &tag))
		kinds[tag.SessionUpdate] = true
	}
	assert.Len(t, kinds, 24, "every kind that the protocol has, and one that it has not")
}

// A whole message replaces the earlier content of that message. Chunks of several messages
// may interleave.
func (c *conversation2) messages(t *testing.T) {
	said, _ := c.say(t, "messages")
	assert.Equal(t, "final text.2a2b", said)
	signed := c.handler.seen()[10].(*acp.AgentMessage)
	assert.True(t, signed.Content.IsZero(), "no content is not empty content")
	assert.Equal(t, acp.Meta{"signed": true}, signed.Meta)
}

func (c *conversation2) toolCall(t *testing.T) {
	c.say(t, "tool")
	seen := c.handler.seen()
	assert.Equal(t, []string{"user", "running", "call pending", "call ", "call in_progress", "content", "content", "call completed", "idle"}, gists(seen))
	file := acp.AbsolutePath(path.Join(c.dir, "a.txt"))
	assert.Equal(t, &acp.ToolCallUpdate{
		ToolCallID: "call-2", Title: acp.Some("Edit a.txt"), Name: acp.Some("edit"), Kind: acp.Some(acp.ToolKindEdit),
		RawInput: json.RawMessage(`{"path":"a.txt"}`), Locations: acp.Some([]acp.ToolCallLocation{{Path: file, Line: new(uint32(1))}}),
	}, seen[3])
	diff, ok := seen[6].(*acp.ToolCallContentChunk).Content.(*acp.Diff)
	require.True(t, ok)
	assert.Equal(t, []acp.DiffChange{{FileType: acp.DiffFileTypeText, Operation: &acp.DiffModify{Path: file}}}, diff.Changes)
	require.NotNil(t, diff.Patch)
	assert.Equal(t, acp.DiffPatchFormatGitPatch, diff.Patch.Format)
	assert.Contains(t, diff.Patch.Text, "-old\n+new\n")
	end := seen[7].(*acp.ToolCallUpdate)
	assert.True(t, end.Title.IsNull(), "null takes the title back")
	assert.JSONEq(t, `{"lines":1}`, string(end.RawOutput))
}

func (c *conversation2) plan(t *testing.T) {
	c.say(t, "plan")
	plan, ok := c.handler.seen()[2].(*acp.PlanUpdate)
	require.True(t, ok)
	assert.Equal(t, &acp.PlanItems{PlanID: "plan-1", Entries: []acp.PlanEntry{
		{Content: "look", Priority: acp.PlanEntryPriorityMedium, Status: acp.PlanEntryStatusCompleted},
		{Content: "act", Priority: acp.PlanEntryPriorityMedium, Status: acp.PlanEntryStatusPending},
	}}, plan.Plan)
}

// The output of an agent's terminal comes as bytes, which may part a character.
func (c *conversation2) terminal(t *testing.T) {
	c.say(t, "terminal")
	seen := c.handler.seen()
	assert.Equal(t, []string{"user", "running", "terminal", "call in_progress", "output", "output", "terminal", "call completed", "idle"}, gists(seen))
	start := seen[2].(*acp.TerminalUpdate)
	assert.Equal(t, acp.Some("make"), start.Command)
	assert.Equal(t, acp.Some(acp.TerminalSize{Cols: 80, Rows: 24}), start.Size)
	var output []byte
	for _, u := range seen[4:6] {
		chunk := u.(*acp.TerminalOutputChunk)
		assert.Equal(t, start.TerminalID, chunk.TerminalID)
		b, err := base64.StdEncoding.DecodeString(chunk.Data)
		require.NoError(t, err)
		output = append(output, b...)
	}
	assert.Equal(t, "built ü\n", string(output))
	assert.Equal(t, acp.Some(acp.TerminalExitStatus{ExitCode: new(int64(0))}), seen[6].(*acp.TerminalUpdate).ExitStatus)
}

func (c *conversation2) stopReasons(t *testing.T) {
	for _, reason := range []acp.StopReason{acp.StopReasonMaxTokens, acp.StopReasonMaxTurnRequests, acp.StopReasonRefusal, "_bored"} {
		_, idle := c.say(t, "stop "+string(reason))
		assert.Equal(t, reason, idle.StopReason)
	}
	idle, err := c.session.Prompt(c.ctx, acp.Text("stop error -32000")).Wait()
	assert.ErrorIs(t, err, rpcerr.ErrAuthRequired)
	e := hasCode(t, rpcerr.CodeAuthRequired, err)
	assert.Equal(t, "stopped as asked", e.Message)
	require.NotNil(t, idle)
	assert.Equal(t, acp.StopReasonError, idle.StopReason)
	assert.JSONEq(t, `{"why":"asked"}`, string(idle.Error.Data))
}

func (c *conversation2) promptFails(t *testing.T) {
	turn := c.session.Prompt(c.ctx, acp.Text("fail -32000 login"))
	_, refused := turn.Accepted()
	_, err := turn.Wait()
	assert.Equal(t, refused, err)
	e := hasCode(t, rpcerr.CodeAuthRequired, err)
	assert.Equal(t, "failed as asked", e.Message)
	var data struct{ Word string }
	require.NoError(t, e.DecodeData(&data))
	assert.Equal(t, "login", data.Word)
	_, err = c.session.Prompt(c.ctx, acp.Text("nonsense")).Wait()
	hasCode(t, rpcerr.CodeInvalidParams, err)
	_, err = c.session.Prompt(c.ctx).Wait()
	var invalid *acp.InvalidError
	assert.ErrorAs(t, err, &invalid, "refused before it leaves")
	_, err = c.conn.Session("nope").Prompt(c.ctx, acp.Text("say x")).Wait()
	assert.ErrorIs(t, err, rpcerr.ErrSessionNotFound)
}

// The steps of the conversation of version 2 in which the agent asks.

func (c *conversation2) permission(t *testing.T) {
	for _, kind := range []acp.PermissionOptionKind{
		acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindAllowAlways,
		acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways, "_ask_later",
	} {
		c.handler.reset(kind)
		said, _ := c.say(t, "permission")
		assert.Equal(t, "selected id-"+string(kind), said)
		assert.Equal(t, []string{"user", "running", "requires action", "running", "agent", "idle"}, gists(c.handler.seen()))
		var req acp.RequestPermissionRequest
		require.NoError(t, json.Unmarshal(last(t, c.handler.told(), "session/request_permission"), &req))
		assert.Equal(t, "Edit a.txt?", req.Title)
		assert.Equal(t, "It changes one line.", req.Description)
		subject, ok := req.Subject.(*acp.ToolCallPermissionSubject)
		require.True(t, ok, "%T", req.Subject)
		file := acp.AbsolutePath(path.Join(c.dir, "a.txt"))
		assert.Equal(t, acp.Some([]acp.ToolCallLocation{{Path: file, Line: new(uint32(1))}}), subject.ToolCall.Locations)
		content, _ := subject.ToolCall.Content.Get()
		require.Len(t, content, 1)
		assert.Equal(t, &acp.DiffModify{Path: file}, content[0].(*acp.Diff).Changes[0].Operation)
	}
}

func (c *conversation2) subjects(t *testing.T) {
	subject := func(kind string) acp.RequestPermissionSubject {
		c.handler.reset(acp.PermissionOptionKindAllowOnce)
		c.say(t, "permission "+kind)
		var req acp.RequestPermissionRequest
		require.NoError(t, json.Unmarshal(last(t, c.handler.told(), "session/request_permission"), &req))
		return req.Subject
	}
	assert.Equal(t, &acp.CommandPermissionSubject{Command: "make all", Cwd: acp.AbsolutePath(c.dir), ToolCallID: "call-1"}, subject("command"))
	assert.Nil(t, subject("none"))
	other, ok := subject("other").(*acp.UnknownRequestPermissionSubject)
	require.True(t, ok)
	assert.JSONEq(t, `{"type":"_network","host":"example.com"}`, string(other.Raw))

	c.handler.reset(postponed)
	said, _ := c.say(t, "permission")
	assert.Equal(t, "_unsure", said)
	assert.JSONEq(t, `{"outcome":{"outcome":"_unsure","until":"tomorrow"}}`, c.told(t, "permission"))
}

// The question is open when the turn is cancelled: the SDK answers it.
func (c *conversation2) permissionCancelled(t *testing.T) {
	c.handler.reset(keepOpen)
	turn := c.session.Prompt(c.ctx, acp.Text("wait-permission"))
	c.wait(t, func() bool { return c.handler.seenLocked("session/request_permission") })
	assert.IsType(t, &acp.RequiresActionStateUpdate{}, c.session.State())
	require.NoError(t, turn.Cancel(c.ctx))
	said, _ := turn.Text() // Wait has the error
	idle, err := turn.Wait()
	require.NoError(t, err)
	assert.Equal(t, acp.StopReasonCancelled, idle.StopReason)
	assert.Equal(t, "cancelled", said)
	assert.JSONEq(t, `{"outcome":{"outcome":"cancelled"}}`, c.told(t, "permission"))
}

// The agent takes its question back with $/cancel_request; the turn goes on.
func (c *conversation2) takenBack(t *testing.T) {
	c.handler.reset(keepOpen)
	said, idle := c.say(t, "takeback")
	assert.Equal(t, "error -32800", said)
	assert.Equal(t, acp.StopReasonEndTurn, idle.StopReason)
	c.wait(t, func() bool { return c.handler.seenLocked("session/request_permission cancelled") })
}

func (c *conversation2) form(t *testing.T) {
	c.say(t, "form")
	assert.JSONEq(t, `{"action":"accept","content":{"name":"Ann","level":3,"share":0.5,"web":true,"tags":["a","b"]}}`, c.told(t, "form"))
	assert.JSONEq(t, `{"action":"decline"}`, c.told(t, "form declined"))
	assert.JSONEq(t, `{"action":"_later","days":2}`, c.told(t, "form postponed"))
	assert.JSONEq(t, fmt.Sprintf(settingsFormat, c.session.ID()), string(c.handler.told()[0].Value))
}

func (c *conversation2) url(t *testing.T) {
	said, _ := c.say(t, "url")
	assert.Equal(t, "completed", said)
	assert.JSONEq(t, `{"action":"accept"}`, c.told(t, "url"))
	c.wait(t, func() bool { return c.handler.seenLocked("elicitation/complete") })
	asked := c.handler.told()
	assert.JSONEq(t, fmt.Sprintf(pageFormat, c.session.ID()), string(asked[0].Value))
	assert.JSONEq(t, `{"elicitationId":"el-1"}`, string(last(t, asked, "elicitation/complete")))
}
