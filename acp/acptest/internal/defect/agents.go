package defect

import (
	"strings"

	"github.com/acpkit/go-sdk/acp/acptest/internal/check"
)

const (
	fail = check.Fail
	inc  = check.Inconclusive
)

// Agents are the defects of agents.
var Agents = []Defect{
	{Name: "refuses_initialize", Does: "fails every initialize",
		New:   answers("initialize", func(m *Message) { m.fails(-32603, "Internal error") }),
		Finds: map[string]check.Verdict{"ACP-INIT-001": fail, "*": inc}},
	{Name: "echoes_any_version", Does: "claims every version that it is asked for",
		New: func(w *Wire) (toPeer, fromPeer func(*Message)) {
			version := ""
			return func(m *Message) {
					if m.Method == "initialize" {
						version = string(check.At(m.Object["params"], "protocolVersion"))
					}
					w.ToPeer(m)
				}, func(m *Message) {
					if m.Method == "initialize" && version == "65535" {
						m.Set("result", strings.Replace(string(m.Object["result"]), `"protocolVersion":2`, `"protocolVersion":`+version, 1))
					}
					w.ToCheck(m)
				}
		},
		Finds: map[string]check.Verdict{"ACP-INIT-003": fail}},
	{Name: "knows_every_method", Does: "responds to unknown methods with a result",
		New:   answers("acptest/unknown", func(m *Message) { delete(m.Object, "error"); m.Set("result", "{}") }),
		Finds: map[string]check.Verdict{"ACP-JSONRPC-004": fail}},
	{Name: "answers_notifications", Does: "responds to notifications",
		New: func(w *Wire) (toPeer, fromPeer func(*Message)) {
			return func(m *Message) {
				if m.Object["id"] == nil && m.Method == "acptest/unknown" {
					w.LineToCheck([]byte(`{"jsonrpc":"2.0","id":null,"result":{}}`))
				}
				w.ToPeer(m)
			}, nil
		},
		Finds: map[string]check.Verdict{"ACP-JSONRPC-003": fail}},
	{Name: "stops_at_bad_json", Does: "reads nothing after a line that is not JSON",
		New: func(w *Wire) (toPeer, fromPeer func(*Message)) {
			stopped := false
			return func(m *Message) {
				if stopped = stopped || m.Object == nil; !stopped {
					w.ToPeer(m)
				}
			}, nil
		},
		Finds: map[string]check.Verdict{"AK-PARSE-001": fail}},
	{Name: "wrong_id_echo", Does: "changes the ids of responses to session/prompt",
		New:   answers("session/prompt", func(m *Message) { m.Set("id", `"x"`) }),
		Finds: map[string]check.Verdict{"ACP-JSONRPC-001": fail, "ACP-PROMPT-001": fail, "ACP-CANCEL-001": fail}},
	{Name: "invalid_updates", Does: "sends chunks whose content is a string",
		New:   updates(`"content":{`, `"content":"x","was":{`),
		Finds: map[string]check.Verdict{"ACP-SCHEMA-001": fail}},
	{Name: "update_after_response", Does: "sends a chunk of text after the response to the prompt", In: check.V1,
		New: func(w *Wire) (toPeer, fromPeer func(*Message)) {
			var chunk *Message
			return nil, func(m *Message) {
				w.ToCheck(m)
				if m.Method == "session/update" && strings.Contains(string(m.Raw), "_chunk") {
					chunk = m
				}
				if m.Method == "session/prompt" && chunk != nil {
					w.ToCheck(chunk)
				}
			}
		},
		Finds: map[string]check.Verdict{"AK-ORDER-001": fail}},
	{Name: "empty_stop_reason", Does: "ends turns with an empty stop reason",
		New:   both(answers("session/prompt", replace(`"end_turn"`, `""`)), updates(`"stopReason":"end_turn"`, `"stopReason":""`)),
		Finds: map[string]check.Verdict{"ACP-PROMPT-001": fail, "v1 ACP-SCHEMA-001": fail}},
	{Name: "cancel_wrong_stop_reason", Does: "ends a cancelled turn with end_turn",
		New:   both(answers("session/prompt", replace(`"cancelled"`, `"end_turn"`)), updates(`"stopReason":"cancelled"`, `"stopReason":"end_turn"`)),
		Finds: map[string]check.Verdict{"ACP-CANCEL-001": fail}},
}
