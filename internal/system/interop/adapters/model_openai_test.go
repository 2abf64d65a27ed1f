package adapters_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// openai is the Responses API, streamed.
type openai struct{}

func (openai) path() string { return "/v1/responses" }

func (openai) read(body []byte) (call modelCall, err error) {
	var req struct {
		Tools []any
		Input []struct {
			Type, Role string
			Content    json.RawMessage // a list in messages
			Output     json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return call, err
	}
	call.tools = len(req.Tools) > 0
	for _, item := range req.Input {
		if strings.HasSuffix(item.Type, "_call_output") {
			call.results++
			call.result = string(item.Output)
		}
		if item.Type != "message" || item.Role != "user" {
			continue
		}
		var content []struct{ Text string }
		if err := json.Unmarshal(item.Content, &content); err != nil {
			return call, err
		}
		for _, c := range content {
			if strings.HasPrefix(c.Text, scriptMark) {
				call.prompt, call.results, call.result = c.Text, 0, ""
			}
		}
	}
	return call, nil
}

func (openai) write(w *eventWriter, _ *scriptedModel, id int64, s *modelStep) {
	w.event("response.created", object{"response": object{"id": fmt.Sprint("resp_", id)}})
	index := 0
	item := func(start, done object, deltas func(object)) {
		w.event("response.output_item.added", object{"output_index": index, "item": start})
		deltas(object{"item_id": start["id"], "output_index": index})
		if !s.wait {
			w.event("response.output_item.done", object{"output_index": index, "item": done})
		}
		index++
	}
	with := func(fields object, name string, value any) object {
		out := maps.Clone(fields)
		out[name] = value
		return out
	}
	if s.thought != "" {
		start := object{"type": "reasoning", "id": fmt.Sprint("rs_", id), "summary": []any{}}
		item(start, with(start, "summary", []any{object{"type": "summary_text", "text": s.thought}}), func(at object) {
			at["summary_index"] = 0
			w.event("response.reasoning_summary_part.added", with(at, "part", object{"type": "summary_text", "text": ""}))
			for _, text := range chunks(s.thought) {
				w.event("response.reasoning_summary_text.delta", with(at, "delta", text))
			}
		})
	}
	if s.text != "" {
		start := object{"type": "message", "id": fmt.Sprint("msg_", id), "role": "assistant", "status": "in_progress", "content": []any{}}
		done := with(start, "content", []any{object{"type": "output_text", "text": s.text, "annotations": []any{}}})
		item(start, done, func(at object) {
			at["content_index"] = 0
			for _, text := range chunks(s.text) {
				w.event("response.output_text.delta", with(at, "delta", text))
			}
		})
	}
	name, input := s.openaiTool()
	switch input := input.(type) {
	case string:
		call := object{"type": "custom_tool_call", "id": fmt.Sprint("ctc_", id), "call_id": fmt.Sprint("call_", id), "name": name, "input": input}
		item(with(call, "input", ""), call, func(object) {})
	case object:
		args, _ := json.Marshal(input) // a map of texts
		call := object{"type": "function_call", "id": fmt.Sprint("fc_", id), "call_id": fmt.Sprint("call_", id), "name": name, "arguments": string(args)}
		item(with(call, "arguments", ""), call, func(object) {})
	}
}

// openaiTool returns the tool of Codex that the step uses, and its input: a text or an object.
func (s *modelStep) openaiTool() (name string, input any) {
	switch s.tool {
	case toolWrite:
		return "apply_patch", "*** Begin Patch\n*** Update File: " + s.file + "\n@@\n-old\n+new\n*** End Patch\n"
	case toolRun:
		return "exec_command", object{"cmd": commandText}
	case toolBackground:
		return "exec_command", object{"cmd": backgroundText, "yield_time_ms": 250}
	case toolAsk:
		return "request_user_input", object{"questions": []any{object{
			"question": "Which one?", "header": "Color", "id": "color",
			"options": []any{object{"label": "red", "description": "warm"}, object{"label": "blue", "description": "cold"}},
		}}}
	case toolPlan:
		return "update_plan", object{"plan": []any{object{"step": "first step", "status": "in_progress"}}}
	}
	return "", nil
}

func (openai) end(w *eventWriter, _ *scriptedModel, id int64, _ *modelStep) {
	w.event("response.completed", object{"response": object{"id": fmt.Sprint("resp_", id), "usage": object{
		"input_tokens": 11, "input_tokens_details": object{"cached_tokens": 0},
		"output_tokens": 7, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": 18,
	}}})
}
