package interop_test

import (
	"encoding/json"
	"path"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/v2"
)

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
	assert.JSONEq(t, `{"message":"Settings?","mode":"form","sessionId":"`+string(c.session.ID())+`","toolCallId":"call-1","requestedSchema":{
		"type":"object","title":"Settings","required":["name"],"properties":{
		"name":{"type":"string","title":"Name","minLength":1,"maxLength":20,"default":""},"mail":{"type":"string","format":"email"},
		"level":{"type":"integer","minimum":0,"maximum":9,"default":0},"share":{"type":"number","minimum":0,"maximum":1},
		"web":{"type":"boolean","default":false},"size":{"type":"string","oneOf":[{"const":"s","title":"Small"},{"const":"l","title":"Large"}]},
		"tags":{"type":"array","minItems":1,"items":{"type":"string","enum":["a","b","c"]}}}}}`, string(c.handler.told()[0].Value))
}

func (c *conversation2) url(t *testing.T) {
	said, _ := c.say(t, "url")
	assert.Equal(t, "completed", said)
	assert.JSONEq(t, `{"action":"accept"}`, c.told(t, "url"))
	c.wait(t, func() bool { return c.handler.seenLocked("elicitation/complete") })
	asked := c.handler.told()
	assert.JSONEq(t, `{"message":"Open this","mode":"url","sessionId":"`+string(c.session.ID())+`","elicitationId":"el-1","url":"https://example.com/login"}`, string(asked[0].Value))
	assert.JSONEq(t, `{"elicitationId":"el-1"}`, string(last(t, asked, "elicitation/complete")))
}
