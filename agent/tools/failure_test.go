package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/agent/workspace"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolcode"
	"github.com/acpkit/go-sdk/rpcerr/toolerr"
)

// The person reads the message of a failure. The model reads the code, too: that of package toolerr in the
// text of that package, and a reason in the JSON object of package toolcode.
func TestTextOfAFailure(t *testing.T) {
	long := strings.Repeat("\x01", 1<<20)
	for name, tt := range map[string]struct {
		err    error
		person string
		model  string // empty: as the person
	}{
		"a code of toolcode": {toolcode.NoMatch.Newf(nil, "old_string was not found in %s", "main.go"),
			"Error: old_string was not found in main.go", `{"error":"no_match","message":"old_string was not found in main.go"}`},
		"with a hint": {toolcode.AmbiguousMatch.New("3 matches").WithHint("Quote more lines."),
			"Error: 3 matches\nRecovery: Quote more lines.", `{"error":"ambiguous_match","message":"3 matches\nRecovery: Quote more lines."}`},
		"a bug":              {toolcode.Internal.New("secret"), "Error: Internal error", `{"error":"internal","message":"Internal error"}`},
		"a workspace":        {&workspace.Error{Path: "a.go", Err: fs.ErrNotExist}, "Error: a.go: does not exist", `{"error":"not_found","message":"a.go: does not exist"}`},
		"another reason":     {kind.Conflict.New("busy").WithReason("in_use"), "Error: busy", `{"error":"in_use","message":"busy"}`},
		"a reason of others": {kind.FromRequestError(rpcerr.New(-32603, "m", map[string]any{"reason": "The disk is full."})), "Error: m", ""},
		"a code of toolerr": {toolerr.NotFound("no channel").WithCode("NO_CHANNEL").WithReason("no_channel"),
			"[ERROR code=NO_CHANNEL category=not_found retryable=false] no channel\n\n```json\n{\"code\":\"NO_CHANNEL\",\"category\":\"not_found\",\"retryable\":false}\n```", ""},
		"no code":   {kind.Forbidden.New("not here"), "Error: not here", ""},
		"a text":    {tools.Failf("not here"), "not here", ""},
		"any error": {errors.New("secret"), "Internal error", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d, shown := fail(t, tt.err)
			assert.Equal(t, tt.person, shown)
			if tt.model == "" {
				tt.model = tt.person
			}
			assert.Equal(t, tt.model, text(d))
		})
	}
	d, _ := fail(t, toolcode.IOError.New(long))
	var e toolcode.Envelope
	require.NoError(t, json.Unmarshal([]byte(text(d)), &e), "an object that is cut is none")
	assert.Equal(t, toolcode.IOError, e.Error)
}

// fail runs a call that fails with err, and returns its result and the text that the person reads.
func fail(t *testing.T, err error) (tools.Done, string) {
	tool := tools.Tool{Name: "read", Effect: tools.Reads, Schema: object, Run: func(context.Context, *tools.Call) (tools.Result, error) {
		return tools.Result{}, err
	}}
	all, err := registry(t, tool).Run(t.Context(), tools.Env{Session: &session{}}, []tools.Request{{Name: "read"}})
	require.NoError(t, err)
	require.Equal(t, tools.Failed, all[0].Outcome)
	require.Len(t, all[0].Content, 1)
	return all[0], all[0].Content[0].(*acp.Content).Content.(*acp.TextContent).Text
}
