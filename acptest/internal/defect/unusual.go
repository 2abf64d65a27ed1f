package defect

import (
	"fmt"
	"maps"
	"slices"
)

// Unusual are changes that make a peer unusual and leave it right.
var Unusual = []Defect{
	{Name: "tells_no_capabilities", Does: "has no member agentCapabilities", ToCheck: changes(responds("initialize", `"result"`).without("65535"), becomes(`{"protocolVersion":1}`))},
	{Name: "empty_option_ids", Does: "offers an option whose id is empty", ToCheck: changes(is("session/request_permission"), replace(`"optionId":"allow_once"`, `"optionId":""`)),
		ToPeer: changes(responds("session/request_permission", `"selected"`, `"optionId":""`), option("allow_once"))},
	{Name: "tells_news", Does: "tells what is new when a session was opened and the client has gone on", ToCheck: func(w *Wire, m *Message) {
		if n := len(w.held); n > 0 && w.log[len(w.log)-1] != w.held[n-1].request {
			for _, opened := range w.held {
				w.add(line(), opened, update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Version 2 is there."}`))
			}
			w.held = nil
		}
		w.pass(m)
		if responds("session/new", `"result"`)(w, m) {
			w.held = append(w.held, m)
		}
	}},
	{Name: "counts_tool_calls", Does: "numbers the tool calls of each session from 1", ToCheck: func(w *Wire, m *Message) {
		if id := m.toolCall(); id != "" {
			var ids []string // of the session
			for _, one := range w.held {
				if one.session() == m.session() {
					ids = append(ids, one.toolCall())
				}
			}
			n := slices.Index(ids, id)
			if n < 0 {
				n = len(ids)
				w.held = append(w.held, &Message{Object: maps.Clone(m.Object)})
			}
			replace(`"toolCallId":"`+id+`"`, fmt.Sprintf(`"toolCallId":"call-%d"`, n+1))(m)
		}
		w.pass(m)
	}},
	{Name: "answers_null", Does: "answers with null where the result has no members", ToCheck: changes(responds("session/set_mode", `"result"`), becomes("null"))},
	{Name: "spells_out", Does: "has members that nobody knows", ToCheck: changes(responds("session/new", `"result"`), replace(`"sessionId":`, `"_meta":{"x":null},"vendor":[1],"sessionId":`))},
}

// Refusing is a peer that answers requests of a method with an error, because nobody is signed in.
func Refusing(method string) Defect {
	return Defect{Name: "refuses_" + method, ToPeer: answersItself(is(method), `"error":{"code":-32000,"message":"Authentication required"}`)}
}
