package interop_test

import (
	_ "embed"
	"encoding/json"

	"github.com/acpkit/go-sdk/acp"
)

//go:embed peers/updates.json
var updatesFile []byte

// allUpdates are the updates of peers/updates.json for one session.
func allUpdates(id acp.SessionID) []*acp.SessionNotification {
	var raw []json.RawMessage
	if err := json.Unmarshal(updatesFile, &raw); err != nil {
		panic(err)
	}
	all := make([]*acp.SessionNotification, len(raw))
	for i, u := range raw {
		b, err := json.Marshal(map[string]any{"sessionId": id, "update": u})
		if err != nil {
			panic(err)
		}
		all[i] = new(acp.SessionNotification)
		if err := json.Unmarshal(b, all[i]); err != nil {
			panic(err)
		}
	}
	return all
}

// form asks with one field of each kind, then with a form that is declined.
func (t turn) form() error {
	scope := &acp.ElicitationSessionScope{SessionID: t.session.id, ToolCallID: "call-1"}
	answer, err := t.conn.CreateElicitation(t.ctx, &acp.CreateElicitationRequest{
		Message: "Settings?",
		Mode: &acp.ElicitationFormMode{Scope: scope, RequestedSchema: acp.ElicitationSchema{
			Title:    "Settings",
			Required: []string{"name"},
			Properties: map[string]acp.ElicitationPropertySchema{
				"name":  &acp.StringPropertySchema{Title: "Name", MinLength: new(uint32(1)), MaxLength: new(uint32(20)), Default: acp.Some("")},
				"mail":  &acp.StringPropertySchema{Format: acp.StringFormatEmail},
				"level": &acp.IntegerPropertySchema{Minimum: new(int64(0)), Maximum: new(int64(9)), Default: acp.Some(int64(0))},
				"share": &acp.NumberPropertySchema{Minimum: new(0.0), Maximum: new(1.0)},
				"web":   &acp.BooleanPropertySchema{Default: acp.Some(false)},
				"size":  &acp.StringPropertySchema{OneOf: []acp.EnumOption{{Const: "s", Title: "Small"}, {Const: "l", Title: "Large"}}},
				"tags":  &acp.MultiSelectPropertySchema{MinItems: new(uint64(1)), Items: &acp.StringMultiSelectItems{Enum: []string{"a", "b", "c"}}},
			},
		}},
	})
	t.tell("form", answer, err)
	answer, err = t.conn.CreateElicitation(t.ctx, &acp.CreateElicitationRequest{
		Message: "Decline me",
		Mode: &acp.ElicitationFormMode{
			Scope:           &acp.ElicitationSessionScope{SessionID: t.session.id},
			RequestedSchema: acp.ElicitationSchema{Properties: map[string]acp.ElicitationPropertySchema{}},
		},
	})
	t.tell("form declined", answer, err)
	return nil
}

func (t turn) url() error {
	answer, err := t.conn.CreateElicitation(t.ctx, &acp.CreateElicitationRequest{
		Message: "Open this",
		Mode: &acp.ElicitationURLMode{
			Scope:         &acp.ElicitationSessionScope{SessionID: t.session.id},
			ElicitationID: "el-1", URL: "https://example.com/login",
		},
	})
	t.tell("url", answer, err)
	if err := t.conn.CompleteElicitation(t.ctx, &acp.CompleteElicitationNotification{ElicitationID: "el-1"}); err != nil {
		return err
	}
	return t.say("completed")
}
