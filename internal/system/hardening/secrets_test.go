package hardening_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// Secrets are texts that begin so. The rest says where they came from.
var canary = regexp.MustCompile(`canary[-a-z]*`)

// assertNoCanary looks for secrets where none may be.
func assertNoCanary(t *testing.T, where, text string) {
	t.Helper()
	for _, found := range canary.FindAllStringIndex(text, 3) {
		assert.Fail(t, "a secret in "+where, "%s", text[max(0, found[0]-200):min(len(text), found[1]+100)])
	}
}

// bugs are what handlers do wrong with what they were given.
var bugs = map[string]func(v any) error{
	"error":          func(any) error { return errors.New("the disk is full") },
	"panic":          func(any) error { panic("the tool is broken") },
	"panics with it": func(v any) error { panic(v) },
	"exits":          func(any) error { runtime.Goexit(); return nil },
	"panics within": func(v any) error {
		panic(fmt.Errorf("%w: %T", errors.New("this went wrong"), v))
	},
	"data for the peer": func(v any) error { return rpcerr.InternalError(v) },
	"data, wrapped":     func(v any) error { return fmt.Errorf("reading: %w", rpcerr.InvalidParams(v)) },
	"data and a cause":  func(v any) error { return rpcerr.InternalError(v).WithCause(errors.New("the disk is full")) },
	"ctx error":         func(any) error { return context.Canceled },
	"nothing":           func(any) error { return nil },
}

// buggyAgent calls the client with secrets, and then does as bug says with what it was
// given.
func buggyAgent(bug func(v any) error) func(*agent.Conn) acp.Agent {
	return func(conn *agent.Conn) acp.Agent {
		a := &peertest.FullAgent{}
		a.Do = func(ctx context.Context, method string, params any) (any, error) {
			switch params := params.(type) {
			case *acp.InitializeRequest:
				caps := agent.Capabilities(a)
				caps.MCPCapabilities = &acp.MCPCapabilities{HTTP: true}
				return &acp.InitializeResponse{AgentCapabilities: caps}, nil
			case *acp.PromptRequest:
				tellClient(ctx, conn, params)
			case json.RawMessage:
				if method == "_bad" {
					return map[string]any{"canary-key": func() {}}, nil
				}
			}
			return nil, bug(params)
		}
		return a
	}
}

// tellClient sends secrets in a turn.
func tellClient(ctx context.Context, conn *agent.Conn, req *acp.PromptRequest) {
	s := conn.Session(req.SessionID)
	_ = s.Message(ctx, "canary-said")
	_, _ = s.ReadFile(ctx, "/canary-path")
	_ = s.WriteFile(ctx, "/canary-path", "canary-content")
	_, _ = conn.CreateTerminal(ctx, &acp.CreateTerminalRequest{
		SessionID: "s", Command: "canary-command", Args: []string{"canary-arg"}, Env: []acp.EnvVariable{{Name: "canary-name", Value: "canary-value"}},
	})
	_, _ = conn.RequestPermission(ctx, &acp.RequestPermissionRequest{
		SessionID: "s", ToolCall: acp.ToolCallUpdate{ToolCallID: "t", RawInput: json.RawMessage(`"canary-input"`)},
		Options: []acp.PermissionOption{{OptionID: "o", Name: "canary-option", Kind: acp.PermissionOptionKindAllowOnce}},
	})
	_ = conn.Call(ctx, "_ext", map[string]string{"canary-key": "canary-ext"}, nil)
	_ = conn.Notify(ctx, "_note", map[string]string{"canary-key": "canary-ext"})
	_ = conn.Notify(ctx, "_note", func() {}) // cannot be encoded
	if strings.Contains(acp.PlainText(req.Prompt[0]), "wait") {
		<-ctx.Done()
	}
}

// buggyClient does as bug says with what it was given.
func buggyClient(bug func(v any) error) func(*client.Conn) acp.Client {
	return func(*client.Conn) acp.Client {
		return &peertest.FullClient{Do: func(_ context.Context, _ string, params any) (any, error) {
			switch params.(type) {
			case *acp.RequestPermissionRequest:
				return acp.Selected("canary-choice"), bug(params)
			case *acp.ReadTextFileRequest:
				res := &acp.ReadTextFileResponse{Content: "canary-file"}
				return res, bug(res)
			case *acp.CreateTerminalRequest:
				return &acp.CreateTerminalResponse{TerminalID: "canary-terminal"}, bug(params)
			}
			return nil, bug(params)
		}}
	}
}

// everything is a logger that keeps all it gets.
func everything(l *pairtest.Log) *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug, AddSource: true}))
}

// Whatever goes wrong at either end, no log has a word of what was exchanged.
func TestNoSecretsInLogs(t *testing.T) {
	for version, tell := range map[string]func(*testing.T, func(any) error, *slog.Logger){"version 1": tellSecrets, "version 2": tellSecrets2} {
		for name, bug := range bugs {
			t.Run(version+", "+name, func(t *testing.T) {
				var log pairtest.Log
				tell(t, bug, everything(&log))
				assertNoCanary(t, "the log", log.String())
				if name == "error" {
					assert.Contains(t, log.String(), "the disk is full", "the log says what went wrong")
				}
			})
		}
	}
}

// tellSecrets runs a conversation full of secrets, in which the handlers of both ends do as
// bug says.
func tellSecrets(t *testing.T, bug func(any) error, log *slog.Logger) {
	aIn, cOut := io.Pipe()
	cIn, aOut := io.Pipe()
	ac := agent.New(stream.Lines(aIn, aOut, nil), buggyAgent(bug),
		&agent.Options{Unstable: true, Logger: log})
	cc := client.New(stream.Lines(cIn, cOut, nil), buggyClient(bug),
		&client.Options{Unstable: true, Logger: log})
	require.NoError(t, ac.Start(context.Background()))
	require.NoError(t, cc.Start(context.Background()))
	ctx := t.Context()
	_, err := cc.Initialize(ctx, nil)
	require.NoError(t, err)
	_, _ = cc.Authenticate(ctx, &acp.AuthenticateRequest{MethodID: "canary-method"})
	_, _ = cc.NewSession(ctx, &acp.NewSessionRequest{
		Cwd: "/canary-cwd", Meta: acp.Meta{"canary-meta": "canary-meta"},
		MCPServers: []acp.MCPServer{
			&acp.MCPServerStdio{Name: "m", Command: "/canary-command", Args: []string{"canary-arg"}, Env: []acp.EnvVariable{{Name: "canary-env", Value: "canary-env"}}},
			&acp.MCPServerHTTP{Name: "h", URL: "https://canary-host/", Headers: []acp.HTTPHeader{{Name: "Authorization", Value: "canary-header"}}},
		},
	})
	_, _ = cc.NewSession(ctx, &acp.NewSessionRequest{Cwd: "canary-relative"})
	_, _ = cc.NewSession(ctx, &acp.NewSessionRequest{
		Cwd:        "/", // nothing of it is sent: the agent did not advertise it
		MCPServers: []acp.MCPServer{&acp.MCPServerSSE{Name: "h", URL: "https://canary-host/", Headers: []acp.HTTPHeader{{Name: "Authorization", Value: "canary-header"}}}},
	})
	_, _ = cc.Prompt(ctx, &acp.PromptRequest{SessionID: "canary-session", Prompt: []acp.ContentBlock{acp.Text("canary-prompt")}})
	stopped, stop := context.WithCancel(ctx)
	turn := cc.Session("s").Prompt(stopped, acp.Text("wait canary-prompt"))
	stop()
	_, _ = turn.Wait()
	_ = cc.Call(ctx, "_ext", map[string]string{"canary-key": "canary-ext"}, nil)
	_ = cc.Call(ctx, "_bad", nil, nil)
	_ = cc.Notify(ctx, "_note", "canary-note")
	_ = cc.Cancel(ctx, &acp.CancelNotification{SessionID: "canary-session"})
	require.NoError(t, cc.Shutdown(ctx))
	require.NoError(t, ac.Shutdown(ctx))
}

// Nor does it repeat what a peer sends that cannot be read.
func TestNoSecretsOfBrokenMessagesInLogs(t *testing.T) {
	lines := []string{
		`canary-noise`, `{"canary-half`, `["canary-batch"]`, `"canary-text"`, "{\"canary-\x00\":1}", `{"canary-name":1}`,
		`{"jsonrpc":"canary-version","id":1,"method":"m"}`, `{"jsonrpc":"2.0","id":["canary-id"],"method":"m"}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":1,"params":"canary-twice"}`,
		`{"jsonrpc":"2.0","id":"canary-id","result":{"canary-result":1}}`, `{"jsonrpc":"2.0","id":99,"result":"canary-result"}`, `{"jsonrpc":"2.0","error":{"message":"canary-error"}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"canary-session","update":"canary-update"}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":"canary-params"}`,
		`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":{"canary-session":1},"canary-member":2}}`,
		`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"canary-cwd","mcpServers":[{"name":"m","command":1,"args":["canary-arg"],"env":[{"name":"canary-env","value":7}]}]}}`,
		`{"jsonrpc":"2.0","id":3,"method":"session/new","params":{"cwd":"/","mcpServers":[{"type":"http","name":"h","url":"canary-url","headers":[{"name":"canary-header"}]}]}}`,
		`{"jsonrpc":"2.0","id":4,"method":"fs/write_text_file","params":{"path":7,"content":"canary-content"}}`,
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"canary-id"}}`,
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":"canary-params"}`,
		`{"jsonrpc":"2.0","id":5,"method":"_x","params":"` + "canary-long" + tooLong + `"}`,
		`{"jsonrpc":"2.0","id":6,"method":"_x","params":{"canary-deep":` + nested(2000) + `}}`,
	}
	badAnswers := []string{
		`"result":{"sessionId":{"canary-session":1}}`, `"result":["canary-result"]`, `"error":{"code":"canary-code","message":"canary-message"}`,
		`"error":"canary-error"`, `"result":{"sessionId":"s","sessionId":"canary-session"}`,
	}
	type onDropped = func(method string, err error)
	for name, tt := range map[string]struct {
		dropped int
		// start returns a call of session/new, unless an agent is under test.
		start func(t *testing.T, log *slog.Logger, dropped onDropped) (c runner, p *echoPeer, call func() error)
	}{
		"agent": {1, func(t *testing.T, log *slog.Logger, dropped onDropped) (runner, *echoPeer, func() error) {
			c, p := startAgent(t, &testAgent{}, &agent.Options{Logger: log, OnDropped: dropped}, shortLines)
			return c, p, nil
		}},
		"agent of version 2": {1, func(t *testing.T, log *slog.Logger, dropped onDropped) (runner, *echoPeer, func() error) {
			c, p := startAgent2(t, &testAgent2{}, &agent2.Options{Logger: log, OnDropped: dropped}, shortLines)
			return c, p, nil
		}},
		"client": {2, func(t *testing.T, log *slog.Logger, dropped onDropped) (runner, *echoPeer, func() error) {
			c, p := startClient(t, &testClient{}, &client.Options{Logger: log, OnDropped: dropped}, shortLines)
			return c, p, func() error { return pairtest.Err(c.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})) }
		}},
		"client of version 2": {2, func(t *testing.T, log *slog.Logger, dropped onDropped) (runner, *echoPeer, func() error) {
			c, p := startClient2(t, &testClient2{}, &client2.Options{Logger: log, OnDropped: dropped}, shortLines)
			return c, p, func() error { return pairtest.Err(c.NewSession(t.Context(), &acp2.NewSessionRequest{Cwd: "/"})) }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var log pairtest.Log
			var dropped []string
			c, p, call := tt.start(t, everything(&log), func(method string, err error) { dropped = append(dropped, method+err.Error()) })
			p.SendLines(lines...)
			for _, m := range p.echoAnd(14) {
				if m.Error != nil && m.Error.Code != int(rpcerr.CodeInvalidParams) {
					assertNoCanary(t, "an answer", strings.ReplaceAll(m.Raw, string(m.ID), ""))
				}
			}
			if call != nil {
				for _, answer := range badAnswers {
					err := callWhile(t, call, func() { p.Send(`{"jsonrpc":"2.0","id":%s,%s}`, p.Expect("session/new").ID, answer) })
					require.Error(t, err)
					assertNoCanary(t, "an error", err.Error())
				}
			}
			require.NoError(t, c.Close())
			require.NoError(t, c.Wait())
			assertNoCanary(t, "the log", log.String())
			require.Len(t, dropped, tt.dropped)
			assertNoCanary(t, "the hook", strings.Join(dropped, ""))
		})
	}
}

// leaks are errors whose text must not be sent to the peer.
var leaks = map[string]func() error{
	"plain":   func() error { return errors.New("canary-plain") },
	"wrapped": func() error { return fmt.Errorf("canary-wrap: %w", io.ErrUnexpectedEOF) },
	"around an error for the peer": func() error {
		return fmt.Errorf("canary-wrap: %w", rpcerr.ResourceNotFound("/known"))
	},
	"cause": func() error {
		return rpcerr.InternalError(nil).WithDetail("sorry").WithCause(errors.New("canary-cause"))
	},
	"joined":           func() error { return errors.Join(errors.New("canary-a"), errors.New("canary-b")) },
	"panic":            func() error { panic("canary-panic") },
	"panic with error": func() error { panic(errors.New("canary-panic")) },
	"own mistake": func() error {
		return &acp.InvalidError{Where: "canary-where", Fields: []acp.FieldError{{Path: "canary-path", Message: "canary"}}}
	},
	"decoding": func() error {
		return json.Unmarshal([]byte(`{"a":"canary-value"}`), &struct{ A int }{})
	},
	"connection": func() error { return fmt.Errorf("canary-backend: %w", acp.ErrClosed) },
}

// Only errors that were meant for the peer reach it.
func TestNoInnerErrorsOnTheWire(t *testing.T) {
	for name, leak := range leaks {
		t.Run(name, func(t *testing.T) {
			a := &testAgent{}
			a.OnNewSession = func(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) { return nil, leak() }
			a.OnPrompt = func(context.Context, *acp.PromptRequest) (*acp.PromptResponse, error) { return nil, leak() }
			a.OnCancel = func(context.Context, *acp.CancelNotification) error { return leak() }
			_, p := startAgent(t, a, nil, nil)
			p.SendLines(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`,
				`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`,
				`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`)
			for _, m := range p.echoAnd(2) {
				assertNoCanary(t, "an answer", m.Raw)
			}

			cl := &testClient{}
			cl.OnPermission = func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
				return nil, leak()
			}
			cl.OnUpdate = func(context.Context, *acp.SessionNotification) error { return leak() }
			_, p = startClient(t, cl, nil, nil)
			p.SendLines(string(appendUpdate(nil, "s", "x")), `{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[]}}`)
			for _, m := range p.echoAnd(1) {
				assertNoCanary(t, "an answer", m.Raw)
			}
		})
		t.Run(name+", version 2", func(t *testing.T) {
			a := &testAgent2{onOther: leak}
			a.onPrompt = func(ctx context.Context, req *acp2.PromptRequest) (*acp2.PromptResponse, error) {
				if acp2.PlainText(req.Prompt...) == "at once" {
					return nil, leak()
				}
				return a.conn.Session(req.SessionID).Accept(ctx, req, func(context.Context) (acp2.StopReason, error) { return "", leak() })
			}
			_, p := startAgent2(t, a, nil, nil)
			p.SendLines(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/"}}`,
				`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"at once"}]}}`,
				`{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"later"}]}}`,
				`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"other"}}`)
			for _, m := range p.echoAnd(6) { // three responses, the message, running and idle
				assertNoCanary(t, "an answer", m.Raw)
			}

			_, p = startClient2(t, &testClient2{fail: leak}, nil, nil)
			p.SendLines(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"session_info_update","title":"x"}}}`,
				`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","title":"t","options":[{"optionId":"o","name":"n","kind":"allow_once"}]}}`)
			for _, m := range p.echoAnd(1) {
				assertNoCanary(t, "an answer", m.Raw)
			}
		})
	}
}
