package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// prompted serves one prompt. It returns the response, the update of a tool call before it, if any,
// and the log.
func prompted(t *testing.T, opts agent.Options, prompt func(context.Context, *agent.Session) error) (response rawpeer.Message, update json.RawMessage, log string) {
	t.Helper()
	var buf bytes.Buffer
	opts.Logger = slog.New(slog.NewTextHandler(&buf, nil))
	c, peer := rawClient(t, func(conn *agent.Conn) acp.Agent {
		return &peertest.Agent{OnPrompt: func(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
			return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, prompt(ctx, conn.Session(req.SessionID))
		}}
	}, &opts)
	peer.Call("1", "session/prompt", `{"sessionId":"s","prompt":[]}`)
	m, _ := peer.Recv()
	if m.Method == "session/update" {
		update = m.Params
		m, _ = peer.Recv()
	}
	require.NoError(t, c.Close())
	require.NoError(t, c.Wait())
	return m, update, buf.String()
}

// OnError is called once for each error, before the error is converted. Its result is sent.
func TestOnError(t *testing.T) {
	boom := errors.New("boom")
	var seen []string
	hook := func(ctx context.Context, where string, err error) error {
		require.NoError(t, ctx.Err())
		assert.ErrorIs(t, err, boom)
		seen = append(seen, where)
		return rpcerr.New(-31000, "replaced", nil).WithCause(err)
	}
	response, _, _ := prompted(t, agent.Options{OnError: hook}, func(context.Context, *agent.Session) error { return fmt.Errorf("w: %w", boom) })
	assert.Equal(t, -31000, response.Error.Code)
	assert.Equal(t, "replaced", response.Error.Message)
	assert.Equal(t, []string{"session/prompt"}, seen)

	seen = nil
	response, update, _ := prompted(t, agent.Options{OnError: hook}, func(ctx context.Context, s *agent.Session) error {
		return s.ToolCall("t1").Fail(ctx, boom)
	})
	assert.Nil(t, response.Error)
	assert.Contains(t, string(update), `"rawOutput":{"code":-31000,"message":"replaced"}`)
	assert.Equal(t, []string{"tool call t1"}, seen)
}

// OnError receives the stack of a panic.
func TestOnErrorSeesTheStackOfAPanic(t *testing.T) {
	var log bytes.Buffer
	hook := func(_ context.Context, _ string, err error) error {
		slog.New(slog.NewTextHandler(&log, nil)).Error("failed", "error", err)
		return nil
	}
	response, _, _ := prompted(t, agent.Options{OnError: hook}, func(context.Context, *agent.Session) error { panic("canary") })
	assert.NotContains(t, string(response.Error.Data), "canary")
	assert.Contains(t, log.String(), "canary")
	assert.Contains(t, log.String(), "TestOnErrorSeesTheStackOfAPanic")
}

func TestOnErrorLeavesAsItIs(t *testing.T) {
	for name, hook := range map[string]func(context.Context, string, error) error{
		"nil":     func(context.Context, string, error) error { return nil },
		"a panic": func(context.Context, string, error) error { panic("canary") },
		"none":    nil,
	} {
		response, _, log := prompted(t, agent.Options{OnError: hook}, func(context.Context, *agent.Session) error {
			return rpcerr.InvalidParams(nil).WithDetail("no such mode")
		})
		assert.Equal(t, "Invalid params: no such mode", response.Error.Message, name)
		assert.Equal(t, name == "a panic", strings.Contains(log, "canary"))
	}
}

// ExposeErrors sends the details of errors of requests and of tool calls.
func TestExposeErrorsCoversToolCalls(t *testing.T) {
	kept := rpcerr.ResourceNotFound("notes").WithCause(&fs.PathError{Op: "open", Path: "/canary", Err: fs.ErrNotExist})
	for _, c := range []struct {
		err  error
		want string // part of the data
	}{
		{errors.New("canary"), `{"details":"canary"}`},
		{kept, `{"uri":"notes","details":"open /canary: file does not exist"}`},
		{fmt.Errorf("w: %w", kept), `{"uri":"notes","details":"w: Resource not found: notes (-32002); open /canary: file does not exist"}`},
		{errors.Join(errors.New("canary"), rpcerr.InternalError(nil).WithCause(errors.New("second"))), `{"details":"canary\nInternal error (-32603); second"}`},
		{kind.Internal.New("m").WithDebug("canary"), `{"kind":"internal","retryable":false,"details":"canary"}`},
		{rpcerr.InternalError("text").WithCause(errors.New("canary")), `"text"`},
		{rpcerr.InvalidParams(map[string]int{"details": 1}).WithCause(errors.New("canary")), `{"details":1}`},
	} {
		for _, expose := range []bool{true, false} {
			response, _, _ := prompted(t, agent.Options{ExposeErrors: expose}, func(context.Context, *agent.Session) error { return c.err })
			_, update, log := prompted(t, agent.Options{ExposeErrors: expose}, func(ctx context.Context, s *agent.Session) error {
				return s.ToolCall("t1").Fail(ctx, c.err)
			})
			assert.Equal(t, 1, strings.Count(log, "level="), "the cause is in the log, once: %s", log)
			assert.Contains(t, log, "canary")
			var u struct {
				Update struct {
					RawOutput struct{ Data json.RawMessage }
				}
			}
			require.NoError(t, json.Unmarshal(update, &u))
			if !expose {
				assert.NotContains(t, string(response.Error.Data)+string(update), "canary")
				continue
			}
			assert.JSONEq(t, c.want, withoutID(response.Error.Data))
			assert.JSONEq(t, c.want, withoutID(u.Update.RawOutput.Data))
			assert.Contains(t, string(update), "Details: ")
			assert.Contains(t, string(update), "canary")
		}
	}
}

// withoutID returns the data of an error without the id of an internal error.
func withoutID(data json.RawMessage) string {
	return regexp.MustCompile(`"errorId":"[a-z2-7]{8}",?`).ReplaceAllString(string(data), "")
}

// An internal error has an id, by which its reason can be found in the log.
func TestInternalErrorsCarryAnID(t *testing.T) {
	id := regexp.MustCompile(`errorId"?[:=]"?([a-z2-7]{8})`)
	var logged bytes.Buffer
	var path *fs.PathError
	for name, err := range map[string]error{
		"text": errors.New("boom"), "typed nil": path, "cause": rpcerr.InternalError(nil).WithCause(errors.New("boom")),
		"object": rpcerr.InternalError(map[string]int{"n": 1}).WithCause(errors.New("boom")), "panic": nil,
	} {
		response, _, log := prompted(t, agent.Options{}, func(context.Context, *agent.Session) error {
			if name == "panic" {
				panic("boom")
			}
			return err
		})
		require.Regexp(t, id, string(response.Error.Data), name)
		assert.Equal(t, id.FindStringSubmatch(string(response.Error.Data))[1], id.FindStringSubmatch(log)[1], name)
		if name == "panic" {
			continue
		}
		_, update, log := prompted(t, agent.Options{}, func(ctx context.Context, s *agent.Session) error { return s.ToolCall("t1").Fail(ctx, err) })
		require.Regexp(t, id, string(update), name)
		assert.Equal(t, id.FindStringSubmatch(string(update))[1], id.FindStringSubmatch(log)[1], name)
	}
	// The id is also there if OnError or the code that failed has logged the error.
	for name, err := range map[string]error{
		"plain": errors.New("boom"), "explicit": kind.Internal.New("m"), "cancelled": context.Canceled,
		"caught": func() (err error) {
			defer classify.Op{Name: "op", Logger: slog.New(slog.NewTextHandler(&logged, nil))}.Catch(t.Context(), &err)
			return errors.New("boom")
		}(),
	} {
		opts := &classify.OnErrorOptions{Logger: slog.New(slog.NewTextHandler(&logged, nil))}
		response, _, _ := prompted(t, agent.Options{OnError: classify.OnError(opts)}, func(context.Context, *agent.Session) error { return err })
		require.Regexp(t, id, string(response.Error.Data), name)
		assert.Equal(t, 1, strings.Count(logged.String(), "errorId="+id.FindStringSubmatch(string(response.Error.Data))[1]), name)
	}
	for name, err := range map[string]error{
		"not internal": rpcerr.InvalidParams(nil).WithCause(errors.New("boom")), "text": rpcerr.InternalError("text").WithCause(errors.New("boom")),
		"nothing is hidden": rpcerr.InternalError(nil),
	} {
		response, _, _ := prompted(t, agent.Options{}, func(context.Context, *agent.Session) error { return err })
		assert.NotContains(t, string(response.Error.Data), "errorId", name)
	}
	// The error of another agent is passed on unchanged.
	response, _, _ := prompted(t, agent.Options{}, func(context.Context, *agent.Session) error {
		return fmt.Errorf("w: %w", rpcerr.InternalError(json.RawMessage(`{"errorId":"theirs"}`)).WithCause(errors.New("boom")))
	})
	assert.JSONEq(t, `{"errorId":"theirs"}`, string(response.Error.Data))
}

// A panic is a bug of the agent, whatever its value. The client never reads that its params were
// wrong.
func TestPanicsAreInternalErrors(t *testing.T) {
	for _, value := range []any{"key not found", "invalid memory address", "rate limit", fs.ErrNotExist, rpcerr.AuthRequired(nil), context.Canceled} {
		var log bytes.Buffer
		opts := &classify.OnErrorOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))}
		response, _, _ := prompted(t, agent.Options{OnError: classify.OnError(opts)}, func(context.Context, *agent.Session) error { panic(value) })
		assert.Equal(t, -32603, response.Error.Code, "%v", value)
		assert.Equal(t, "Internal error", response.Error.Message, "%v", value)
		assert.Contains(t, log.String(), "level=ERROR", "%v", value)
		assert.Contains(t, log.String(), "TestPanicsAreInternalErrors", "the stack")
	}
}

// If the methods of a tool's error panic, the tool call still ends for the client, and the turn
// continues.
func TestToolCallsFailWithRudeErrors(t *testing.T) {
	var path *fs.PathError
	for name, err := range map[string]error{"typed nil": path, "wrapped": errors.Join(path), "failure": (*rudeFailure)(nil)} {
		response, update, log := prompted(t, agent.Options{}, func(ctx context.Context, s *agent.Session) error { return s.ToolCall("t1").Fail(ctx, err) })
		assert.Nil(t, response.Error, name)
		assert.Contains(t, string(update), `"status":"failed"`, name)
		assert.Contains(t, string(update), "Internal error", name)
		assert.Contains(t, log, "a method of an error", name)
	}
}

// rudeFailure is an error whose methods panic for a nil pointer.
type rudeFailure struct{ update acp.ToolCallUpdate }

func (f *rudeFailure) Error() string                       { return "rude" }
func (f *rudeFailure) FailedToolCall() *acp.ToolCallUpdate { u := f.update; return &u }

// undecided is a ToolFailure that returns no update.
type undecided struct{}

func (undecided) Error() string                       { return "canary" }
func (undecided) FailedToolCall() *acp.ToolCallUpdate { return nil }

// An acp.ToolFailure that returns no update is logged, because the client does not read it.
func TestToolFailuresThatDecideNothingAreLogged(t *testing.T) {
	for name, err := range map[string]error{"itself": undecided{}, "wrapped": fmt.Errorf("w: %w", undecided{})} {
		_, update, log := prompted(t, agent.Options{}, func(ctx context.Context, s *agent.Session) error { return s.ToolCall("t1").Fail(ctx, err) })
		assert.Contains(t, string(update), "Internal error", name)
		assert.NotContains(t, string(update), "canary", name)
		assert.Contains(t, log, "canary", name)
		assert.Contains(t, log, "errorId", name)
	}
}

// A failure with an invalid update still ends its tool call, and Fail returns what is wrong.
func TestToolCallsFailWithInvalidUpdates(t *testing.T) {
	var failed error
	_, update, _ := prompted(t, agent.Options{}, func(ctx context.Context, s *agent.Session) error {
		failed = s.ToolCall("t1").Fail(ctx, &rudeFailure{acp.ToolCallUpdate{Content: []acp.ToolCallContent{nil}}})
		return nil
	})
	assert.ErrorContains(t, failed, "content[0]")
	assert.Contains(t, string(update), `"status":"failed"`)
	assert.Contains(t, string(update), "Internal error")
}

// keeping is an error of a tool that decides what the client reads.
type keeping struct{ cause error }

func (keeping) Error() string   { return "the command failed" }
func (k keeping) Unwrap() error { return k.cause }
func (keeping) FailedToolCall() *acp.ToolCallUpdate {
	return &acp.ToolCallUpdate{Content: []acp.ToolCallContent{acp.ToolText("exit status 3")}}
}

// The cause of a failed tool call is in the log, whatever its type. The query of a URL is not.
func TestCausesOfToolCallsAreLogged(t *testing.T) {
	cause := &url.Error{Op: "Get", URL: "https://api.example/canary?key=hunter2", Err: errors.New("reset")}
	for _, err := range []error{
		cause, fmt.Errorf("w: %w", cause), keeping{cause}, rpcerr.ResourceNotFound("notes").WithCause(cause),
		fmt.Errorf("w: %w", rpcerr.InvalidParams(nil).WithCause(cause)),
	} {
		_, update, log := prompted(t, agent.Options{}, func(ctx context.Context, s *agent.Session) error { return s.ToolCall("t1").Fail(ctx, err) })
		assert.NotContains(t, string(update), "canary")
		assert.Equal(t, 1, strings.Count(log, "level="), log)
		assert.NotContains(t, log, "hunter2")
		assert.Contains(t, log, "canary")
	}
	_, _, log := prompted(t, agent.Options{}, func(context.Context, *agent.Session) error { return cause })
	assert.Contains(t, log, "canary")
	assert.NotContains(t, log, "hunter2")
}

// The log contains no params or content, and without Options.ExposeErrors a response contains
// no text of an internal error.
func TestLogsAndResponsesKeepSecrets(t *testing.T) {
	for _, expose := range []bool{false, true} {
		var log bytes.Buffer
		var dropped []string
		c, peer := rawClient(t, func(*agent.Conn) acp.Agent {
			return &peertest.Agent{
				OnNewSession: func(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
					return nil, errors.New("disk /canary-path is full")
				},
				OnPrompt: func(context.Context, *acp.PromptRequest) (*acp.PromptResponse, error) { panic("canary-panic") },
			}
		}, &agent.Options{
			ExposeErrors: expose,
			Logger:       slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			OnDropped:    func(method string, _ error) { dropped = append(dropped, method) },
		})
		peer.Call("1", "session/new", `{"cwd":"/","mcpServers":[{"name":"m","command":"/c","args":["canary-arg"],"env":[{"name":"K","value":"canary-env"}]}]}`)
		failed, _ := peer.Recv()
		peer.Call("2", "session/prompt", `{"sessionId":"s","prompt":[{"type":"text","text":"canary-text"}]}`)
		panicked, _ := peer.Recv()
		peer.Notify("session/cancel", `{"sessionId":{"canary-id":1}}`)
		peer.Call("3", "session/new", `{"cwd":"canary-cwd","mcpServers":[]}`)
		refused, _ := peer.Recv()
		require.NoError(t, c.Close())
		require.NoError(t, c.Wait())

		assert.Equal(t, -32603, failed.Error.Code)
		answer := failed.Error.Message + string(failed.Error.Data)
		if expose {
			assert.Contains(t, answer, "canary-path")
		} else {
			assert.Equal(t, "Internal error", failed.Error.Message)
			assert.NotContains(t, answer, "canary-path")
		}
		assert.Equal(t, -32603, panicked.Error.Code)
		assert.NotContains(t, string(panicked.Error.Data), "goroutine", "no stack on the wire")
		assert.Equal(t, -32602, refused.Error.Code)
		assert.Contains(t, string(refused.Error.Data), "cwd")
		assert.Equal(t, []string{"session/cancel"}, dropped)
		assert.Contains(t, log.String(), "canary-path", "the log tells why")
		assert.Contains(t, log.String(), "canary-panic")
		for _, secret := range []string{"canary-arg", "canary-env", "canary-text", "canary-id", "canary-cwd"} {
			assert.NotContains(t, log.String(), secret)
		}
	}
}

// The error of a failed tool call that is not sent to the client is in the log.
func TestFailedToolCallsAreLogged(t *testing.T) {
	var log bytes.Buffer
	c, peer := rawClient(t, func(conn *agent.Conn) acp.Agent {
		return &peertest.Agent{OnPrompt: func(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
			for id, err := range map[acp.ToolCallID]error{
				"unexpected": errors.New("canary-plain"),
				"masked":     rpcerr.InternalError(nil).WithDetail("sorry").WithCause(errors.New("canary-cause")),
				"told":       rpcerr.ResourceNotFound("/a"),
				"own":        ownFailure{},
				"stopped":    context.Canceled,
				"none":       nil,
			} {
				if err := conn.Session(req.SessionID).ToolCall(id).Fail(ctx, err); err != nil {
					return nil, err
				}
			}
			return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
		}}
	}, &agent.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	peer.Call("1", "session/prompt", `{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}`)
	for range 6 + 1 {
		m, _ := peer.Recv()
		assert.NotContains(t, string(m.Params), "canary")
	}
	require.NoError(t, c.Close())
	require.NoError(t, c.Wait())
	assert.Contains(t, log.String(), "toolCallId=unexpected error=canary-plain")
	assert.Contains(t, log.String(), "toolCallId=masked")
	assert.Contains(t, log.String(), "canary-cause")
	assert.Contains(t, log.String(), `toolCallId=stopped error="context canceled"`, "nobody has cancelled it")
	assert.Equal(t, 3, strings.Count(log.String(), "a tool call failed"), log.String())
}

type ownFailure struct{}

func (ownFailure) Error() string                       { return "exit status 2" }
func (ownFailure) FailedToolCall() *acp.ToolCallUpdate { return &acp.ToolCallUpdate{Title: "Build"} }
