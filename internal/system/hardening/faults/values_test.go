package faults_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"testing/synctest"

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
	pairtest2 "github.com/acpkit/go-sdk/internal/system/hardening/pairtest/v2"
	peertest2 "github.com/acpkit/go-sdk/internal/system/peertest/v2"
	"github.com/acpkit/go-sdk/rpcerr"
)

// sending is a message with a value in it that has no form on the wire. P is a pair of its version.
type sending[P any] struct {
	where, path string
	send        func(ctx context.Context, p P) error
}

// call is the method Call of an end.
type call = func(ctx context.Context, method string, params, result any) error

// checkSendings sends each message over a connection of its own. All methods of both ends call do.
func checkSendings[P any](t *testing.T, all map[string]sending[P], connect func(t *testing.T, do peertest.Do) (p P, agent, client call)) {
	for name, s := range all {
		t.Run(name, func(t *testing.T) {
			pairtest.Bubble(t, func(t *testing.T) {
				arrived := 0
				p, agent, client := connect(t, func(context.Context, string, any) (any, error) { arrived++; return nil, nil })
				synctest.Wait()
				before := arrived
				err := s.send(t.Context(), p)
				var invalid *acp.InvalidError
				require.ErrorAs(t, err, &invalid)
				assert.Equal(t, s.where, invalid.Where)
				require.Len(t, invalid.Fields, 1)
				assert.Equal(t, s.path, invalid.Fields[0].Path)
				require.NoError(t, client(t.Context(), "_x", nil, nil))
				require.NoError(t, agent(t.Context(), "_x", nil, nil))
				synctest.Wait()
				assert.Equal(t, before+2, arrived, "nothing else was sent")
			})
		})
	}
}

func update(path string, u acp.SessionUpdate) sending[*pairtest.Pair] {
	return sending[*pairtest.Pair]{"session/update params", path, func(ctx context.Context, p *pairtest.Pair) error {
		return p.Agent.Session("s").Update(ctx, u)
	}}
}

func prompt(path string, blocks ...acp.ContentBlock) sending[*pairtest.Pair] {
	return sending[*pairtest.Pair]{"session/prompt params", path, func(ctx context.Context, p *pairtest.Pair) error {
		return pairtest.Err(p.Client.Prompt(ctx, &acp.PromptRequest{SessionID: "s", Prompt: blocks}))
	}}
}

// A value that cannot be encoded is refused with an *acp.InvalidError that names its place,
// and nothing is sent. That includes a nil pointer in a union, for example the nil result
// of a func that returns *acp.TextContent: it is not a nil interface, and so is easily
// overlooked.
func TestValuesThatCannotBeSent(t *testing.T) {
	checkSendings(t, map[string]sending[*pairtest.Pair]{
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
		"nil info, by its shortcut": {"session/update params", "update", func(ctx context.Context, p *pairtest.Pair) error { return p.Agent.Session("s").SendInfo(ctx, nil) }},
		"nil server": {"session/new params", "mcpServers[0]", func(ctx context.Context, p *pairtest.Pair) error {
			return pairtest.Err(p.Client.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/", MCPServers: []acp.MCPServer{(*acp.MCPServerHTTP)(nil)}}))
		}},
		"nil block of a turn": {"session/prompt params", "prompt[0]", func(ctx context.Context, p *pairtest.Pair) error {
			return pairtest.Err(p.Client.Session("s").Prompt(ctx, (*acp.AudioContent)(nil)).Wait())
		}},
		"nil mode": {"elicitation/create params", "mode", func(ctx context.Context, p *pairtest.Pair) error {
			return pairtest.Err(p.Agent.CreateElicitation(ctx, &acp.CreateElicitationRequest{Message: "m", Mode: (*acp.ElicitationURLMode)(nil)}))
		}},
	}, func(t *testing.T, do peertest.Do) (*pairtest.Pair, call, call) {
		p := pairtest.Connect(t, pairtest.Setup{
			Agent:  func(*agent.Conn) acp.Agent { return &peertest.FullAgent{Do: do} },
			Client: func(*client.Conn) acp.Client { return &peertest.FullClient{Do: do} },
		})
		return p, p.Agent.Call, p.Client.Call
	})
}

func update2(path string, u acp2.SessionUpdate) sending[*pairtest2.Pair] {
	return sending[*pairtest2.Pair]{"session/update params", path, func(ctx context.Context, p *pairtest2.Pair) error {
		return p.Agent.Session("s").Update(ctx, u)
	}}
}

func prompt2(path string, blocks ...acp2.ContentBlock) sending[*pairtest2.Pair] {
	return sending[*pairtest2.Pair]{"session/prompt params", path, func(ctx context.Context, p *pairtest2.Pair) error {
		return pairtest.Err(p.Client.Prompt(ctx, &acp2.PromptRequest{SessionID: "s", Prompt: blocks}))
	}}
}

// TestValuesThatCannotBeSent in version 2, which has constraints of its own.
func TestValuesOfVersion2ThatCannotBeSent(t *testing.T) {
	checkSendings(t, map[string]sending[*pairtest2.Pair]{
		"nil":                    prompt2("prompt[1]", acp2.Text("x"), nil),
		"nil text":               prompt2("prompt[1]", acp2.Text("x"), (*acp2.TextContent)(nil)),
		"empty prompt":           prompt2("prompt"),
		"nil update":             update2("update", (*acp2.AgentMessageChunk)(nil)),
		"nil state":              update2("update", &acp2.SessionStateUpdate{}),
		"nil in an update":       update2("update.content", &acp2.AgentMessageChunk{MessageID: "m", Content: (*acp2.TextContent)(nil)}),
		"message without id":     update2("update.messageId", &acp2.AgentMessageChunk{Content: acp2.Text("x")}),
		"nil in three states":    update2("update.content[0]", &acp2.ToolCallUpdate{ToolCallID: "c", Content: acp2.Some([]acp2.ToolCallContent{(*acp2.Diff)(nil)})}),
		"raw JSON that is none":  update2("update.rawInput", &acp2.ToolCallUpdate{ToolCallID: "c", RawInput: json.RawMessage(`{"a":`)}),
		"background work of nil": update2("update.background[0]", &acp2.SessionStateUpdate{StateUpdate: &acp2.RunningStateUpdate{Background: []acp2.BackgroundWork{nil}}}),
		"number of _meta, deep":  update2("update._meta.a[1].b", &acp2.AvailableCommandsUpdate{Meta: acp2.Meta{"a": []any{1, map[string]any{"b": math.Inf(1)}}}}),
		"nil block of a turn": {"session/prompt params", "prompt[0]", func(ctx context.Context, p *pairtest2.Pair) error {
			return pairtest.Err(p.Client.Session("s").Prompt(ctx, (*acp2.AudioContent)(nil)).Wait())
		}},
		"turn without blocks": {"session/prompt params", "prompt", func(ctx context.Context, p *pairtest2.Pair) error {
			return pairtest.Err(p.Client.Session("s").Prompt(ctx).Wait())
		}},
		"relative folder": {"session/new params", "cwd", func(ctx context.Context, p *pairtest2.Pair) error {
			return pairtest.Err(p.Client.StartSession(ctx, &acp2.NewSessionRequest{Cwd: "."}))
		}},
		"question without options": {"session/request_permission params", "options", func(ctx context.Context, p *pairtest2.Pair) error {
			return pairtest.Err(p.Agent.RequestPermission(ctx, &acp2.RequestPermissionRequest{SessionID: "s", Title: "t"}))
		}},
	}, func(t *testing.T, do peertest.Do) (*pairtest2.Pair, call, call) {
		p := pairtest2.Connect(t, pairtest2.Setup{
			Agent:  func(*agent2.Conn) acp2.Agent { return &peertest2.FullAgent{Do: do} },
			Client: func(*client2.Conn) acp2.Client { return &peertest2.FullClient{Do: do} },
		})
		return p, p.Agent.Call, p.Client.Call
	})
}

// In a response it is the mistake of the handler at either end, which the peer cannot help.
func TestResponsesThatCannotBeSent(t *testing.T) {
	answers := map[string]struct {
		res any // what the handler returns
		ask func(ctx context.Context, p *pairtest2.Pair) error
	}{
		"session/request_permission result: outcome": {
			&acp2.RequestPermissionResponse{Outcome: (*acp2.SelectedPermissionOutcome)(nil)},
			func(ctx context.Context, p *pairtest2.Pair) error {
				return pairtest.Err(p.Agent.Session("s").AskPermission(ctx, "May I?", nil))
			},
		},
		"elicitation/create result: action": {
			&acp2.CreateElicitationResponse{Action: (*acp2.ElicitationAcceptAction)(nil)},
			func(ctx context.Context, p *pairtest2.Pair) error {
				s, err := p.Client.StartSession(ctx, &acp2.NewSessionRequest{Cwd: "/"}) // a form belongs to an open session
				if err != nil {
					return err
				}
				_, err = p.Agent.Session(s.ID()).AskForm(ctx, "Which?", acp2.ElicitationSchema{Type: acp2.ElicitationSchemaTypeObject})
				return err
			},
		},
		"session/prompt result: messageId": {
			&acp2.PromptResponse{},
			func(ctx context.Context, p *pairtest2.Pair) error {
				return pairtest.Err(p.Client.Session("s").Prompt(ctx, acp2.Text("go")).Accepted())
			},
		},
		"session/new result: configOptions[0]": {
			&acp2.NewSessionResponse{SessionID: "s", ConfigOptions: []acp2.SessionConfigOption{{Name: "n"}}},
			func(ctx context.Context, p *pairtest2.Pair) error {
				return pairtest.Err(p.Client.StartSession(ctx, &acp2.NewSessionRequest{Cwd: "/"}))
			},
		},
	}
	for want, a := range answers {
		t.Run(want, func(t *testing.T) {
			pairtest.Bubble(t, func(t *testing.T) {
				var log pairtest.Log
				armed := true
				do := func(_ context.Context, method string, _ any) (any, error) {
					if armed && strings.HasPrefix(want, method+" ") {
						return a.res, nil
					}
					return nil, nil
				}
				p := pairtest2.Connect(t, pairtest2.Setup{
					Agent:         func(*agent2.Conn) acp2.Agent { return &peertest2.FullAgent{Do: do} },
					Client:        func(*client2.Conn) acp2.Client { return &peertest2.FullClient{Do: do} },
					AgentOptions:  agent2.Options{Logger: log.Logger()},
					ClientOptions: client2.Options{Logger: log.Logger()},
				})
				code, _ := rpcerr.CodeOf(a.ask(t.Context(), p))
				assert.Equal(t, rpcerr.CodeInternalError, code)
				assert.Contains(t, log.String(), want)
				armed = false
				err := a.ask(t.Context(), p)
				code, _ = rpcerr.CodeOf(err)
				assert.NotEqual(t, rpcerr.CodeInternalError, code, "%v", err)
			})
		})
	}
}
