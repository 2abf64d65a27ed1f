package completions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/agent/loop"
)

// Object is an object of JSON.
type Object = map[string]any

// reasons has the reasons for which answers end, in small letters and with underscores. Any other one
// is loop.Failed.
var reasons = map[string]loop.StopReason{
	"stop": loop.Done, "end": loop.Done, "end_turn": loop.Done, "eos": loop.Done, "eos_token": loop.Done, "stop_sequence": loop.Done,
	"complete": loop.Done, "completed": loop.Done, "done": loop.Done, "finish": loop.Done, "finished": loop.Done, "stop_token": loop.Done,
	"tool_calls": loop.ToolCalls, "tool_call": loop.ToolCalls, "tool_use": loop.ToolCalls, "function_call": loop.ToolCalls, "function_calls": loop.ToolCalls,
	"length": loop.Length, "max_tokens": loop.Length, "max_output_tokens": loop.Length, "model_length": loop.Length, "token_limit": loop.Length,
	"max_length": loop.Length, "model_context_window_exceeded": loop.Length, "context_length": loop.Length, "max_new_tokens": loop.Length,
	"refusal": loop.Refused, "refused": loop.Refused,
	"content_filter": loop.Filtered, "content_filtered": loop.Filtered, "content_filtering": loop.Filtered, "sensitive": loop.Filtered, "safety": loop.Filtered, "blocklist": loop.Filtered,
	"prohibited_content": loop.Filtered, "recitation": loop.Filtered, "spii": loop.Filtered, "image_safety": loop.Filtered,
	"guardrail_intervened": loop.Filtered, "risk_control": loop.Filtered, "moderation": loop.Filtered, "error_toxic": loop.Filtered,
}

func reasonOf(word string) loop.StopReason {
	word, _, _ = strings.Cut(strings.ToLower(word), ":") // "content_filter: PROHIBITED_CONTENT"
	reason, known := reasons[strings.NewReplacer("-", "_", " ", "_").Replace(strings.TrimSpace(word))]
	if !known {
		return loop.Failed
	}
	return reason
}

// Kept lists the members of messages and calls that are stored and sent back to the model that made
// them. Services that check signatures refuse the conversation without them.
var Kept = []string{
	"reasoning_content", "reasoning", "reasoning_text", "reasoning_details", "reasoning_opaque", "reasoning_signature", "extra_content",
	"thinking", "thinking_blocks", "thought_signature", "signature", "encrypted_content", "provider_specific_fields",
}

// Thoughts lists the members that are thoughts as a text, by which services call them.
var Thoughts = []string{"reasoning_content", "reasoning", "reasoning_text", "thinking"}

// Opaque is what is kept of an answer, to be sent back to the model that made it.
type Opaque struct {
	Model   string   `json:"model"`
	Message Object   `json:"message,omitempty"`
	Calls   []Object `json:"calls,omitempty"` // in the order of the calls
}

// merge adds the kept members of a chunk to those before it: texts are joined, and lists as OpenRouter
// sends them, whose elements have an index.
func merge(to, more Object) {
	for name, v := range more {
		switch old := to[name].(type) {
		case nil:
			to[name] = v
		case string:
			if text, ok := v.(string); ok && slices.Contains(joined, name) {
				to[name] = old + text
			} else if v != nil {
				to[name] = v
			}
		case Object:
			if o, ok := v.(Object); ok {
				merge(old, o)
			}
		case []any:
			list, _ := v.([]any)
			for _, e := range list {
				part, _ := e.(Object)
				at := slices.IndexFunc(old, func(x any) bool {
					o, ok := x.(Object)
					return ok && part["index"] != nil && fmt.Sprint(o["index"], o["type"]) == fmt.Sprint(part["index"], part["type"])
				})
				if at >= 0 {
					merge(old[at].(Object), part)
				} else {
					old = append(old, e)
				}
			}
			to[name] = old
		}
	}
}

// joined lists the members of which each chunk has a part.
var joined = append([]string{"text", "summary", "data", "encrypted_content", "reasoning_signature"}, Thoughts...)

// maxKept is the maximum size of the kept members of an answer in bytes, because each later request has
// them.
const maxKept = 4 << 20

// keptOf returns the kept members of a message or call.
func (a *Answer) keptOf(raw Members) Object {
	var found Object
	for _, name := range Kept {
		if a.size += len(raw[name]); a.size > maxKept {
			return found
		}
		var v any
		d := json.NewDecoder(bytes.NewReader(raw[name]))
		d.UseNumber()
		if len(raw[name]) > 0 && d.Decode(&v) == nil && v != nil && v != "" {
			if found == nil {
				found = make(Object)
			}
			found[name] = v
		}
	}
	return found
}
