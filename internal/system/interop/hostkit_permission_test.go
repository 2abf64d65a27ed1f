package interop_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/elicitation"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
)

// ask is a question with options of the kinds, each with the id "id-KIND".
func ask(label string, call map[string]any, kinds ...string) step {
	options := []map[string]string{}
	for _, kind := range kinds {
		options = append(options, map[string]string{"optionId": "id-" + kind, "name": kind, "kind": kind})
	}
	toolCall := map[string]any{"toolCallId": "call " + label, "title": label}
	maps.Copy(toolCall, call)
	return step{Label: label, Method: acp.MethodSessionRequestPermission, Params: map[string]any{"toolCall": toolCall, "options": options}}
}

var usual = []string{"allow_always", "allow_once", "reject_once", "reject_always"}

// selected is a response that selects the option of a kind, cancelled one that selects none.
func selected(kind string) string {
	return `{"outcome":{"outcome":"selected","optionId":"id-` + kind + `"}}`
}

const cancelled = `{"outcome":{"outcome":"cancelled"}}`

// choices is what the user chooses, by the title of a question.
func choices(byTitle map[string]string) func(context.Context, *permission.Question) (string, error) {
	return func(_ context.Context, q *permission.Question) (string, error) {
		switch choice := byTitle[q.Title]; choice {
		case "panic":
			panic("the user interface has a fault")
		case "error":
			return "", errors.New("the user interface has failed")
		case "made up":
			return "made up", nil
		default:
			return q.Pick(choice), nil
		}
	}
}

// What an agent on the TypeScript SDK gets for its questions.
func TestHostKitQuestions(t *testing.T) {
	t.Parallel()
	twice := ask("duplicate ids", nil, "allow_once", "reject_once")
	twice.Params["options"].([]map[string]string)[1]["optionId"] = "id-allow_once"
	tests := []struct {
		step   step
		choice string
		want   string
	}{
		{ask("once", nil, usual...), "allow_once", selected("allow_once")},
		{ask("always", nil, usual...), "allow_always", selected("allow_always")},
		{ask("no", nil, usual...), "reject_once", selected("reject_once")},
		{ask("never", nil, usual...), "reject_always", selected("reject_always")},
		{ask("closed", nil, usual...), "", selected("reject_once")},
		{ask("no options", nil), "allow_once", cancelled},
		{ask("rejects only", nil, "reject_once", "reject_always"), "allow_once", selected("reject_once")},
		{ask("only always", nil, "allow_always", "reject_always"), "allow_once", cancelled},
		{ask("kinds of codex", nil, "allow_for_session", "allow_once", "abort"), "allow_for_session", selected("allow_for_session")},
		{ask("kinds of codex, no", nil, "allow_for_session", "allow_once", "abort"), "reject_once", cancelled},
		{twice, "allow_once", cancelled},
		{ask("panic", nil, usual...), "panic", selected("reject_once")},
		{ask("error", nil, usual...), "error", selected("reject_once")},
		{ask("made up", nil, usual...), "made up", selected("reject_once")},
		{ask("10 MiB", map[string]any{"kind": "execute", "rawInput": map[string]any{"command": map[string]any{"$fill": 10 << 20}}}, usual...), "allow_once", selected("allow_once")},
	}
	byTitle := map[string]string{}
	var steps []step
	for _, tt := range tests {
		byTitle[tt.step.Label] = tt.choice
		steps = append(steps, tt.step)
	}
	k := newHostKit(t, host.Options{Ask: choices(byTitle)})
	got := k.run(steps...)
	for _, tt := range tests {
		assert.JSONEq(t, tt.want, got.get(tt.step.Label), tt.step.Label)
	}
}

// Forms and pages of an agent on the TypeScript SDK.
func TestHostKitElicitation(t *testing.T) {
	t.Parallel()
	var shown []string
	done := make(chan acp.ElicitationID, 1)
	k := newHostKit(t, host.Options{
		Form: func(_ context.Context, f *elicitation.Form) (map[string]acp.ElicitationContentValue, error) {
			switch {
			case f.Message == "decline":
				return nil, elicitation.ErrDeclined
			case f.Message == "close":
				return nil, elicitation.ErrCancelled
			case f.Problem == nil && f.Message == "twice":
				return map[string]acp.ElicitationContentValue{"level": acp.ElicitationInteger(99)}, nil
			}
			return map[string]acp.ElicitationContentValue{"level": acp.ElicitationInteger(3)}, nil
		},
		Page: func(_ context.Context, p *elicitation.Page) error {
			shown = append(shown, p.URL)
			if strings.HasSuffix(p.URL, "/no") {
				return elicitation.ErrDeclined
			}
			return nil
		},
		PageDone: func(id acp.ElicitationID) { done <- id },
	})
	form := func(message string) step {
		return step{Label: message, Method: acp.MethodElicitationCreate, Params: map[string]any{"message": message, "mode": "form", "requestedSchema": map[string]any{
			"type": "object", "required": []string{"level"}, "properties": map[string]any{"level": map[string]any{"type": "integer", "minimum": 0, "maximum": 9}},
		}}}
	}
	page := func(label, url string) step {
		return step{Label: label, Method: acp.MethodElicitationCreate, Params: map[string]any{"message": label, "mode": "url", "elicitationId": "id of " + label, "url": url}}
	}
	got := k.run(form("accept"), form("decline"), form("close"), form("twice"),
		page("open", "https://example.com/yes"), page("refuse", "https://example.com/no"), page("script", "javascript:alert(1)"), page("file", "file:///etc/passwd"),
		step{Notify: acp.MethodElicitationComplete, Params: map[string]any{"elicitationId": "id of open"}})
	for label, want := range map[string]string{
		"accept": `{"action":"accept","content":{"level":3}}`, "decline": `{"action":"decline"}`, "close": `{"action":"cancel"}`, "twice": `{"action":"accept","content":{"level":3}}`,
		"open": `{"action":"accept"}`, "refuse": `{"action":"decline"}`,
	} {
		assert.JSONEq(t, want, got.get(label), label)
	}
	assert.Equal(t, []string{"-32602", "-32602"}, []string{got.get("script"), got.get("file")})
	assert.Equal(t, []string{"https://example.com/yes", "https://example.com/no"}, shown)
	assert.Equal(t, acp.ElicitationID("id of open"), <-done)
}
