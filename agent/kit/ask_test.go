package kit_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
)

// The model asks with a form where the client has forms, and with a message otherwise.
func TestAskTool(t *testing.T) {
	accept := func(answer string) acp.ElicitationAction {
		return &acp.ElicitationAcceptAction{Content: map[string]acp.ElicitationContentValue{"answer": acp.ElicitationString(answer)}}
	}
	for name, c := range map[string]struct {
		action acp.ElicitationAction // nil means a client without forms
		model  string
		shown  []string
	}{
		"a form":                 {accept("next"), "next", []string{"user: go"}},
		"a form without answer":  {&acp.ElicitationDeclineAction{}, "does not want to answer", []string{"user: go"}},
		"a client without forms": {nil, "End your turn", []string{"user: go", "agent: Which branch?\n\n- main\n- next"}},
	} {
		t.Run(name, func(t *testing.T) {
			model := ""
			a := kit.New(&kit.Options{
				Tools: func(s *kit.Session) []tools.Tool { return []tools.Tool{s.AskTool()} },
				Turn: func(ctx context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
					done, err := s.Run(ctx, tools.Request{Name: "ask_person", Input: json.RawMessage(`{"question":"Which branch?","answers":["main","next"]}`)})
					if err == nil {
						model = done[0].Model[0].Text
					}
					return "", err
				},
			})
			u := connect(t, a)
			if c.action != nil {
				u = connectAs(t, a, nil, func(s *peertest.Client) acp.Client {
					return &peertest.FullClient{Do: func(ctx context.Context, _ string, params any) (any, error) {
						switch p := params.(type) {
						case *acp.SessionNotification:
							return nil, s.SessionUpdate(ctx, p)
						case *acp.CreateElicitationRequest:
							assert.Equal(t, "Which branch?", p.Message)
							return &acp.CreateElicitationResponse{Action: c.action}, nil
						}
						return nil, nil
					}}
				})
			}
			id := u.open()
			u.ask(id, "go")
			assert.Contains(t, model, c.model)
			var lines []string
			for _, line := range shown(u.set.Thread(id).Snapshot()) {
				if len(line) < 4 || line[:4] != "call" {
					lines = append(lines, line)
				}
			}
			assert.Equal(t, c.shown, lines)
		})
	}
}
