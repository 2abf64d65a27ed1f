package agent_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/stream"
)

// applier is an agent with all methods that applies system prompts in some modes.
type applier struct {
	peertest.FullAgent
	modes []acp.SystemPromptMode
}

func (a *applier) AppliesSystemPrompt(mode acp.SystemPromptMode) bool {
	for _, m := range a.modes {
		if m == mode {
			return true
		}
	}
	return false
}

// given is an agent with all methods that returns its capabilities whole.
type given struct {
	peertest.FullAgent
	caps acp.AgentCapabilities
}

func (a *given) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	caps := a.caps
	return &acp.InitializeResponse{AgentCapabilities: &caps}, nil
}

func takes(override bool) acp.AgentCapabilities {
	p := &acp.SessionSystemPromptCapabilities{}
	if override {
		p.Mode = &acp.SessionSystemPromptModeCapabilities{Override: &acp.SessionSystemPromptOverrideCapabilities{}}
	}
	return acp.AgentCapabilities{LoadSession: true, SessionCapabilities: &acp.SessionCapabilities{
		SystemPrompt: p, Resume: &acp.SessionResumeCapabilities{}, Fork: &acp.SessionForkCapabilities{},
	}}
}

const (
	text     = `[{"type":"text","text":"Be brief."}]`
	appends  = `{"mode":"append","content":` + text + `}`
	override = `{"mode":"override","content":` + text + `}`
)

// What the type of an agent or its response to initialize declares decides which system prompts
// reach its methods. All others are refused with a sentence, and no method is called.
func TestSystemPromptOfAgents(t *testing.T) {
	var calls atomic.Int32
	do := func(_ context.Context, method string, _ any) (any, error) {
		if method != acp.MethodInitialize {
			calls.Add(1)
		}
		return nil, nil
	}
	full := peertest.FullAgent{Do: do}
	none := acp.AgentCapabilities{LoadSession: true, SessionCapabilities: &acp.SessionCapabilities{
		Resume: &acp.SessionResumeCapabilities{}, Fork: &acp.SessionForkCapabilities{},
	}}
	both := []acp.SystemPromptMode{acp.SystemPromptModeAppend, acp.SystemPromptModeOverride}
	remote := func(inner acp.Agent) func(t *testing.T) acp.Agent {
		return func(t *testing.T) acp.Agent {
			as, cs := stream.Pipe()
			rawpeer.Start(t, agent.New(as, func(*agent.Conn) acp.Agent { return inner }, &agent.Options{Unstable: true}))
			return rawpeer.Start(t, client.New(cs, func(*client.Conn) acp.Client { return &peertest.Client{} }, &client.Options{Unstable: true, IgnoreCapabilities: true}))
		}
	}
	just := func(a acp.Agent) func(*testing.T) acp.Agent { return func(*testing.T) acp.Agent { return a } }
	const (
		noPrompt   = "Invalid params: this agent takes no system prompt: it did not advertise sessionCapabilities.systemPrompt"
		noOverride = "Invalid params: this agent cannot replace its system prompt: it did not advertise sessionCapabilities.systemPrompt.mode.override"
	)
	for _, tt := range []struct {
		name             string
		agent            func(*testing.T) acp.Agent
		append, override string // the message of the error; empty: the method is called
	}{
		{"no applier", just(&full), noPrompt, noPrompt},
		{"applies append", just(&applier{full, both[:1]}), "", noOverride},
		{"applies both", just(&applier{full, both}), "", ""},
		{"applies nothing", just(&applier{full, nil}), noPrompt, noPrompt},
		{"wrapped", just(struct{ acp.AgentWrapper }{acp.AgentWrapper{Agent: &applier{full, both[:1]}}}), "", noOverride},
		{"wrapped without", just(struct{ acp.AgentWrapper }{acp.AgentWrapper{Agent: &full}}), noPrompt, noPrompt},
		{"capabilities without", just(&given{full, none}), noPrompt, noPrompt},
		{"capabilities with append", just(&given{full, takes(false)}), "", noOverride},
		{"capabilities with both", just(&given{full, takes(true)}), "", ""},
		{"another process without", remote(&full), noPrompt, noPrompt},
		{"another process with append", remote(&applier{full, both[:1]}), "", noOverride},
		{"another process with both", remote(&applier{full, both}), "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := tt.agent(t)
			_, peer := rawClient(t, func(*agent.Conn) acp.Agent { return a }, &agent.Options{Unstable: true})
			for i, method := range []string{"session/new", "session/load", "session/resume", "session/fork"} {
				for mode, want := range map[string]string{"null": "", appends: tt.append, override: tt.override} {
					calls.Store(0)
					peer.Call(fmt.Sprint(i+1), method, `{"sessionId":"s","cwd":"/","mcpServers":[],"systemPrompt":`+mode+`}`)
					got := peer.Next()
					if want == "" {
						assert.Empty(t, got.Error, "%s %s", method, mode)
						assert.EqualValues(t, 1, calls.Load(), "%s %s", method, mode)
						continue
					}
					if assert.NotNil(t, got.Error, "%s %s", method, mode) {
						assert.Equal(t, -32602, got.Error.Code, "%s %s", method, mode)
						assert.Equal(t, want, got.Error.Message, "%s %s", method, mode)
					}
					assert.Zero(t, calls.Load(), "%s %s", method, mode)
				}
			}
		})
	}
}

// A system prompt that nobody can apply is refused by every agent, also with lenient paths.
func TestSystemPromptThatNobodyApplies(t *testing.T) {
	for _, lenient := range []bool{false, true} {
		called := false
		a := &applier{peertest.FullAgent{Do: func(_ context.Context, method string, _ any) (any, error) {
			called = called || method != acp.MethodInitialize
			return nil, nil
		}}, []acp.SystemPromptMode{acp.SystemPromptModeAppend, acp.SystemPromptModeOverride}}
		_, peer := rawClient(t, func(*agent.Conn) acp.Agent { return a }, &agent.Options{Unstable: true, LenientPaths: lenient})
		for _, prompt := range []string{
			`{}`, `[]`, `"Be brief."`, `5`, `true`,
			`{"mode":"append"}`, `{"mode":"append","content":null}`, `{"mode":"append","content":"Be brief."}`, `{"mode":"append","content":{}}`,
			`{"content":` + text + `}`, `{"mode":5,"content":` + text + `}`, `{"mode":null,"content":` + text + `}`, `{"mode":"","content":` + text + `}`,
			`{"mode":"bogus","content":` + text + `}`, `{"mode":"Append","content":` + text + `}`, `{"mode":"append ","content":` + text + `}`, `{"mode":"_x","content":` + text + `}`,
			`{"mode":"append","content":[]}`, `{"mode":"append","content":[{"type":"text","text":""}]}`, `{"mode":"override","content":[{"type":"text","text":" \n\t"}]}`,
			`{"mode":"append","content":[{"type":"text"}]}`, `{"mode":"append","content":[null]}`, `{"mode":"append","content":["Be brief."]}`,
			`{"mode":"append","content":[{"type":"text","text":"x"},{"type":"image","data":"","mimeType":"image/png"}]}`,
			`{"mode":"append","content":[{"type":"resource_link","name":"x","uri":"file:///x"}]}`,
			`{"mode":"append","content":[{"type":"resource","resource":{"uri":"file:///x","text":"x"}}]}`,
			`{"mode":"append","content":[{"type":"video"}]}`,
			`{"mode":"append","mode":"override","content":` + text + `}`,
			appends + `,"systemPrompt":` + appends, appends + `,"systemPrompt":null`, `null,"systemPrompt":` + appends,
		} {
			for _, method := range []string{"session/new", "session/load", "session/resume", "session/fork"} {
				peer.Call("1", method, `{"sessionId":"s","cwd":"/","mcpServers":[],"systemPrompt":`+prompt+`}`)
				if got := peer.Next(); assert.NotNil(t, got.Error, "%s %s", method, prompt) {
					assert.Equal(t, -32602, got.Error.Code, "%s %s", method, prompt)
				}
			}
		}
		assert.False(t, called)
		thousand := strings.Repeat(`{"type":"text","text":"x"},`, 999) + `{"type":"text","text":"x"}`
		peer.Call("1", "session/new", `{"cwd":"/","mcpServers":[],"systemPrompt":{"mode":"append","content":[`+thousand+`]}}`)
		assert.Empty(t, peer.Next().Error)
		assert.True(t, called)
	}
}

// The capability follows from the modes that the type applies.
func TestSystemPromptCapabilities(t *testing.T) {
	assert.False(t, agent.Capabilities(&peertest.FullAgent{}).Has("sessionCapabilities.systemPrompt"))
	assert.False(t, agent.Capabilities(&applier{}).Has("sessionCapabilities.systemPrompt"))
	caps := agent.Capabilities(&applier{modes: []acp.SystemPromptMode{acp.SystemPromptModeAppend}})
	assert.True(t, caps.Has("sessionCapabilities.systemPrompt"))
	assert.False(t, caps.Has("sessionCapabilities.systemPrompt.mode"))
	caps = agent.Capabilities(&applier{modes: []acp.SystemPromptMode{acp.SystemPromptModeAppend, acp.SystemPromptModeOverride}})
	assert.True(t, caps.Has("sessionCapabilities.systemPrompt.mode.override"))

	s, _ := stream.Pipe()
	c := agent.New(s, func(*agent.Conn) acp.Agent {
		return &applier{modes: []acp.SystemPromptMode{acp.SystemPromptModeOverride}}
	}, &agent.Options{Unstable: true})
	require.ErrorContains(t, c.Start(t.Context()), "must apply append")
}

// The error names the place in the params, in the form that other SDKs send.
func TestSystemPromptError(t *testing.T) {
	a := &applier{modes: []acp.SystemPromptMode{acp.SystemPromptModeAppend}}
	_, peer := rawClient(t, func(*agent.Conn) acp.Agent { return a }, &agent.Options{Unstable: true})
	peer.Call("1", "session/new", `{"cwd":"/","mcpServers":[],"systemPrompt":{"mode":"append","content":[{"type":"text","text":"x"},{"type":"image","data":"","mimeType":"image/png"}]}}`)
	peer.ExpectJSON(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: the content of a system prompt must be text blocks that are not all blank","data":{"_errors":[],"systemPrompt":{"_errors":[],"content":{"_errors":[],"1":{"_errors":["must be a text block"]}}}}}}`)
}
