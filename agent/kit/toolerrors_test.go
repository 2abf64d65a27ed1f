package kit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/classify"
)

// bad is an error of which one method panics, or ends its goroutine.
type bad struct{ method string }

func (b *bad) do(method string) {
	switch b.method { // a nil pointer panics here
	case method:
		panic("the secret of " + method)
	case method + ", Goexit":
		runtime.Goexit()
	}
}

func (b *bad) Error() string                { b.do("Error"); return "secret" }
func (b *bad) Is(error) bool                { b.do("Is"); return false }
func (b *bad) As(any) bool                  { b.do("As"); return false }
func (b *bad) Unwrap() error                { b.do("Unwrap"); return nil }
func (b *bad) LogValue() slog.Value         { b.do("LogValue"); return slog.StringValue("secret") }
func (b *bad) MarshalJSON() ([]byte, error) { b.do("MarshalJSON"); return []byte("1"), nil }

// worse has the methods that determine what the client reads.
type worse struct{ bad }

func (w *worse) FailedToolCall() *acp.ToolCallUpdate { w.do("FailedToolCall"); return nil }
func (w *worse) RequestError() *rpcerr.RequestError  { w.do("RequestError"); return nil }

// hollow is an error whose content panics when it is read.
type hollow struct{}

func (hollow) Error() string { return "secret" }
func (hollow) FailedToolCall() *acp.ToolCallUpdate {
	return &acp.ToolCallUpdate{Content: []acp.ToolCallContent{(*acp.Content)(nil)}}
}

// protocol is a log that several goroutines write.
type protocol struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (p *protocol) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.buf.Write(b)
}

func (p *protocol) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.buf.String()
}

// failing returns an agent whose turns run one call, and the log of the agent.
func failing(o *agent.Options, t tools.Tool, req tools.Request, done *tools.Done) (*kit.Agent, *protocol) {
	log := &protocol{}
	return kit.New(&kit.Options{
		Conn: o, Logger: slog.New(slog.NewTextHandler(log, nil)), Tools: offer(t),
		Turn: func(ctx context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
			all, err := s.Run(ctx, req)
			*done = all[0]
			return "", err
		},
	}), log
}

// end returns the last update of the only tool call.
func (u *user) lastOfCall() *acp.ToolCallUpdate {
	u.t.Helper()
	var last *acp.ToolCallUpdate
	for _, x := range u.Take() {
		if c, ok := x.(*acp.ToolCallUpdate); ok {
			last = c
		}
	}
	require.NotNil(u.t, last)
	return last
}

// No method of an error of a tool can end the program or the turn, wherever the error comes from.
func TestErrorsOfToolsAreContained(t *testing.T) {
	hostile := map[string]error{"nil pointer": (*bad)(nil), "nil pointer of a failure": (*worse)(nil), "content": hollow{}, "wrapped": fmt.Errorf("w: %w", &bad{"Unwrap"}), "joined": errors.Join(&bad{"Is"}, (*worse)(nil))}
	for _, m := range []string{"Error", "Is", "As", "Unwrap", "LogValue", "Error, Goexit", "Unwrap, Goexit"} {
		hostile[m] = &bad{m}
	}
	for _, m := range []string{"FailedToolCall", "RequestError", "FailedToolCall, Goexit"} {
		hostile[m] = &worse{bad{m}}
	}
	places := map[string]func(*tools.Tool, *tools.Request, error){
		"Run": func(t *tools.Tool, _ *tools.Request, err error) {
			t.Run = func(context.Context, *tools.Call) (tools.Result, error) { return tools.Result{}, err }
		},
		"Describe": func(t *tools.Tool, _ *tools.Request, err error) {
			t.Describe = func(context.Context, json.RawMessage) tools.Summary { return tools.Summary{Err: err} }
		},
		"Request": func(_ *tools.Tool, r *tools.Request, err error) { r.Err = err },
		"panic": func(t *tools.Tool, _ *tools.Request, err error) {
			t.Run = func(context.Context, *tools.Call) (tools.Result, error) { panic(err) }
		},
		"Describe that panics": func(t *tools.Tool, _ *tools.Request, err error) {
			t.Describe = func(context.Context, json.RawMessage) tools.Summary { panic(err) }
		},
	}
	for _, onError := range []func(context.Context, string, error) error{nil, classify.OnError(&classify.OnErrorOptions{Logger: slog.New(slog.DiscardHandler)})} {
		for name, err := range hostile {
			for place, put := range places {
				if strings.HasPrefix(place, "panic") && strings.Contains(name, "Goexit") || strings.HasSuffix(place, "panics") && strings.Contains(name, "Goexit") {
					continue // the text of a panic is read where it is recovered
				}
				tool, req, done := tool("fail", acp.ToolKindRead, tools.Reads, done), tools.Request{Name: "fail"}, tools.Done{}
				put(&tool, &req, err)
				a, _ := failing(&agent.Options{OnError: onError}, tool, req, &done)
				u := connect(t, a)
				u.ask(u.open(), "go")
				about := place + ": " + name
				assert.Equal(t, tools.Failed, done.Outcome, about)
				last := u.lastOfCall()
				assert.Equal(t, acp.ToolCallStatusFailed, last.Status, about)
				assert.NotContains(t, string(last.RawOutput)+fmt.Sprint(done.Model), "secret", about)
				u.leave()
			}
		}
	}
}

// A value that a tool returns can fail too while it is read.
func TestResultsOfToolsAreContained(t *testing.T) {
	for name, r := range map[string]tools.Result{
		"raw":     {Raw: &bad{"MarshalJSON"}},
		"content": {Content: []acp.ToolCallContent{(*acp.Content)(nil)}},
		"text":    {Content: []acp.ToolCallContent{&acp.Content{Content: (*acp.TextContent)(nil)}}},
	} {
		var done tools.Done
		a, _ := failing(nil, tool("fail", acp.ToolKindRead, tools.Reads, func(context.Context, *tools.Call) (tools.Result, error) { return r, nil }), tools.Request{Name: "fail"}, &done)
		u := connect(t, a)
		u.ask(u.open(), "go")
		assert.Contains(t, []acp.ToolCallStatus{acp.ToolCallStatusFailed, acp.ToolCallStatusCompleted}, u.lastOfCall().Status, name)
	}
}

// The error of a tool is converted as that of a handler.
func TestToolsUseTheOptionsOfErrors(t *testing.T) {
	missing := func(context.Context, *tools.Call) (tools.Result, error) {
		return tools.Result{}, &fs.PathError{Op: "open", Path: "https://user:secret@host/f?key=secret", Err: fs.ErrNotExist}
	}
	run := func(o *agent.Options) (*acp.ToolCallUpdate, tools.Done, string) {
		var done tools.Done
		a, log := failing(o, tool("fail", acp.ToolKindRead, tools.Reads, missing), tools.Request{Name: "fail"}, &done)
		u := connect(t, a)
		u.ask(u.open(), "go")
		return u.lastOfCall(), done, log.String()
	}
	read := func(u *acp.ToolCallUpdate) (code rpcerr.Code, data map[string]string) {
		var e rpcerr.RequestError
		require.NoError(t, json.Unmarshal(u.RawOutput, &e))
		_ = e.DecodeData(&data) // it has members of other types, too
		return e.Code, data
	}

	last, d, log := run(nil)
	code, data := read(last)
	assert.Equal(t, rpcerr.CodeInternalError, code)
	require.NotEmpty(t, data["errorId"])
	assert.Contains(t, log, "errorId="+data["errorId"])
	assert.NotContains(t, log, "secret")
	assert.Equal(t, "Internal error", d.Model[0].Text)

	last, d, _ = run(&agent.Options{ExposeErrors: true})
	_, data = read(last)
	assert.Contains(t, data["details"], "file does not exist")
	assert.Contains(t, d.Model[0].Text, "file does not exist")

	var where string
	last, d, _ = run(&agent.Options{OnError: func(_ context.Context, w string, err error) error {
		where = w
		return classify.Error(err)
	}})
	code, _ = read(last)
	assert.Equal(t, rpcerr.CodeResourceNotFound, code)
	assert.Contains(t, where, "tool call ")
	assert.Equal(t, "Error: Resource not found", d.Model[0].Text)
}

// A panic of any code of the author is an internal error with an id, whatever its text says.
func TestPanicsAreNotClassified(t *testing.T) {
	boom := func() { panic(errors.New("file not found: rate limit")) }
	call := tool("fail", acp.ToolKindRead, tools.Reads, done)
	for name, put := range map[string]func(*kit.Options){
		"Turn": func(o *kit.Options) {
			o.Turn = func(context.Context, *kit.Session, *kit.Prompt) (acp.StopReason, error) { boom(); return "", nil }
		},
		"Command": func(o *kit.Options) {
			o.Commands = kit.Commands{{Name: "go", Description: "d", Run: func(context.Context, *kit.Session, *kit.Prompt) (acp.StopReason, error) { boom(); return "", nil }}}
		},
		"Gate": func(o *kit.Options) {
			o.Gate = func(*kit.Session, *tools.Call) tools.Decision { boom(); return tools.Allow }
		},
		"Tool": func(o *kit.Options) {
			o.Tools = offer(tool("fail", acp.ToolKindRead, tools.Reads, func(context.Context, *tools.Call) (tools.Result, error) { boom(); return tools.Result{}, nil }))
		},
		"Tools": func(o *kit.Options) { o.Tools = func(*kit.Session) []tools.Tool { boom(); return nil } },
	} {
		t.Run(name, func(t *testing.T) {
			log := &protocol{}
			logger := slog.New(slog.NewTextHandler(log, nil))
			o := &kit.Options{Logger: logger, Conn: &agent.Options{OnError: classify.OnError(&classify.OnErrorOptions{Logger: logger})}, Tools: offer(call),
				Turn: func(ctx context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
					_, err := s.Run(ctx, tools.Request{Name: "fail"})
					return "", err
				}}
			put(o)
			u := connect(t, kit.New(o))
			var raw json.RawMessage
			res, err := u.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir()})
			if err == nil {
				_, err = u.Prompt(t.Context(), &acp.PromptRequest{SessionID: res.SessionID, Prompt: []acp.ContentBlock{acp.Text("/go")}})
			}
			e := new(rpcerr.RequestError)
			if err == nil {
				raw = u.lastOfCall().RawOutput
				require.NoError(t, json.Unmarshal(raw, e))
			} else {
				require.ErrorAs(t, err, &e)
			}
			var data struct{ ErrorID string }
			require.NoError(t, e.DecodeData(&data))
			assert.Equal(t, rpcerr.CodeInternalError, e.Code)
			require.NotEmpty(t, data.ErrorID)
			assert.Contains(t, log.String(), data.ErrorID)
		})
	}
}
