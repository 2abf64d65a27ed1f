package faults_test

import (
	"context"
	"encoding/json"
	"math"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/rpcerr"
)

// sending is a message with a value in it that has no form on the wire.
type sending struct {
	where, path string
	send        func(ctx context.Context, p *pairtest.Pair) error
}

func update(path string, u acp.SessionUpdate) sending {
	return sending{"session/update params", path, func(ctx context.Context, p *pairtest.Pair) error {
		return p.Agent.Session("s").Update(ctx, u)
	}}
}

func prompt(path string, blocks ...acp.ContentBlock) sending {
	return sending{"session/prompt params", path, func(ctx context.Context, p *pairtest.Pair) error {
		_, err := p.Client.Prompt(ctx, &acp.PromptRequest{SessionID: "s", Prompt: blocks})
		return err
	}}
}

// A value that cannot be encoded is refused with an *acp.InvalidError that names its place,
// and nothing is sent. That includes a nil pointer in a union, for example the nil result
// of a func that returns *acp.TextContent: it is not a nil interface, and so is easily
// overlooked.
func TestValuesThatCannotBeSent(t *testing.T) {
	for name, s := range map[string]sending{
		"nil":                       prompt("prompt[1]", acp.Text("x"), nil),
		"nil text":                  prompt("prompt[1]", acp.Text("x"), (*acp.TextContent)(nil)),
		"nil link":                  prompt("prompt[0]", (*acp.ResourceLink)(nil)),
		"nil resource":              prompt("prompt[0].resource", &acp.EmbeddedResource{Resource: (*acp.TextResourceContents)(nil)}),
		"nil unknown":               prompt("prompt[0]", (*acp.UnknownContentBlock)(nil)),
		"foreign variant":           prompt("prompt[0]", struct{ acp.ContentBlock }{acp.Text("x")}),
		"unknown without JSON":      prompt("prompt[0]", &acp.UnknownContentBlock{}),
		"nil update":                update("update", (*acp.AgentMessageChunk)(nil)),
		"nil in an update":          update("update.content", &acp.AgentMessageChunk{Content: (*acp.TextContent)(nil)}),
		"nil in a list":             update("update.content[0]", &acp.ToolCall{ToolCallID: "c", Content: []acp.ToolCallContent{(*acp.Diff)(nil)}}),
		"nil deep within":           update("update.content[0].content", &acp.ToolCall{ToolCallID: "c", Content: []acp.ToolCallContent{&acp.Content{Content: (*acp.ImageContent)(nil)}}}),
		"raw JSON that is none":     update("update.rawInput", &acp.ToolCall{ToolCallID: "c", RawInput: json.RawMessage(`{"a":`)}),
		"number that JSON has not":  update("update.cost.amount", &acp.UsageUpdate{Cost: &acp.Cost{Amount: math.NaN()}}),
		"func in _meta":             update("update._meta.x", &acp.Plan{Meta: acp.Meta{"x": func() {}}}),
		"number of _meta, deep":     update("update._meta.a[1].b", &acp.Plan{Meta: acp.Meta{"a": []any{1, map[string]any{"b": math.Inf(1)}}}}),
		"nil info, by its shortcut": {"session/update params", "update", func(ctx context.Context, p *pairtest.Pair) error { return p.Agent.Session("s").Info(ctx, nil) }},
		"nil server": {"session/new params", "mcpServers[0]", func(ctx context.Context, p *pairtest.Pair) error {
			_, err := p.Client.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/", MCPServers: []acp.MCPServer{(*acp.MCPServerHTTP)(nil)}})
			return err
		}},
		"nil block of a turn": {"session/prompt params", "prompt[0]", func(ctx context.Context, p *pairtest.Pair) error {
			_, err := p.Client.Session("s").Prompt(ctx, (*acp.AudioContent)(nil)).Wait()
			return err
		}},
		"nil mode": {"elicitation/create params", "mode", func(ctx context.Context, p *pairtest.Pair) error {
			_, err := p.Agent.CreateElicitation(ctx, &acp.CreateElicitationRequest{Message: "m", Mode: (*acp.ElicitationURLMode)(nil)})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			pairtest.Bubble(t, func(t *testing.T) {
				arrived := 0
				do := func(context.Context, string, any) (any, error) { arrived++; return nil, nil }
				p := pairtest.Connect(t, pairtest.Setup{
					Agent:  func(*agent.Conn) acp.Agent { return &peertest.FullAgent{Do: do} },
					Client: func(*client.Conn) acp.Client { return &peertest.FullClient{Do: do} },
				})
				synctest.Wait()
				before := arrived
				err := s.send(t.Context(), p)
				var invalid *acp.InvalidError
				require.ErrorAs(t, err, &invalid)
				assert.Equal(t, s.where, invalid.Where)
				require.Len(t, invalid.Fields, 1)
				assert.Equal(t, s.path, invalid.Fields[0].Path)
				require.NoError(t, p.Client.Call(t.Context(), "_x", nil, nil))
				require.NoError(t, p.Agent.Call(t.Context(), "_x", nil, nil))
				synctest.Wait()
				assert.Equal(t, before+2, arrived, "nothing else was sent")
			})
		})
	}
}

// In an answer it is the handler's mistake, which the peer cannot help.
func TestAnswersThatCannotBeSent(t *testing.T) {
	pairtest.Bubble(t, func(t *testing.T) {
		var log pairtest.Log
		p := pairtest.Connect(t, pairtest.Setup{
			Client: func(*client.Conn) acp.Client {
				return &peertest.FullClient{Do: func(_ context.Context, method string, _ any) (any, error) {
					if method != acp.MethodSessionRequestPermission {
						return nil, nil
					}
					return &acp.RequestPermissionResponse{Outcome: (*acp.SelectedPermissionOutcome)(nil)}, nil
				}}
			},
			ClientOptions: client.Options{Logger: log.Logger()},
		})
		_, err := p.Agent.Session("s").AskPermission(t.Context(), &acp.ToolCallUpdate{ToolCallID: "c"})
		code, _ := rpcerr.CodeOf(err)
		assert.Equal(t, rpcerr.CodeInternalError, code)
		assert.Contains(t, log.String(), "session/request_permission result: outcome: missing")
	})
}
