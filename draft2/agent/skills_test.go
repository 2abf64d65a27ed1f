package agent_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// skilled is an agent whose sessions start with a command and a skill.
type skilled struct{ scripted }

var listed = []acp.AvailableCommand{&acp.Command{Name: "web", Description: "d"}, &acp.Skill{Name: "review", Description: "d"}}

func (a *skilled) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{Info: acp.Implementation{Name: "s", Version: "1"}, Capabilities: &acp.AgentCapabilities{Session: &acp.SessionCapabilities{
		Prompt: &acp.PromptCapabilities{Skill: &acp.PromptSkillCapabilities{Inline: &acp.PromptSkillInlineCapabilities{}}, Image: &acp.PromptImageCapabilities{}},
	}}}, nil
}

func (a *skilled) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "s1", AvailableCommands: listed}, nil
}

func (a *skilled) ResumeSession(ctx context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	return &acp.ResumeSessionResponse{AvailableCommands: listed[:1]}, nil
}

func (a *skilled) CloseSession(context.Context, *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	return nil, nil
}

// with initializes a connection of the agent to a client with these capabilities.
func with(t *testing.T, a *skilled, caps string) *rawpeer.Peer {
	near, far := rawpeer.Pipe(t)
	rawpeer.Start(t, agent.New(near, func(c *agent.Conn) acp.Agent { a.conn = c; return a }, nil))
	far.Call("0", "initialize", `{"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":`+caps+`}`)
	require.Nil(t, far.Next().Error)
	return far
}

// A prompt that calls a skill which the current list of the session lacks is refused.
func TestUnknownSkills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &skilled{}
		a.works = works{"any id": func(context.Context, *agent.Session) (acp.StopReason, error) { return acp.StopReasonEndTurn, nil }}
		p := with(t, a, `{"session":{"commands":{"skill":{}}}}`)
		ask := func(session, blocks string) string {
			p.Call("1", "session/prompt", `{"sessionId":"`+session+`","prompt":[`+blocks+`]}`)
			m := p.Next()
			for m.Method != "" {
				m = p.Next()
			}
			if m.Error != nil {
				return m.Error.Message
			}
			return ""
		}
		review, other := `{"type":"skill","name":"review"}`, `{"type":"skill","name":"other"}`
		assert.Contains(t, ask("s1", review), `unknown skill "review"`, "no session has a list yet")
		p.Call("2", "session/new", `{"cwd":"/"}`)
		assert.Contains(t, p.Next().Raw, `"review"`)
		assert.Contains(t, ask("s1", review+","+other), `unknown skill "other"`)
		assert.Contains(t, ask("s2", review), `unknown skill "review"`)
		require.NoError(t, a.conn.Session("s1").SetCommands(t.Context(), &acp.Skill{Name: "other", Description: "d"}))
		p.Next()
		assert.Contains(t, ask("s1", review), `unknown skill "review"`, "it is no longer listed")
		require.NoError(t, a.conn.Session("s1").SetCommands(t.Context()))
		p.Next()
		assert.Contains(t, ask("s1", other), `unknown skill "other"`)
		p.Call("3", "session/new", `{"cwd":"/"}`)
		p.Next()
		assert.Empty(t, ask("s1", review+`,{"type":"text","text":"any id"}`))
	})
}

// A client that did not advertise skills gets none, and the list of the agent is not changed.
func TestSkillsAreLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &skilled{}
		p := with(t, a, `{}`)
		p.Call("1", "session/new", `{"cwd":"/"}`)
		assert.JSONEq(t, `{"sessionId":"s1","availableCommands":[{"type":"command","name":"web","description":"d"}]}`, string(p.Next().Result))
		p.Call("2", "session/resume", `{"sessionId":"s1","cwd":"/"}`)
		assert.JSONEq(t, `{"availableCommands":[{"type":"command","name":"web","description":"d"}]}`, string(p.Next().Result))
		require.Len(t, listed, 2)
		assert.IsType(t, &acp.Skill{}, listed[1])
		var lacks *acp.CapabilityError
		require.ErrorAs(t, a.conn.Session("s1").SetCommands(t.Context(), listed...), &lacks)
		assert.Equal(t, "session.commands.skill", lacks.Capability)
	})
}

// Suggestions of content that either end did not advertise are not sent, nor blank ones.
func TestSuggestions(t *testing.T) {
	text, image := acp.Text("go"), &acp.ImageContent{MIMEType: "image/png", Data: "AA=="}
	for name, tt := range map[string]struct {
		caps string
		u    []acp.ContentBlock
		want string
	}{
		"text":                  {`{"promptSuggestions":{}}`, []acp.ContentBlock{text, &acp.ResourceLink{Name: "n", URI: "file:///x"}}, ""},
		"none advertised":       {`{}`, []acp.ContentBlock{text}, "session.promptSuggestions"},
		"image":                 {`{"promptSuggestions":{"image":{}}}`, []acp.ContentBlock{image}, ""},
		"image not advertised":  {`{"promptSuggestions":{}}`, []acp.ContentBlock{text, image}, "session.promptSuggestions.image"},
		"audio of the agent":    {`{"promptSuggestions":{"audio":{}}}`, []acp.ContentBlock{&acp.AudioContent{MIMEType: "audio/wav", Data: "AA=="}}, "session.prompt.audio"},
		"a skill":               {`{"promptSuggestions":{},"commands":{"skill":{}}}`, []acp.ContentBlock{&acp.SkillReference{Name: "review"}}, "session.promptSuggestions.skill"},
		"blank":                 {`{"promptSuggestions":{}}`, []acp.ContentBlock{acp.Text(" \n"), acp.Text("")}, "blank"},
		"blank before an image": {`{"promptSuggestions":{"image":{}}}`, []acp.ContentBlock{acp.Text(" "), image}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := &skilled{}
			p := with(t, a, `{"session":`+tt.caps+`}`)
			err := a.conn.Session("s1").Update(t.Context(), &acp.PromptSuggestionsUpdate{Suggestions: []acp.PromptSuggestion{{Prompt: tt.u}}})
			if tt.want != "" {
				assert.ErrorContains(t, err, tt.want)
				return
			}
			require.NoError(t, err)
			assert.Contains(t, p.Next().Raw, "prompt_suggestions_update")
		})
	}
}
