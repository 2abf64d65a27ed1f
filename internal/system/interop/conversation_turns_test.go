package interop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The steps of the conversation that are turns.

func (c *conversation) prompt(t *testing.T) {
	said, res := c.say(t, "say one two three")
	assert.Equal(t, "onetwothree", said)
	assert.Equal(t, acp.StopReasonEndTurn, res.StopReason)
	assert.Equal(t, &acp.Usage{TotalTokens: 3, InputTokens: 1, OutputTokens: 2}, res.Usage)
	assert.Equal(t, acp.Meta{"word": "say"}, res.Meta)

	_, err := c.session.Prompt(c.ctx,
		acp.Text("say hi"), &acp.ImageContent{Data: "aGk=", MIMEType: "image/png"}, &acp.AudioContent{Data: "aGk=", MIMEType: "audio/wav"},
		&acp.ResourceLink{URI: "file:///a", Name: "a"}, &acp.EmbeddedResource{Resource: &acp.TextResourceContents{URI: "file:///a", Text: "t"}},
	).Wait()
	require.NoError(t, err)
	assert.JSONEq(t, `{"sessionId":"`+string(c.session.ID())+`","prompt":[{"type":"text","text":"say hi"},
		{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"audio","data":"aGk=","mimeType":"audio/wav"},
		{"type":"resource_link","uri":"file:///a","name":"a"},{"type":"resource","resource":{"uri":"file:///a","text":"t"}}]}`,
		string(last(t, journal(c.ctx, t, c.conn), "session/prompt")))
}

func (c *conversation) everyUpdate(t *testing.T) {
	var ofTurn []acp.SessionUpdate
	for u, err := range c.session.Prompt(c.ctx, acp.Text("updates")).Updates() {
		require.NoError(t, err)
		ofTurn = append(ofTurn, u)
	}
	seen, _ := c.handler.recorded()
	assert.Equal(t, seen, ofTurn, "the turn and the client see the same")
	want := allUpdates(c.session.ID())
	require.Len(t, seen, len(want))
	kinds := map[string]bool{}
	for i, u := range seen {
		b, err := json.Marshal(&acp.SessionNotification{SessionID: c.session.ID(), Update: u})
		require.NoError(t, err)
		w, err := json.Marshal(want[i])
		require.NoError(t, err)
		assert.JSONEq(t, string(w), string(b))
		var tag struct {
			Update struct{ SessionUpdate string }
		}
		require.NoError(t, json.Unmarshal(b, &tag))
		kinds[tag.Update.SessionUpdate] = true
	}
	assert.Len(t, kinds, 19, "every kind the protocol has")
}

func (c *conversation) permission(t *testing.T) {
	for _, kind := range []acp.PermissionOptionKind{
		acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindAllowAlways,
		acp.PermissionOptionKindRejectOnce, acp.PermissionOptionKindRejectAlways,
	} {
		c.handler.reset(kind)
		said, _ := c.say(t, "permission")
		assert.Equal(t, "selected id-"+string(kind), said)
		updates, asked := c.handler.recorded()
		call, ok := updates[0].(*acp.ToolCall)
		require.True(t, ok, "%T", updates[0])
		assert.Equal(t, acp.ToolKindEdit, call.Kind)
		var req acp.RequestPermissionRequest
		require.NoError(t, json.Unmarshal(last(t, asked, "session/request_permission"), &req))
		assert.Equal(t, call.ToolCallID, req.ToolCall.ToolCallID)
		assert.Equal(t, []acp.ToolCallContent{&acp.Diff{Path: path.Join(c.dir, "a.txt"), NewText: "new\n"}}, req.ToolCall.Content)
		assert.JSONEq(t, `{"path":"a.txt"}`, string(req.ToolCall.RawInput))
		assert.EqualValues(t, 1, *req.ToolCall.Locations[0].Line)
	}
}

// The question is open when the turn is cancelled: the SDK answers it.
func (c *conversation) permissionCancelled(t *testing.T) {
	c.handler.reset("")
	turn := c.session.Prompt(c.ctx, acp.Text("wait-permission"))
	require.NoError(t, c.handler.until(c.ctx, func() bool { return c.handler.seenLocked("session/request_permission") }))
	require.NoError(t, turn.Cancel(c.ctx))
	said, _ := turn.Text() // Wait has the error
	res, err := turn.Wait()
	require.NoError(t, err)
	assert.Equal(t, acp.StopReasonCancelled, res.StopReason)
	assert.Equal(t, "cancelled", said)
	assert.JSONEq(t, `{"outcome":{"outcome":"cancelled"}}`, c.told(t, "permission"))
}

func (c *conversation) files(t *testing.T) {
	c.say(t, "files")
	assert.JSONEq(t, `{}`, c.told(t, "write"))
	assert.JSONEq(t, `{"content":"one\ntwo\nthree\nfour\n"}`, c.told(t, "read"))
	assert.JSONEq(t, `{"content":"two\nthree\n"}`, c.told(t, "read lines"))
	missing := path.Join(c.dir, "missing.txt")
	assert.JSONEq(t, `{"error":{"code":-32002,"message":"Resource not found: `+missing+`","data":{"uri":"`+missing+`"}}}`, c.told(t, "read missing"))
}

func (c *conversation) terminals(t *testing.T) {
	c.say(t, "terminal")
	var output acp.TerminalOutputResponse
	require.NoError(t, json.Unmarshal([]byte(c.told(t, "terminal output")), &output))
	assert.Equal(t, "hello in "+c.dir, output.Output)
	assert.EqualValues(t, 3, *output.ExitStatus.ExitCode)
	assert.JSONEq(t, `{"exitCode":3}`, c.told(t, "terminal wait"))
	assert.JSONEq(t, `{"signal":"SIGTERM"}`, c.told(t, "terminal wait killed"))
	assert.JSONEq(t, `{}`, c.told(t, "terminal kill"))
	assert.Contains(t, c.told(t, "terminal gone"), "-32002")
	_, asked := c.handler.recorded()
	var first acp.CreateTerminalRequest
	require.NoError(t, json.Unmarshal(asked[0].Value, &first))
	assert.EqualValues(t, 1000, *first.OutputByteLimit)
}

func (c *conversation) form(t *testing.T) {
	c.say(t, "form")
	assert.JSONEq(t, `{"action":"accept","content":{"name":"Ann","level":3,"share":0.5,"web":true,"tags":["a","b"]}}`, c.told(t, "form"))
	assert.JSONEq(t, `{"action":"decline"}`, c.told(t, "form declined"))
	_, asked := c.handler.recorded()
	assert.JSONEq(t, fmt.Sprintf(settingsFormat, c.session.ID()), string(asked[0].Value))
}

func (c *conversation) url(t *testing.T) {
	said, _ := c.say(t, "url")
	assert.Equal(t, "completed", said)
	assert.JSONEq(t, `{"action":"accept"}`, c.told(t, "url"))
	_, asked := c.handler.recorded()
	require.Len(t, asked, 2)
	assert.JSONEq(t, fmt.Sprintf(pageFormat, c.session.ID()), string(asked[0].Value))
	assert.Equal(t, "elicitation/complete", asked[1].What)
	assert.JSONEq(t, `{"elicitationId":"el-1"}`, string(asked[1].Value))
}

// A turn ends by Turn.Cancel, and by the end of the prompt's ctx. Both send
// session/cancel; the turn's last words arrive.
func (c *conversation) cancel(t *testing.T) {
	for _, byCtx := range []bool{false, true} {
		c.handler.reset("")
		ctx, cancel := context.WithCancel(c.ctx)
		defer cancel()
		turn := c.session.Prompt(ctx, acp.Text("wait"))
		require.NoError(t, c.handler.until(c.ctx, func() bool { return len(c.handler.updates) > 0 }))
		if byCtx {
			cancel()
		} else {
			require.NoError(t, turn.Cancel(c.ctx))
		}
		said, _ := turn.Text() // Wait has the error
		res, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonCancelled, res.StopReason)
		assert.Equal(t, "waitingstopping", said)
	}
}

func (c *conversation) takenBack(t *testing.T) {
	c.say(t, "takeback")
	require.NoError(t, c.handler.until(c.ctx, func() bool { return c.handler.seenLocked("_interop/client_wait cancelled") }))
	var answer struct{ Error struct{ Code rpcerr.Code } }
	require.NoError(t, json.Unmarshal([]byte(c.told(t, "takeback")), &answer))
	assert.Equal(t, rpcerr.CodeRequestCancelled, answer.Error.Code)
}
