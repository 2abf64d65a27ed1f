package adapter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The dialogues say themselves how they are read.
func TestDialogues(t *testing.T) {
	text, err := os.ReadFile("testdata/dialogues.txtar")
	require.NoError(t, err)
	ask := []acp.SessionMode{{ID: "ask", Name: "Ask"}}
	for _, dialogue := range strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n-- ")[1:] {
		name, lines, _ := strings.Cut(dialogue, " --\n")
		t.Run(name, func(t *testing.T) {
			own := &testAgent{works: dialogueWorks}
			a := acp.Agent(own)
			switch kind, _, _ := strings.Cut(name, ":"); kind {
			case "plain":
			case "images":
				own.caps = &acp.AgentCapabilities{PromptCapabilities: &acp.PromptCapabilities{Image: true}}
			case "modes":
				own.modes = &acp.SessionModeState{CurrentModeID: "ask", AvailableModes: []acp.SessionMode{{ID: "ask", Name: "Ask", Description: "asks"}, {ID: "do", Name: "Do"}}}
				a = &moded{own}
			case "options":
				own.modes = &acp.SessionModeState{CurrentModeID: "ask", AvailableModes: ask}
				own.opts = []acp.SessionConfigOption{
					{ID: "o", Name: "O", Kind: &acp.SessionConfigBoolean{CurrentValue: true}},
					{ID: "g", Name: "G", Kind: &acp.SessionConfigSelect{CurrentValue: "v", Options: acp.SessionConfigSelectOptions{
						Grouped: []acp.SessionConfigSelectGroup{{Group: "gr", Name: "Gr", Options: []acp.SessionConfigSelectOption{{Value: "v", Name: "V"}}}},
					}}},
				}
				a = &moded{own}
			case "loading":
				own.modes = &acp.SessionModeState{CurrentModeID: "ask", AvailableModes: ask}
				own.caps = &acp.AgentCapabilities{
					LoadSession:         true,
					SessionCapabilities: &acp.SessionCapabilities{AdditionalDirectories: &acp.SessionAdditionalDirectoriesCapabilities{}},
				}
				a = &loading{own}
			case "storing":
				a = &storing{testAgent: own}
			case "complete":
				a = &complete{own}
			case "prompted":
				a = &prompted{own}
			case "prompted and loading":
				a = &promptedLoading{prompted{own}}
			case "prompted and resuming":
				a = &promptedResuming{prompted{own}}
			case "signing in":
				a = &signer{own}
			case "extensions":
				a = &pinging{own}
			default:
				t.Fatalf("there is no agent %q", kind)
			}
			scene(t, a, own, func(p *testClient) { p.play(own, lines) })
		})
	}
}

// play plays a dialogue.
func (p *testClient) play(a *testAgent, dialogue string) {
	p.t.Helper()
	var unordered []string
	for line := range strings.Lines(dialogue + "\n.") {
		kind, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		if kind != "~" && unordered != nil {
			p.wantAny(unordered...)
			unordered = nil
		}
		switch kind {
		case ">":
			p.say(text)
		case "!":
			session := ""
			if text[0] == '@' {
				session, text, _ = strings.Cut(text[1:], " ")
			}
			u, err := acp.UnmarshalSessionUpdate([]byte(text))
			require.NoError(p.t, err)
			if session == "" {
				a.next = append(a.next, u)
			} else {
				require.NoError(p.t, a.conn.Session(acp.SessionID(session)).Update(p.t.Context(), u))
			}
		case "<":
			p.want(text)
		case ".":
			synctest.Wait()
		case "~":
			unordered = append(unordered, text)
		case "=":
			raw, err := json.Marshal(a.latest)
			require.NoError(p.t, err)
			name, want, _ := strings.Cut(text, " ")
			assert.Equal(p.t, "*acp."+name, fmt.Sprintf("%T", a.latest))
			assert.JSONEq(p.t, want, string(raw))
		}
	}
}

// say sends a line of a dialogue.
func (p *testClient) say(line string) {
	p.t.Helper()
	id, rest, _ := strings.Cut(line, " ")
	method, params, isMethod := strings.Cut(rest, " {")
	switch {
	case line[0] == '{':
		p.Send("%s", line)
	case isMethod:
		p.Call(id, method, "{"+params)
	default:
		p.Call(id, "session/prompt", fmt.Sprintf(`{"sessionId":"s1","prompt":[{"type":"text","text":%q}]}`, rest))
	}
}

// dialogueWorks are what the agents of the dialogues do for prompts.
var dialogueWorks = map[string]work{
	"go": func(ctx context.Context, a *testAgent, req *acp.PromptRequest) (*acp.PromptResponse, error) {
		return send(a.next...)(ctx, a, req)
	},
	"hi": send(acp.AgentText("Hel"), acp.AgentText("lo")),
	"count": func(context.Context, *testAgent, *acp.PromptRequest) (*acp.PromptResponse, error) {
		return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn, Usage: &acp.Usage{TotalTokens: 3, InputTokens: 2, OutputTokens: 1}}, nil
	},
	"auth": func(context.Context, *testAgent, *acp.PromptRequest) (*acp.PromptResponse, error) {
		return nil, rpcerr.AuthRequired(map[string]any{"why": "expired"})
	},
	"secret": func(context.Context, *testAgent, *acp.PromptRequest) (*acp.PromptResponse, error) {
		return nil, errors.New("/home/me is full")
	},
	"clear": send(&acp.Plan{}), // without a list, which a dialogue cannot say
	"wait": func(ctx context.Context, _ *testAgent, _ *acp.PromptRequest) (*acp.PromptResponse, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	},
	"second": func(context.Context, *testAgent, *acp.PromptRequest) (*acp.PromptResponse, error) {
		time.Sleep(time.Second)
		return endTurn()
	},
	"last second": func(ctx context.Context, _ *testAgent, _ *acp.PromptRequest) (*acp.PromptResponse, error) {
		<-ctx.Done()
		time.Sleep(time.Second)
		return nil, ctx.Err()
	},
	"files": func(ctx context.Context, a *testAgent, req *acp.PromptRequest) (*acp.PromptResponse, error) {
		_, read := a.conn.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: req.SessionID, Path: "/f"})
		_, write := a.conn.WriteTextFile(ctx, &acp.WriteTextFileRequest{SessionID: req.SessionID, Path: "/f"})
		_, run := a.conn.CreateTerminal(ctx, &acp.CreateTerminalRequest{SessionID: req.SessionID, Command: "ls"})
		var lacks []string
		for _, err := range []error{read, write, run} {
			if missing, ok := errors.AsType[*acp.CapabilityError](err); ok {
				lacks = append(lacks, missing.Capability)
			}
		}
		return send(acp.AgentText(strings.Join(lacks, " ")))(ctx, a, req)
	},
	"forms": func(ctx context.Context, a *testAgent, req *acp.PromptRequest) (*acp.PromptResponse, error) {
		s := a.conn.Session(req.SessionID)
		values, err := s.AskForm(ctx, "Which?", acp.ElicitationSchema{Properties: map[string]acp.ElicitationPropertySchema{"a": &acp.StringPropertySchema{}}})
		_, none := s.AskForm(ctx, "Which?", acp.ElicitationSchema{})
		return send(acp.AgentText(fmt.Sprint(values, err, errors.Is(none, agent.ErrNoInput))))(ctx, a, req)
	},
	"announce": send(&acp.ToolCall{ToolCallID: "known", Title: "Known"}),
	"known":    asking(acp.ToolCallUpdate{ToolCallID: "known", Kind: acp.ToolKindEdit}),
	"new":      asking(acp.ToolCallUpdate{ToolCallID: "new", Title: "New"}),
	"nameless": asking(acp.ToolCallUpdate{ToolCallID: "nameless"}),
}

// send returns work that sends updates.
func send(updates ...acp.SessionUpdate) work {
	return func(ctx context.Context, a *testAgent, req *acp.PromptRequest) (*acp.PromptResponse, error) {
		if err := a.send(ctx, req.SessionID, updates); err != nil {
			return nil, err
		}
		return endTurn()
	}
}

var options = []acp.PermissionOption{{OptionID: "y", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce}, {OptionID: "n", Name: "No", Kind: acp.PermissionOptionKindRejectOnce}}

// asking returns work that asks for permission and sends the answer as text.
func asking(call acp.ToolCallUpdate) work {
	return func(ctx context.Context, a *testAgent, req *acp.PromptRequest) (*acp.PromptResponse, error) {
		s := a.conn.Session(req.SessionID)
		res, err := a.conn.RequestPermission(ctx, &acp.RequestPermissionRequest{SessionID: req.SessionID, ToolCall: call, Options: options, Meta: acp.Meta{"q": true}})
		text := fmt.Sprint(err)
		if err == nil {
			text = fmt.Sprintf("%T", res.Outcome)
			if o, ok := res.Outcome.(*acp.SelectedPermissionOutcome); ok {
				text = string(o.OptionID)
			}
		}
		_ = s.Message(ctx, text)
		return endTurn()
	}
}

// loading is an agent that supports only session/load.
type loading struct{ *testAgent }

func (a *loading) LoadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	a.read(req)
	if req.SessionID == "gone" {
		return nil, rpcerr.SessionNotFound("gone")
	}
	s := a.conn.Session(req.SessionID)
	_ = s.UserMessage(ctx, "first")
	_ = s.UserMessage(ctx, " question")
	_ = s.Thought(ctx, "hm")
	_ = s.Message(ctx, "answer")
	_ = s.UserMessage(ctx, "second")
	_ = s.SetTitle(ctx, "a title")
	_ = s.SetCommands(ctx, acp.AvailableCommand{Name: "go", Description: "goes", Input: &acp.UnstructuredCommandInput{Hint: "where"}})
	return &acp.LoadSessionResponse{Modes: a.modes}, nil
}

// prompted is an agent that applies system prompts.
type prompted struct{ *testAgent }

func (*prompted) AppliesSystemPrompt(mode acp.SystemPromptMode) bool {
	return mode == acp.SystemPromptModeAppend
}

type promptedLoading struct{ prompted }

func (a *promptedLoading) LoadSession(_ context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	a.read(req)
	return nil, nil
}

type promptedResuming struct{ prompted }

func (a *promptedResuming) ResumeSession(_ context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	a.read(req)
	return nil, nil
}

// complete is an agent with all optional session methods.
type complete struct{ *testAgent }

func (a *complete) ResumeSession(_ context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	a.read(req)
	return nil, nil
}

func (a *complete) ListSessions(_ context.Context, req *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	a.read(req)
	return &acp.ListSessionsResponse{Sessions: []acp.SessionInfo{{SessionID: "old", Cwd: "/old", Title: "Old"}}, NextCursor: "more"}, nil
}

func (a *complete) CloseSession(_ context.Context, req *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	a.read(req)
	return nil, nil
}

func (a *complete) DeleteSession(_ context.Context, req *acp.DeleteSessionRequest) (*acp.DeleteSessionResponse, error) {
	a.read(req)
	return nil, nil
}

// moded is an agent with modes and options.
type moded struct{ *testAgent }

func (a *moded) SetSessionMode(_ context.Context, req *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	a.read(req)
	return nil, nil
}

func (a *moded) SetSessionConfigOption(_ context.Context, req *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	a.read(req)
	return &acp.SetSessionConfigOptionResponse{ConfigOptions: a.opts[1:]}, nil
}

// storing is an agent that stores its messages with their ids.
type storing struct {
	*testAgent
	stored []acp.SessionUpdate
}

func (a *storing) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	id, ok := agent.MessageID(ctx)
	if !ok {
		return nil, errors.New("the prompt has no id")
	}
	answer := []acp.SessionUpdate{
		&acp.AgentThoughtChunk{MessageID: "t1", Content: acp.Text("hm")},
		&acp.AgentMessageChunk{MessageID: "a1", Content: acp.Text("an")},
		&acp.AgentMessageChunk{MessageID: "a1", Content: acp.Text("swer")},
	}
	if err := a.send(ctx, req.SessionID, answer); err != nil {
		return nil, err
	}
	a.stored = append([]acp.SessionUpdate{&acp.UserMessageChunk{MessageID: id, Content: req.Prompt[0]}}, answer...)
	return endTurn()
}

func (a *storing) LoadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	return nil, a.send(ctx, req.SessionID, a.stored)
}

// signer is an agent that signs users in.
type signer struct{ *testAgent }

func (a *signer) Authenticate(ctx context.Context, req *acp.AuthenticateRequest) (*acp.AuthenticateResponse, error) {
	id, _ := agent.RequestID(ctx)
	_, err := a.conn.CreateElicitation(ctx, &acp.CreateElicitationRequest{
		Message: string(req.MethodID), Mode: &acp.ElicitationFormMode{Scope: &acp.ElicitationRequestScope{RequestID: id}},
	})
	return nil, err
}

func (a *signer) Logout(context.Context, *acp.LogoutRequest) (*acp.LogoutResponse, error) {
	return nil, nil
}

// pinging is an agent with extensions.
type pinging struct{ *testAgent }

func (a *pinging) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	var echo json.RawMessage
	err := a.conn.Call(ctx, method+"/back", params, &echo)
	return echo, errors.Join(err, a.conn.Notify(ctx, "_x/note", map[string]int{"b": 2}))
}
