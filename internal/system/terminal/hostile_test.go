package terminal_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// playVar selects what the test binary does as an agent.
const playVar = "TERMINAL_TEST_AGENT"

// hostile acts on a terminal, on the text around it, or cannot be seen: OSC, CSI, C1, returns, bidi,
// line separators, zero width, fillers and blanks.
const hostile = "\x1b]0;title\a\x1b[2J\x1b[1;1H\u009b31m\u0085\r\b\x7f\u202eevil\u2066\u061c\u2028\u2029\u200b\ufeff\u2060\u00ad\u2800\u3164\uffa0\u115f\u1160\U000e0041\x1b]52;c;cm0=\x1b\\"

// imitation pushes a line of another meaning to the next row of a terminal, by blanks of all kinds.
var imitation = strings.Repeat(" \u00a0\u3000\u2800\u3164", 20) + strings.Repeat(" ", 80) + "IMITATION"

// text returns a hostile text that a tag makes recognizable.
func text(tag string) string { return "<" + tag + ">" + hostile + imitation }

type object = map[string]any

// agent plays an agent that puts hostile texts wherever the protocol has room for one.
type agent struct {
	play string
	cwd  string // of the session
	asks int
	wait []object // what is asked one after the other before the prompt is answered
	id   any      // of the prompt
}

func playAgent(play string) {
	fmt.Fprintf(os.Stderr, "<stderr>%s\x9b31m\xff\n", hostile)
	fmt.Printf("<noise>%s\x9b31m\xff%s\n", hostile, imitation)
	switch play {
	case "silent":
		os.Exit(3)
	case "quotes":
		fmt.Printf("DEBUG sent {\"jsonrpc\":\"2.0\",\"method\":\"<quoted>\",\"params\":{}}\n")
	}
	a := &agent{play: play}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		var m object
		if json.Unmarshal(line, &m) == nil {
			a.handle(m)
		}
		if err != nil {
			return
		}
	}
}

func send(m object) {
	m["jsonrpc"] = "2.0"
	os.Stdout.Write(encode(m))
}

func encode(m object) []byte {
	line, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return append(line, '\n')
}

func (a *agent) handle(m object) {
	method, id := m["method"], m["id"]
	switch {
	case method == nil && a.play != "version 2":
		a.next()
	case a.play == method: // this request fails
		code := -32603
		if method == "session/new" {
			code = -32000
		}
		send(object{"id": id, "error": object{"code": code, "message": text("message"), "data": object{"details": text("details")}}})
	case a.play == "version 2" && a.handle2(m):
	case method == "initialize":
		send(object{"id": id, "result": object{
			"protocolVersion": 1, "agentInfo": object{"name": text("agent"), "title": text("agent title"), "version": text("version")},
			"agentCapabilities": object{"loadSession": true, "sessionCapabilities": object{"list": object{}}},
			"authMethods": []object{
				{"id": text("way id"), "name": text("way"), "description": text("way description")},
				{"id": "2", "name": text("second way"), "_meta": object{"terminal-auth": object{"label": text("label"), "command": text("command"), "args": []string{text("arg")}}}},
			},
		}})
	case method == "session/new":
		a.cwd, _ = m["params"].(object)["cwd"].(string)
		send(object{"id": id, "result": object{
			"sessionId": text("session"),
			"modes":     object{"currentModeId": text("mode"), "availableModes": []object{{"id": text("mode"), "name": text("mode name"), "description": text("mode description")}}},
			"configOptions": []object{{"type": "select", "id": text("option id"), "name": text("option"), "currentValue": text("value"), "category": "model",
				"options": []object{{"value": text("value"), "name": text("value name"), "description": text("value description")}}}},
		}})
		a.update(text("session"), object{"sessionUpdate": "available_commands_update", "availableCommands": []object{
			{"name": text("slash"), "description": text("slash description"), "input": object{"hint": text("hint")}}}})
	case method == "session/list":
		send(object{"id": id, "result": object{"sessions": []object{{"sessionId": text("listed"), "cwd": "/" + text("cwd"), "title": text("listed title"), "updatedAt": text("at")}}}})
	case method == "session/prompt":
		a.id = id
		a.turn(m["params"].(object)["sessionId"].(string))
	case id != nil:
		send(object{"id": id, "result": object{}})
	}
}

func (a *agent) update(session string, update object) {
	send(object{"method": "session/update", "params": object{"sessionId": session, "update": update}})
}

// handle2 plays an agent of version 2 and reports whether it has answered.
func (a *agent) handle2(m object) bool {
	id := m["id"]
	update := func(kind string, update object) {
		update["sessionUpdate"] = kind
		a.update(text("session"), update)
	}
	switch m["method"] {
	case "initialize":
		send(object{"id": id, "result": object{"protocolVersion": 2, "info": object{"name": text("agent"), "title": text("agent title"), "version": text("version")},
			"capabilities": object{"session": object{}}, "authMethods": []object{{"type": "agent", "methodId": text("way id"), "name": text("way")}}}})
	case "session/new":
		send(object{"id": id, "result": object{"sessionId": text("session"), "availableCommands": []object{{"type": "command", "name": text("slash"), "description": text("slash description")}}}})
	case "session/prompt":
		a.id = id
		send(object{"id": id, "result": object{"messageId": text("message id")}})
		update("state_update", object{"state": "running"})
		update("agent_message_chunk", object{"messageId": "m", "content": object{"type": "text", "text": "<said>" + hostile}})
		update("tool_call_update", object{"toolCallId": "c", "title": text("title"), "status": "pending", "content": []object{
			{"type": "diff", "changes": []object{{"operation": "add", "path": "/" + text("diff")}}, "patch": object{"format": "git_patch", "text": text("patch")}}}})
		update("terminal_update", object{"terminalId": text("terminal"), "command": text("terminal command"), "cwd": "/" + text("cwd")})
		update("notice", object{"severity": "warning", "title": text("notice"), "description": text("notice description")})
		update("plan_update", object{"plan": object{"type": "items", "planId": text("plan id"), "entries": []object{{"content": text("plan"), "priority": "high", "status": "pending"}}}})
		update(text("unknown update"), object{})
		send(object{"id": "ask", "method": "session/request_permission", "params": object{"sessionId": text("session"), "title": text("question"), "description": text("question description"),
			"subject": object{"type": "command", "command": text("run"), "cwd": "/" + text("run cwd")}, "options": []object{{"optionId": text("choice id"), "name": text("choice"), "kind": "allow_once"}}}})
	case nil: // the answer
		update("state_update", object{"state": "idle", "stopReason": text("stop reason")})
	default:
		return false
	}
	return true
}

// turn sends each kind of update and then asks for everything.
func (a *agent) turn(session string) {
	content := func(tag string) object { return object{"type": "text", "text": "<" + tag + ">" + hostile} }
	title, line := text("title"), text("run")
	if a.play == "megabyte" {
		title, line = strings.Repeat("M", 1<<20), "touch ran; echo "+strings.Repeat("M", 1<<20)
	}
	for _, u := range []object{
		{"sessionUpdate": "agent_thought_chunk", "content": content("thought")},
		{"sessionUpdate": "agent_message_chunk", "content": content("said")},
		{"sessionUpdate": "agent_message_chunk", "content": object{"type": "resource_link", "uri": "file:///" + text("uri"), "name": text("link"), "title": text("link title")}},
		{"sessionUpdate": "plan", "entries": []object{{"content": text("plan"), "priority": "high", "status": "pending"}}},
		{"sessionUpdate": "session_info_update", "title": text("session title")},
		{"sessionUpdate": text("unknown update")},
		{"sessionUpdate": "tool_call", "toolCallId": text("call"), "title": title, "kind": "edit", "status": "pending",
			"locations": []object{{"path": "/" + text("location"), "line": 1}}, "rawInput": object{"command": text("raw")}},
		{"sessionUpdate": "tool_call_update", "toolCallId": text("call"), "status": "failed", "content": []object{
			{"type": "content", "content": content("tool output")},
			{"type": "diff", "path": "/" + text("diff"), "oldText": "<old>" + hostile, "newText": "<new>" + hostile}},
			"rawOutput": object{"error": text("raw output")}},
	} {
		a.update(session, u)
	}
	send(object{"method": text("notification"), "params": object{}})
	send(object{"method": "_" + text("extension"), "params": object{}})
	send(object{"method": "session/update", "params": object{"sessionId": text("session"), text("member"): 1, "update": object{"sessionUpdate": "plan", "entries": text("entries")}}})
	a.wait = []object{
		{"method": "session/request_permission", "params": object{"sessionId": session,
			"toolCall": object{"toolCallId": text("call"), "title": title, "kind": "execute", "rawInput": object{"command": text("raw"), "cwd": "/" + text("raw cwd")}},
			"options":  []object{{"optionId": text("choice id"), "name": text("choice"), "kind": "allow_once"}, {"optionId": "2", "name": text("other choice"), "kind": text("kind")}}}},
		{"method": "fs/write_text_file", "params": object{"sessionId": session, "path": a.cwd + "/<file>" + hostile, "content": "<written>" + hostile}},
		{"method": "fs/read_text_file", "params": object{"sessionId": session, "path": "/<read>" + hostile}},
		{"method": "terminal/create", "params": object{"sessionId": session, "command": "sh", "args": []string{"-c", line}}},
		{"method": "elicitation/create", "params": object{"sessionId": session, "mode": "form", "message": text("form"), "requestedSchema": object{"type": "object",
			"title": text("form title"), "properties": object{"p": object{"type": "string", "title": text("field"), "description": text("field description"), "enum": []string{text("enum"), "b"}}}}}},
		{"method": text("request"), "params": object{}},
	}
	a.next()
}

// next asks for the next thing, or answers the prompt.
func (a *agent) next() {
	if a.id == nil {
		return
	}
	if len(a.wait) > 0 {
		a.asks++
		m := a.wait[0]
		m["id"] = fmt.Sprint("ask ", a.asks)
		a.wait = a.wait[1:]
		send(m)
		return
	}
	if a.play == "end" {
		send(object{"id": a.id, "error": object{"code": -32603, "message": text("message"), "data": object{"details": text("details")}}})
	} else {
		send(object{"id": a.id, "result": object{"stopReason": "end_turn"}})
	}
	a.id = nil
}
