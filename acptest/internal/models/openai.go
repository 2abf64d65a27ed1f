package models

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
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

// responses answers a request of the responses API, which is always streamed.
func responses(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Instructions string `json:"instructions"`
		Input        []struct {
			Type    string          `json:"type"`
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"input"`
		Tools []struct {
			Type       string `json:"type"`
			Name       string `json:"name"`
			Parameters schema `json:"parameters"`
		} `json:"tools"`
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	all := []message{{text: req.Instructions}}
	for _, item := range req.Input {
		all = append(all, message{user: item.Role == "user", tool: strings.HasSuffix(item.Type, "call_output"), text: texts(item.Content)})
	}
	var tools []tool
	for _, t := range req.Tools {
		if t.Type == "function" {
			tools = append(tools, tool{name: t.Name, schema: t.Parameters})
		}
	}
	t := next(all, tools)

	id := newID("resp")
	answer := map[string]any{"id": id, "object": "response", "created_at": 1, "status": "in_progress", "model": model, "output": []any{}, "parallel_tool_calls": false, "tools": []any{}, "tool_choice": "auto"}
	events, number := newEvents(w, true), 0
	send := func(v map[string]any) {
		v["sequence_number"] = number
		number++
		events.send(v)
	}
	send(map[string]any{"type": "response.created", "response": answer})
	var item map[string]any
	if t.call != nil {
		item = map[string]any{"type": "function_call", "id": newID("fc"), "call_id": newID("call"), "name": t.call.name, "arguments": t.input, "status": "completed"}
		send(map[string]any{"type": "response.output_item.added", "output_index": 0, "item": item})
		send(map[string]any{"type": "response.function_call_arguments.done", "item_id": item["id"], "output_index": 0, "arguments": t.input})
	} else {
		itemID, text := newID("msg"), ""
		item = map[string]any{"type": "message", "id": itemID, "role": "assistant", "status": "in_progress", "content": []any{}}
		send(map[string]any{"type": "response.output_item.added", "output_index": 0, "item": item})
		send(map[string]any{"type": "response.content_part.added", "item_id": itemID, "output_index": 0, "content_index": 0,
			"part": map[string]any{"type": "output_text", "text": "", "annotations": []any{}}})
		t.text(r.Context(), func(s string) {
			text += s
			send(map[string]any{"type": "response.output_text.delta", "item_id": itemID, "output_index": 0, "content_index": 0, "delta": s})
		})
		part := map[string]any{"type": "output_text", "text": text, "annotations": []any{}}
		send(map[string]any{"type": "response.output_text.done", "item_id": itemID, "output_index": 0, "content_index": 0, "text": text})
		send(map[string]any{"type": "response.content_part.done", "item_id": itemID, "output_index": 0, "content_index": 0, "part": part})
		item = map[string]any{"type": "message", "id": itemID, "role": "assistant", "status": "completed", "content": []any{part}}
	}
	send(map[string]any{"type": "response.output_item.done", "output_index": 0, "item": item})
	answer["status"], answer["output"] = "completed", []any{item}
	answer["usage"] = map[string]any{"input_tokens": 10, "output_tokens": 10, "total_tokens": 20,
		"input_tokens_details": map[string]any{"cached_tokens": 0}, "output_tokens_details": map[string]any{"reasoning_tokens": 0}}
	send(map[string]any{"type": "response.completed", "response": answer})
}
