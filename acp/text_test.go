package acp_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
)

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
