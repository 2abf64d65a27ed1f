package acp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

type patch struct {
	Title acp.Opt[string]   `json:"title,omitzero"`
	Tags  acp.Opt[[]string] `json:"tags,omitzero"`
}

func TestOptRoundTrip(t *testing.T) {
	for _, tt := range []struct {
		name, json string
		want       patch
	}{
		{"absent", `{}`, patch{}},
		{"null", `{"title":null}`, patch{Title: acp.Null[string]()}},
		{"value", `{"title":"x"}`, patch{Title: acp.Some("x")}},
		{"zero value", `{"title":""}`, patch{Title: acp.Some("")}},
		{"list", `{"tags":["a","b"]}`, patch{Tags: acp.Some([]string{"a", "b"})}},
		{"empty list", `{"tags":[]}`, patch{Tags: acp.Some([]string{})}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got patch
			require.NoError(t, json.Unmarshal([]byte(tt.json), &got))
			assert.Equal(t, tt.want, got)
			back, err := json.Marshal(got)
			require.NoError(t, err)
			assert.JSONEq(t, tt.json, string(back))
		})
	}
}

func TestOptRejectsOtherTypes(t *testing.T) {
	var got patch
	require.Error(t, json.Unmarshal([]byte(`{"title":5}`), &got))
	assert.True(t, got.Title.IsZero(), "a failed read leaves the Opt alone")
}

func TestOptStates(t *testing.T) {
	for _, tt := range []struct {
		name         string
		opt          acp.Opt[int]
		ok           bool
		isNull, zero bool
		or, applied  int
		text         string
	}{
		{"absent", acp.Opt[int]{}, false, false, true, 7, 5, "absent"},
		{"null", acp.Null[int](), false, true, false, 7, 0, "null"},
		{"value", acp.Some(3), true, false, false, 3, 3, "3"},
		{"zero", acp.Some(0), true, false, false, 0, 0, "0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, ok := tt.opt.Get()
			assert.Equal(t, tt.ok, ok)
			assert.Equal(t, tt.isNull, tt.opt.IsNull())
			assert.Equal(t, tt.zero, tt.opt.IsZero())
			assert.Equal(t, tt.or, tt.opt.Or(7))
			assert.Equal(t, tt.applied, tt.opt.Apply(5))
			assert.Equal(t, tt.text, tt.opt.String())
		})
	}
}

func TestOptOutsideAField(t *testing.T) {
	b, err := json.Marshal([]acp.Opt[int]{{}, acp.Null[int](), acp.Some(1)})
	require.NoError(t, err)
	assert.JSONEq(t, `[null,null,1]`, string(b))
}

func TestConstructors(t *testing.T) {
	for _, tt := range []struct {
		value any
		want  string
	}{
		{acp.Text("hi"), `{"type":"text","text":"hi"}`},
		{acp.AgentText("hi"), `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}`},
		{acp.AgentThought("hi"), `{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hi"}}`},
		{acp.UserText("hi"), `{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"hi"}}`},
		{acp.ToolText("hi"), `{"type":"content","content":{"type":"text","text":"hi"}}`},
		{acp.Selected("a"), `{"outcome":{"outcome":"selected","optionId":"a"}}`},
		{acp.Cancelled(), `{"outcome":{"outcome":"cancelled"}}`},
	} {
		b, err := json.Marshal(tt.value)
		require.NoError(t, err)
		assert.JSONEq(t, tt.want, string(b))
	}
}

func TestPlainText(t *testing.T) {
	assert.Empty(t, acp.PlainText())
	assert.Equal(t, "one two three", acp.PlainText(
		acp.Text("one "),
		&acp.ImageContent{Data: "x", MIMEType: "image/png"},
		&acp.EmbeddedResource{Resource: &acp.TextResourceContents{URI: "file:///x", Text: "two "}},
		&acp.EmbeddedResource{Resource: &acp.BlobResourceContents{URI: "file:///x", Blob: "eA=="}},
		&acp.ResourceLink{Name: "x", URI: "file:///x"},
		nil,
		(*acp.TextContent)(nil),
		(*acp.EmbeddedResource)(nil),
		&acp.EmbeddedResource{Resource: (*acp.TextResourceContents)(nil)},
		acp.Text("three"),
	))
}

func TestSelectKind(t *testing.T) {
	options := []acp.PermissionOption{
		{OptionID: "always", Kind: acp.PermissionOptionKindAllowAlways},
		{OptionID: "no", Kind: acp.PermissionOptionKindRejectOnce},
		{OptionID: "once", Kind: acp.PermissionOptionKindAllowOnce},
		{OptionID: "again", Kind: acp.PermissionOptionKindAllowOnce},
	}
	for want, kinds := range map[string][]acp.PermissionOptionKind{
		"once":   {acp.PermissionOptionKindAllowOnce, acp.PermissionOptionKindAllowAlways},
		"always": {acp.PermissionOptionKindAllowAlways, acp.PermissionOptionKindAllowOnce},
		"no":     {acp.PermissionOptionKindRejectAlways, acp.PermissionOptionKindRejectOnce},
	} {
		assert.Equal(t, acp.Selected(acp.PermissionOptionID(want)), acp.SelectKind(options, kinds...))
	}
	assert.Equal(t, acp.Cancelled(), acp.SelectKind(options, acp.PermissionOptionKindRejectAlways), "never another kind")
	assert.Equal(t, acp.Cancelled(), acp.SelectKind(nil, acp.PermissionOptionKindAllowOnce))
	assert.Equal(t, acp.Cancelled(), acp.SelectKind(options))
}

func TestCapabilityErrorLeavesAsMethodNotFound(t *testing.T) {
	err := fmt.Errorf("listing: %w", &acp.CapabilityError{Method: "session/list", Capability: "sessionCapabilities.list"})
	assert.EqualError(t, err, "listing: acp: session/list: peer does not advertise sessionCapabilities.list")

	out, ok := errors.AsType[*rpcerr.RequestError](rpcerr.From(err))
	require.True(t, ok)
	assert.Equal(t, rpcerr.CodeMethodNotFound, out.Code)
	assert.Equal(t, "Method not found: session/list", out.Message)

	var back *acp.CapabilityError
	require.ErrorAs(t, out, &back, "the cause stays visible on this side")
	assert.Equal(t, "session/list", back.Method)
}

func TestInvalidErrorListsFields(t *testing.T) {
	invalid := &acp.InvalidError{Where: "session/new params", Fields: []acp.FieldError{
		{Message: "must be an object"},
		{Path: "cwd", Message: "must be an absolute path"},
		{Path: "mcpServers[2].url", Message: "must be a URI"},
	}}
	err := fmt.Errorf("starting: %w", invalid)
	var found *acp.InvalidError
	require.ErrorAs(t, err, &found)
	assert.Same(t, invalid, found)
	assert.EqualError(t, invalid, "acp: invalid session/new params: must be an object; cwd: must be an absolute path; "+
		"mcpServers[2].url: must be a URI")

	var field acp.FieldError
	require.ErrorAs(t, err, &field)
	assert.Equal(t, "must be an object", field.Message)
	code, _ := rpcerr.CodeOf(rpcerr.From(err))
	assert.Equal(t, rpcerr.CodeInternalError, code, "the peer's request is not at fault")
}

func TestSentinelsAreTheEngines(t *testing.T) {
	for sentinel, want := range map[error]error{
		acp.ErrClosed:        wire.ErrClosed,
		acp.ErrOverloaded:    wire.ErrOverloaded,
		acp.ErrStalled:       wire.ErrStalled,
		acp.ErrTurnCancelled: wire.ErrTurnCancelled,
		acp.ErrTurnRunning:   wire.ErrTurnRunning,
		acp.ErrHandlerStuck:  wire.ErrHandlerStuck,
	} {
		assert.ErrorIs(t, fmt.Errorf("wrapped: %w", sentinel), want)
		assert.NotErrorIs(t, sentinel, context.Canceled)
	}
}
