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

// toolFailure is an error of a tool that decides what the client reads. Its methods panic for a nil
// pointer.
type toolFailure struct {
	update *acp.ToolCallUpdate
	cause  error
}

func (f *toolFailure) Error() string                       { return "canary of the tool" }
func (f *toolFailure) Unwrap() error                       { return f.cause }
func (f *toolFailure) FailedToolCall() *acp.ToolCallUpdate { return f.update }

// A tool call that fails ends for the client, whatever its error does, and the turn continues. What
// the client does not read is in the log, once, but the query of a URL is not.
func TestToolCallsThatFail(t *testing.T) {
	var path *fs.PathError
	link := &url.Error{Op: "Get", URL: "https://api.example/canary?key=hunter2", Err: errors.New("reset")}
	title := &acp.ToolCallUpdate{Title: "Build"}
	for name, tt := range map[string]struct {
		err    error
		sent   string
		logged string // nothing if it is empty
	}{
		"none":                     {nil, "failed", ""},
		"typed nil":                {path, "Internal error", "a method of an error"},
		"joined typed nil":         {errors.Join(path), "Internal error", "a method of an error"},
		"nil failure":              {(*toolFailure)(nil), "Internal error", "a method of an error"},
		"unexpected":               {errors.New("canary"), "Internal error", "toolCallId=t1 error=canary"},
		"nobody has cancelled it":  {context.Canceled, "Internal error", `toolCallId=t1 error="context canceled"`},
		"told":                     {rpcerr.ResourceNotFound("/a"), "Resource not found: /a", ""},
		"masked":                   {rpcerr.InternalError(nil).WithDetail("sorry").WithCause(errors.New("canary")), "sorry", "canary"},
		"own":                      {&toolFailure{title, nil}, "Build", ""},
		"own, with a cause":        {&toolFailure{title, link}, "Build", "canary?"},
		"decides nothing":          {&toolFailure{}, "Internal error", "canary of the tool"},
		"wrapped, decides nothing": {fmt.Errorf("w: %w", &toolFailure{}), "Internal error", "canary of the tool"},
		"with a URL":               {link, "Internal error", "canary"},
		"wrapped, with a URL":      {fmt.Errorf("w: %w", link), "Internal error", "canary"},
		"caused by a URL":          {rpcerr.ResourceNotFound("notes").WithCause(link), "notes", "canary"},
		"wrapped, caused by a URL": {fmt.Errorf("w: %w", rpcerr.InvalidParams(nil).WithCause(link)), "Invalid params", "canary"},
	} {
		t.Run(name, func(t *testing.T) {
			response, update, log := prompted(t, agent.Options{}, func(ctx context.Context, s *agent.Session) error { return s.ToolCall("t1").Fail(ctx, tt.err) })
			assert.Nil(t, response.Error)
			assert.Contains(t, string(update), `"status":"failed"`)
			assert.Contains(t, string(update), tt.sent)
			assert.NotContains(t, string(update), "canary")
			assert.Contains(t, log, tt.logged)
			lines := map[bool]int{true: 1}[tt.logged != ""]
			assert.Equal(t, lines, strings.Count(log, "level="), log)
			assert.Equal(t, strings.Contains(string(update), "errorId"), strings.Contains(log, "errorId"), log)
			assert.NotContains(t, log, "hunter2")
		})
	}
	_, _, log := prompted(t, agent.Options{}, func(context.Context, *agent.Session) error { return link })
	assert.Contains(t, log, "canary")
	assert.NotContains(t, log, "hunter2")
}

// A failure with an invalid update still ends its tool call, and Fail returns what is wrong.
func TestToolCallsFailWithInvalidUpdates(t *testing.T) {
	var failed error
	_, update, _ := prompted(t, agent.Options{}, func(ctx context.Context, s *agent.Session) error {
		failed = s.ToolCall("t1").Fail(ctx, &toolFailure{update: &acp.ToolCallUpdate{Content: []acp.ToolCallContent{nil}}})
		return nil
	})
	assert.ErrorContains(t, failed, "content[0]")
	assert.Contains(t, string(update), `"status":"failed"`)
	assert.Contains(t, string(update), "Internal error")
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
