package models

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// anthropic answers a request of the messages API.
func anthropic(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Stream   bool            `json:"stream"`
		System   json.RawMessage `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name   string `json:"name"`
			Schema schema `json:"input_schema"`
		} `json:"tools"`
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	all := []message{{text: texts(req.System)}}
	for _, m := range req.Messages {
		tool := bytes.Contains(m.Content, []byte(`"tool_result"`)) // in a text the quotes are escaped
		all = append(all, message{user: m.Role == "user", tool: tool, text: texts(m.Content)})
	}
	var tools []tool
	for _, t := range req.Tools {
		tools = append(tools, tool{name: t.Name, schema: t.Schema})
	}
	t := next(all, tools)

	usage := map[string]any{"input_tokens": 10, "output_tokens": 10}
	answer := map[string]any{"id": newID("msg"), "type": "message", "role": "assistant", "model": model,
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage}
	reason := "end_turn"
	if t.call != nil {
		reason = "tool_use"
	}
	if !req.Stream {
		text := ""
		t.text(r.Context(), func(s string) { text += s })
		content := []any{map[string]any{"type": "text", "text": text + " "}}
		if t.call != nil {
			content = append(content, map[string]any{"type": "tool_use", "id": newID("toolu"), "name": t.call.name, "input": json.RawMessage(t.input)})
		}
		answer["content"], answer["stop_reason"] = content, reason
		reply(w, answer)
		return
	}
	e := newEvents(w, true)
	e.send(map[string]any{"type": "message_start", "message": answer})
	index := 0
	block := func(start map[string]any, fill func(delta func(map[string]any))) {
		e.send(map[string]any{"type": "content_block_start", "index": index, "content_block": start})
		fill(func(d map[string]any) {
			e.send(map[string]any{"type": "content_block_delta", "index": index, "delta": d})
		})
		e.send(map[string]any{"type": "content_block_stop", "index": index})
		index++
	}
	if t.call == nil {
		block(map[string]any{"type": "text", "text": ""}, func(delta func(map[string]any)) {
			t.text(r.Context(), func(s string) { delta(map[string]any{"type": "text_delta", "text": s}) })
		})
	} else {
		block(map[string]any{"type": "tool_use", "id": newID("toolu"), "name": t.call.name, "input": map[string]any{}}, func(delta func(map[string]any)) {
			delta(map[string]any{"type": "input_json_delta", "partial_json": t.input})
		})
	}
	e.send(map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": reason, "stop_sequence": nil}, "usage": usage})
	e.send(map[string]any{"type": "message_stop"})
}
