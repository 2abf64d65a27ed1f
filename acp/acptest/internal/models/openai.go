package models

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// chat answers a request of the chat completions API.
func chat(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Stream   bool `json:"stream"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name       string `json:"name"`
				Parameters schema `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var all []message
	for _, m := range req.Messages {
		all = append(all, message{user: m.Role == "user", tool: m.Role == "tool", text: texts(m.Content)})
	}
	var tools []tool
	for _, t := range req.Tools {
		tools = append(tools, tool{name: t.Function.Name, schema: t.Function.Parameters})
	}
	t := next(all, tools)

	id := newID("chatcmpl")
	usage := map[string]any{"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
	reason, calls := "stop", []any(nil)
	if t.call != nil {
		reason, calls = "tool_calls", []any{map[string]any{"index": 0, "id": newID("call"), "type": "function",
			"function": map[string]any{"name": t.call.name, "arguments": t.input}}}
	}
	if !req.Stream {
		text := ""
		t.text(r.Context(), func(s string) { text += s })
		reply(w, map[string]any{"id": id, "object": "chat.completion", "created": 1, "model": model, "usage": usage,
			"choices": []any{map[string]any{"index": 0, "finish_reason": reason, "message": map[string]any{"role": "assistant", "content": text, "tool_calls": calls}}}})
		return
	}
	e := newEvents(w, false)
	chunk := func(delta map[string]any, reason any) {
		e.send(map[string]any{"id": id, "object": "chat.completion.chunk", "created": 1, "model": model,
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": reason}}})
	}
	chunk(map[string]any{"role": "assistant", "content": ""}, nil)
	if calls != nil {
		chunk(map[string]any{"tool_calls": calls}, nil)
	} else {
		t.text(r.Context(), func(s string) { chunk(map[string]any{"content": s}, nil) })
	}
	chunk(map[string]any{}, reason)
	e.send(map[string]any{"id": id, "object": "chat.completion.chunk", "created": 1, "model": model, "choices": []any{}, "usage": usage})
	fmt.Fprint(w, "data: [DONE]\n\n")
}
