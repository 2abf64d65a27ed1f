package interop_test

import (
	"context"
	"encoding/json"
	"errors"
	"path"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/rpcerr"
)

// turn2 is the work on one prompt of version 2; its first word says what to do.
type turn2 struct {
	*goAgent2
	ctx     context.Context
	session *goSession2
	out     *agent.Session
	args    []string
}

func (p *goAgent2) prompt(ctx context.Context, s *goSession2, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	words := strings.Fields(acp.PlainText(req.Prompt[0]))
	t := turn2{goAgent2: p, ctx: ctx, session: s, out: p.conn.Session(s.id), args: words[1:]}
	switch words[0] {
	case "fail":
		return nil, t.failure("failed as asked", map[string]any{"word": t.args[1]})
	case "also":
		return t.also(req)
	}
	work := map[string]func(turn2) (acp.StopReason, error){
		"say": turn2.sayArgs, "order": turn2.order, "updates": turn2.updates, "messages": turn2.messages,
		"tool": turn2.tool, "plan": turn2.plan, "terminal": turn2.terminal, "background": turn2.background,
		"permission": turn2.permission, "wait-permission": turn2.waitPermission, "takeback": turn2.takeback,
		"form": turn2.form, "url": turn2.url, "wait": turn2.wait, "extension": func(t turn2) (acp.StopReason, error) { return acp.StopReasonEndTurn, t.callExtensions(t.ctx) }, "stop": turn2.stop,
	}[words[0]]
	if work == nil {
		return nil, rpcerr.InvalidParams(map[string]any{"prompt": words[0]}).WithDetail("unknown word")
	}
	inserted := make(chan acp.MessageID, 1)
	res, err := t.out.Accept(ctx, req, func(ctx context.Context) (acp.StopReason, error) {
		t.remember(&acp.UserMessage{MessageID: <-inserted, Content: acp.Some(req.Prompt)})
		t.ctx = ctx
		return work(t)
	})
	if err == nil {
		inserted <- res.MessageID
	}
	return res, err
}

// also adds a prompt to the work in progress.
func (t turn2) also(req *acp.PromptRequest) (*acp.PromptResponse, error) {
	id := agent.NewMessageID()
	if err := t.out.UserMessage(t.ctx, id, req.Prompt...); err != nil {
		return nil, err
	}
	_, err := t.sayArgs()
	return &acp.PromptResponse{MessageID: id}, err
}

func (t turn2) remember(u acp.SessionUpdate) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.session.history = append(t.session.history, u)
}

// send sends updates, and keeps them for a replay.
func (t turn2) send(updates ...acp.SessionUpdate) (acp.StopReason, error) {
	for _, u := range updates {
		t.remember(u)
		if err := t.out.Update(t.ctx, u); err != nil {
			return "", err
		}
	}
	return acp.StopReasonEndTurn, nil
}

func (t turn2) say(words ...string) (acp.StopReason, error) {
	id := agent.NewMessageID()
	for _, word := range words {
		if _, err := t.send(&acp.AgentMessageChunk{MessageID: id, Content: acp.Text(word)}); err != nil {
			return "", err
		}
	}
	return acp.StopReasonEndTurn, nil
}

func (t turn2) sayArgs() (acp.StopReason, error) { return t.say(t.args...) }

// order does what the SDK does: it has one order.
func (t turn2) order() (acp.StopReason, error) { return t.say(t.args[1:]...) }

func (t turn2) failure(message string, data any) error {
	code, err := strconv.Atoi(t.args[0])
	if err != nil {
		return rpcerr.InvalidParams(nil).WithCause(err)
	}
	return rpcerr.New(rpcerr.Code(code), message, data)
}

func (t turn2) stop() (acp.StopReason, error) {
	if t.args[0] == "error" {
		t.args = t.args[1:]
		return "", t.failure("stopped as asked", map[string]any{"why": "asked"})
	}
	return acp.StopReason(t.args[0]), nil
}

// updates sends all of peers/v2/updates.json.
func (t turn2) updates() (acp.StopReason, error) {
	for _, raw := range parse[[]json.RawMessage]("%s", updates2File) {
		u, err := acp.UnmarshalSessionUpdate(raw)
		if err != nil {
			return "", err
		}
		if err := t.out.Update(t.ctx, u); err != nil {
			return "", err
		}
	}
	return acp.StopReasonEndTurn, nil
}

func (t turn2) messages() (acp.StopReason, error) {
	text := func(words ...string) acp.Opt[[]acp.ContentBlock] {
		var all []acp.ContentBlock
		for _, word := range words {
			all = append(all, acp.Text(word))
		}
		return acp.Some(all)
	}
	thought, first, second := agent.NewMessageID(), agent.NewMessageID(), agent.NewMessageID()
	chunk := func(id acp.MessageID, word string) acp.SessionUpdate {
		return &acp.AgentMessageChunk{MessageID: id, Content: acp.Text(word)}
	}
	return t.send(
		&acp.AgentThought{MessageID: thought, Content: text("hmm")},
		&acp.AgentThoughtChunk{MessageID: thought, Content: acp.Text(", yes")},
		&acp.AgentMessage{MessageID: first, Content: text("draft")},
		chunk(second, "2a"),
		chunk(first, " more"),
		&acp.AgentMessage{MessageID: first, Content: text("final", " text")},
		chunk(second, "2b"),
		chunk(first, "."),
		&acp.AgentMessage{MessageID: second, Meta: acp.Meta{"signed": true}},
	)
}

func (t turn2) file() string { return path.Join(string(t.session.cwd), "a.txt") }

func (t turn2) tool() (acp.StopReason, error) {
	call := func(u acp.ToolCallUpdate) acp.SessionUpdate {
		u.ToolCallID = "call-2"
		return &u
	}
	content := func(item acp.ToolCallContent) acp.SessionUpdate {
		return &acp.ToolCallContentChunk{ToolCallID: "call-2", Content: item}
	}
	return t.send(
		call(acp.ToolCallUpdate{Title: acp.Some("Preparing"), Status: acp.Some(acp.ToolCallStatusPending)}),
		call(acp.ToolCallUpdate{
			Title: acp.Some("Edit a.txt"), Name: acp.Some("edit"), Kind: acp.Some(acp.ToolKindEdit), RawInput: json.RawMessage(`{"path":"a.txt"}`),
			Locations: acp.Some([]acp.ToolCallLocation{{Path: acp.AbsolutePath(t.file()), Line: new(uint32(1))}}),
		}),
		call(acp.ToolCallUpdate{Status: acp.Some(acp.ToolCallStatusInProgress), Content: acp.Some([]acp.ToolCallContent{acp.ToolText("reading")})}),
		content(acp.ToolText("writing")),
		content(agent.Diff(t.file(), new("old\n"), new("new\n"))),
		call(acp.ToolCallUpdate{Status: acp.Some(acp.ToolCallStatusCompleted), Title: acp.Null[string](), RawOutput: json.RawMessage(`{"lines":1}`)}),
	)
}

func (t turn2) plan() (acp.StopReason, error) {
	return t.send(&acp.PlanUpdate{Plan: &acp.PlanItems{PlanID: "plan-1", Entries: []acp.PlanEntry{
		{Content: "look", Priority: acp.PlanEntryPriorityMedium, Status: acp.PlanEntryStatusCompleted},
		{Content: "act", Priority: acp.PlanEntryPriorityMedium, Status: acp.PlanEntryStatusPending},
	}}})
}

// wait sends the message "waiting", blocks until a cancel or _interop/finish, and sends
// the message "stopping".
func (t turn2) wait() (acp.StopReason, error) {
	finished, finish := context.WithCancel(t.ctx)
	defer finish()
	t.mu.Lock()
	t.session.finish = finish
	t.mu.Unlock()
	if _, err := t.say("waiting"); err != nil {
		return "", err
	}
	<-finished.Done()
	return t.say("stopping")
}

// terminal shows a command whose output comes in two pieces, which part a character.
func (t turn2) terminal() (acp.StopReason, error) {
	term, err := t.out.StartTerminal(t.ctx, &acp.TerminalUpdate{
		TerminalID: t.terminalID(), Command: acp.Some("make"), Cwd: acp.Some(t.session.cwd), Size: acp.Some(acp.TerminalSize{Cols: 80, Rows: 24}),
	})
	if err != nil {
		return "", err
	}
	_, err = t.send(&acp.ToolCallUpdate{
		ToolCallID: "call-3", Title: acp.Some("make"), Kind: acp.Some(acp.ToolKindExecute), Status: acp.Some(acp.ToolCallStatusInProgress),
		Content: acp.Some([]acp.ToolCallContent{term.Content()}),
	})
	if err != nil {
		return "", err
	}
	output := []byte("built ü\n")
	_, first := term.Write(output[:7])
	_, second := term.Write(output[7:])
	if err := errors.Join(first, second, term.Exited(0)); err != nil {
		return "", err
	}
	return t.send(&acp.ToolCallUpdate{ToolCallID: "call-3", Status: acp.Some(acp.ToolCallStatusCompleted)})
}

func (t turn2) terminalID() acp.TerminalID {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.session.terminals++
	return acp.TerminalID(string(t.session.id) + "-term-" + strconv.Itoa(t.session.terminals))
}
