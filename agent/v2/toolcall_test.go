package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	acp1 "github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent/v2"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// badFailure determines an update that breaks the schema.
type badFailure struct{}

func (badFailure) Error() string { return "bad" }
func (badFailure) FailedToolCall() *acp1.ToolCallUpdate {
	return &acp1.ToolCallUpdate{RawOutput: json.RawMessage("{")}
}

// The raw output of a failed tool call has the error, and the log has the details that are not sent,
// as in version 1.
func TestToolCallsThatFail(t *testing.T) {
	var path *fs.PathError
	secret := errors.New("/home/me is full")
	for name, c := range map[string]struct {
		err    error
		opts   agent.Options
		text   string // what a person reads
		kind   kind.Kind
		logged string
	}{
		"record":        {err: kind.Forbidden.New("Not here").WithHint("Ask first").WithCause(secret), text: `Error: Not here\nRecovery: Ask first`, kind: kind.Forbidden, logged: "/home/me"},
		"wrapped":       {err: fmt.Errorf("w: %w", kind.Conflict.New("Changed")), text: "Error: Changed", kind: kind.Conflict},
		"request error": {err: rpcerr.InvalidParams(nil).WithDetail("no such mode"), text: "Invalid params: no such mode", kind: kind.InvalidParams},
		"unexpected":    {err: secret, text: "Internal error", kind: kind.Internal, logged: "/home/me"},
		"classified": {err: &fs.PathError{Op: "open", Path: "/secret", Err: fs.ErrNotExist}, text: "Error: Resource not found", kind: kind.NotFound,
			opts: agent.Options{OnError: classify.OnError(&classify.OnErrorOptions{Logger: slog.New(slog.DiscardHandler)})}},
		"typed nil":                {err: path, text: "Internal error", kind: kind.Internal, logged: "nil pointer"},
		"some other ctx has ended": {err: context.Canceled, text: "Internal error", kind: kind.Internal, logged: "context canceled"},
		"invalid update":           {err: badFailure{}, text: "Internal error", kind: kind.Internal, logged: "rawOutput"},
		"exposed":                  {err: secret, opts: agent.Options{ExposeErrors: true}, text: "Details: /home/me is full", kind: kind.Internal, logged: "/home/me"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			c.opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
			scene(t, &c.opts, works{"go": func(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
				call, err := s.StartToolCall(ctx, &acp.ToolCallUpdate{Title: acp.Some("Build")})
				if err != nil {
					return "", err
				}
				if err := s.ToolCall(call.ID()).Progress(ctx, acp.ToolText("working")); err != nil {
					return "", err
				}
				return "", call.Fail(ctx, c.err)
			}}, func(r *raw) {
				r.prompt(1, "go")
				var updates []string
				for range 7 { // with the user's message, two states and the response
					if m := r.Next().Raw; strings.Contains(m, `"tool_call_update"`) {
						updates = append(updates, m)
					}
				}
				assert.Contains(t, updates[0], `"status":"in_progress"`)
				assert.Contains(t, updates[1], "working")
				assert.Contains(t, updates[2], `"status":"failed"`)
				assert.Contains(t, updates[2], c.text)
				var failed struct {
					Params struct {
						Update struct{ RawOutput json.RawMessage }
					}
				}
				require.NoError(t, json.Unmarshal([]byte(updates[2]), &failed))
				e, ok := kind.FromRawOutput(failed.Params.Update.RawOutput)
				require.True(t, ok)
				assert.Equal(t, c.kind, e.Kind)
			})
			assert.Contains(t, log.String(), c.logged)
			if c.logged == "" {
				assert.Empty(t, log.String())
			}
		})
	}
}
