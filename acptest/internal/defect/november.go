package defect

import (
	"encoding/json"
	"slices"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// November is no defect: it gives an agent that is right what the protocol of November 2026 has and the
// reference agent does not have, so that defects have something to make wrong.
var November = Defect{
	Name: "november",
	ToCheck: func(w *Wire, m *Message) {
		switch {
		case responds("initialize", `"result"`)(w, m):
			replace(`"sessionCapabilities":{`, `"auth":{"status":{}},"sessionCapabilities":{"options":{},"fork":{},"status":{},"title":{},"archive":{},`)(m)
			replace(`"session":{"prompt":{`, `"auth":{"status":{}},"session":{"options":{},"fork":{},"status":{},"title":{},"archive":{},"prompt":{"skill":{},`)(m)
		case responds("session/new", `"result"`)(w, m):
			m.start()
			w.held = append(w.held, m)
		case responds("session/list", `"result"`)(w, m):
			w.leaveOutArchived(m)
		}
		w.pass(m)
	},
	ToPeer: func(w *Wire, m *Message) {
		switch known := slices.ContainsFunc(w.held, func(one *Message) bool { return one.session() == m.session() }); {
		case about(m) && !known:
			answersItself(line(), `"error":{"code":-32002,"message":"Resource not found"}`)(w, m)
		case is("session/status")(w, m):
			answersItself(line(), `"result":{"status":"open"}`)(w, m)
		case is("session/set_title", `"title":" "`)(w, m):
			answersItself(line(), invalidParams)(w, m)
		case is("session/set_title")(w, m):
			answersItself(line(), `"result":{"title":"acptest"}`)(w, m)
		case about(m): // archived or not is in the log
			answersItself(line(), empty)(w, m)
		case is("auth/status")(w, m):
			answersItself(line(), `"result":{"state":"not_required"}`)(w, m)
		case is("session/options")(w, m):
			answersItself(line(), `"result":{"configOptions":[]}`)(w, m)
		case is("session/fork", `"cursorId"`)(w, m), is("session/prompt", `"type":"skill"`)(w, m), is("session/new", `"configOptions"`, `"type":"_acptest"`)(w, m):
			answersItself(line(), invalidParams)(w, m)
		case is("session/fork")(w, m):
			m.Set("method", `"session/new"`)
			w.pass(m)
		default:
			w.pass(m)
		}
	},
}

// start makes the options of a new session have the values that were asked for, if they exist.
func (m *Message) start() {
	var asked []struct{ ConfigID, Value string }
	var result map[string]any
	if json.Unmarshal(check.At(m.request.Object["params"], "configOptions"), &asked) != nil || json.Unmarshal(m.Object["result"], &result) != nil {
		return
	}
	all, _ := result["configOptions"].([]any)
	for _, one := range all {
		o, _ := one.(map[string]any)
		values, _ := o["options"].([]any)
		for _, a := range asked {
			offered := slices.ContainsFunc(values, func(v any) bool { v, _ = v.(map[string]any)["value"]; return v == a.Value })
			if offered && (o["id"] == a.ConfigID || o["configId"] == a.ConfigID) {
				o["currentValue"] = a.Value
			}
		}
	}
	b, _ := json.Marshal(result) // it was JSON
	m.Set("result", string(b))
}

// about reports whether m is a request about a session that the reference agent does not have.
func about(m *Message) bool {
	return !m.Response && slices.Contains([]string{"session/status", "session/set_title", "session/archive", "session/unarchive"}, m.Method)
}

// leaveOutArchived removes the sessions from a list that were archived.
func (w *Wire) leaveOutArchived(m *Message) {
	archived := map[string]bool{}
	for _, one := range w.log {
		if one.Method == "session/archive" || one.Method == "session/unarchive" {
			archived[one.session()] = one.Method == "session/archive"
		}
	}
	var list map[string]json.RawMessage
	var sessions []json.RawMessage
	_ = json.Unmarshal(m.Object["result"], &list) // the peer is right
	_ = json.Unmarshal(list["sessions"], &sessions)
	sessions = slices.DeleteFunc(sessions, func(one json.RawMessage) bool {
		s := check.Message{Result: one}
		return archived[s.Text("sessionId")]
	})
	list["sessions"], _ = json.Marshal(append([]json.RawMessage{}, sessions...)) // it was JSON
	b, _ := json.Marshal(list)                                                   // as above
	m.Set("result", string(b))
}
