package adapters_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
)

// anthropic is the Messages API, streamed.
type anthropic struct{}

func (anthropic) path() string { return "/v1/messages" }

func (anthropic) read(body []byte) (call modelCall, err error) {
	var req struct {
		Tools    []any
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return call, err
	}
	call.tools = len(req.Tools) > 0
	for _, m := range req.Messages {
		if m.Role != "user" {
			continue
		}
		type block struct {
			Type, Text string
			Content    json.RawMessage
		}
		var blocks []block
		var text string
		if json.Unmarshal(m.Content, &text) == nil {
			blocks = append(blocks, block{Type: "text", Text: text})
		} else if err := json.Unmarshal(m.Content, &blocks); err != nil {
			return call, err
		}
		for _, b := range blocks {
			switch {
			case b.Type == "tool_result":
				call.results++
				call.result = string(b.Content)
			case strings.HasPrefix(b.Text, scriptMark):
				call.prompt, call.results, call.result = b.Text, 0, ""
			}
		}
	}
	return call, nil
}

func (anthropic) write(w *eventWriter, m *scriptedModel, id int64, s *modelStep) {
	w.event("message_start", object{"message": object{
		"id": fmt.Sprint("msg_", id), "type": "message", "role": "assistant", "model": "scripted",
		"content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": object{"input_tokens": 11, "output_tokens": 1},
	}})
	index := 0
	block := func(start object, deltas ...object) {
		w.event("content_block_start", object{"index": index, "content_block": start})
		for _, d := range deltas {
			w.event("content_block_delta", object{"index": index, "delta": d})
		}
		if !s.wait {
			w.event("content_block_stop", object{"index": index})
		}
		index++
	}
	if s.thought != "" {
		var deltas []object
		for _, text := range chunks(s.thought) {
			deltas = append(deltas, object{"type": "thinking_delta", "thinking": text})
		}
		deltas = append(deltas, object{"type": "signature_delta", "signature": "c2lnbmVk"})
		block(object{"type": "thinking", "thinking": "", "signature": ""}, deltas...)
	}
	if s.text != "" {
		var deltas []object
		for _, text := range chunks(s.text) {
			deltas = append(deltas, object{"type": "text_delta", "text": text})
		}
		block(object{"type": "text", "text": ""}, deltas...)
	}
	name, input := s.anthropicTool(m.dir)
	if name == "" {
		return
	}
	text, _ := json.Marshal(input) // a map of texts
	block(object{"type": "tool_use", "id": fmt.Sprint("toolu_", id), "name": name, "input": object{}},
		object{"type": "input_json_delta", "partial_json": string(text)})
}

func (anthropic) end(w *eventWriter, _ *scriptedModel, _ int64, s *modelStep) {
	reason := "end_turn"
	if s.tool != "" {
		reason = "tool_use"
	}
	w.event("message_delta", object{"delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": object{"output_tokens": 7}})
	w.event("message_stop", object{})
}

// anthropicTool returns the tool of Claude Code that the step uses, and its input.
func (s *modelStep) anthropicTool(dir string) (name string, input object) {
	switch s.tool {
	case toolWrite:
		return "Write", object{"file_path": filepath.Join(dir, s.file), "content": "new\n"}
	case toolRun:
		return "Bash", object{"command": commandText, "description": "greets"}
	case toolBackground:
		return "Bash", object{"command": backgroundText, "description": "sleeps", "run_in_background": true}
	case toolAsk:
		return "AskUserQuestion", object{"questions": []any{object{
			"question": "Which one?", "header": "Color", "multiSelect": false,
			"options": []any{object{"label": "red", "description": "warm"}, object{"label": "blue", "description": "cold"}},
		}}}
	case toolDelegate:
		return "Agent", object{"description": "says something", "prompt": scriptMark + "say", "subagent_type": "general-purpose", "run_in_background": false}
	case toolPlan:
		return "TaskCreate", object{"subject": "first step", "description": "what comes first"}
	}
	return "", nil
}

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
