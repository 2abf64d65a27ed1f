package adapters_test

import (
	"encoding/json"
	"fmt"
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
