package interop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The prompts of version 2 with which the agent asks.

func (t turn2) question(kind string) *acp.RequestPermissionRequest {
	req := &acp.RequestPermissionRequest{Title: "Edit a.txt?", Description: "It changes one line."}
	for _, kind := range []acp.PermissionOptionKind{"allow_once", "allow_always", "reject_once", "reject_always", "_ask_later"} {
		req.Options = append(req.Options, acp.PermissionOption{OptionID: acp.PermissionOptionID("id-" + kind), Name: string(kind), Kind: kind})
	}
	switch kind {
	case "tool_call":
		req.Subject = &acp.ToolCallPermissionSubject{ToolCall: acp.ToolCallUpdate{
			ToolCallID: "call-1", Title: acp.Some("Edit a.txt"), Kind: acp.Some(acp.ToolKindEdit), Status: acp.Some(acp.ToolCallStatusPending),
			Content:   acp.Some([]acp.ToolCallContent{agent.Diff(t.file(), new("old\n"), new("new\n"))}),
			Locations: acp.Some([]acp.ToolCallLocation{{Path: acp.AbsolutePath(t.file()), Line: new(uint32(1))}}),
			RawInput:  json.RawMessage(`{"path":"a.txt"}`),
		}}
	case "command":
		req.Subject = &acp.CommandPermissionSubject{Command: "make all", Cwd: t.session.cwd, ToolCallID: "call-1"}
	case "other":
		req.Subject = &acp.UnknownRequestPermissionSubject{Type: "_network", Raw: json.RawMessage(`{"type":"_network","host":"example.com"}`)}
	}
	return req
}

// ask asks, and says the outcome.
func (t turn2) ask(ctx context.Context, kind string) (acp.StopReason, error) {
	answer, err := t.out.RequestPermission(ctx, t.question(kind))
	t.tell("permission", answer, err)
	switch {
	case ctx.Err() != nil: // taken back
		return t.say(fmt.Sprintf("error %d", rpcerr.CodeRequestCancelled))
	case err != nil:
		code, _ := rpcerr.CodeOf(rpcerr.From(err))
		return t.say(fmt.Sprintf("error %d", code))
	}
	switch o := answer.Outcome.(type) {
	case *acp.SelectedPermissionOutcome:
		return t.say("selected " + string(o.OptionID))
	case *acp.UnknownRequestPermissionOutcome:
		return t.say(o.Type)
	}
	return t.say("cancelled")
}

func (t turn2) permission() (acp.StopReason, error) {
	kind := "tool_call"
	if len(t.args) > 0 {
		kind = t.args[0]
	}
	return t.ask(t.ctx, kind)
}

// waitPermission asks detached from the turn's end, so that the answer to a cancelled turn
// is seen.
func (t turn2) waitPermission() (acp.StopReason, error) {
	reason, err := t.ask(context.WithoutCancel(t.ctx), "tool_call")
	<-t.ctx.Done()
	return reason, err
}

// takeback takes its question back once the client has it.
func (t turn2) takeback() (acp.StopReason, error) {
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	said := make(chan error, 1)
	go func() { // ends when the call does: it is cancelled below
		_, err := t.ask(ctx, "none")
		said <- err
	}()
	err := t.conn.Call(t.ctx, "_interop/client_echo", map[string]string{"after": acp.MethodSessionRequestPermission}, nil)
	cancel()
	if asked := <-said; err == nil {
		err = asked
	}
	return acp.StopReasonEndTurn, err
}

// form asks with one field of each kind, then with forms that are declined and postponed.
func (t turn2) form() (acp.StopReason, error) {
	_, _ = t.elicit(t.ctx, "form", settingsFormat, t.session.id) // the journal has the error
	_, _ = t.elicit(t.ctx, "form declined", emptyFormat, t.session.id, "Decline me")
	_, _ = t.elicit(t.ctx, "form postponed", emptyFormat, t.session.id, "Postpone me")
	return acp.StopReasonEndTurn, nil
}

func (t turn2) url() (acp.StopReason, error) {
	_, _ = t.elicit(t.ctx, "url", pageFormat, t.session.id) // the journal has the error
	if err := t.conn.CompleteElicitation(t.ctx, &acp.CompleteElicitationNotification{ElicitationID: "el-1"}); err != nil {
		return "", err
	}
	return t.say("completed")
}

// The background work of the agent of version 2: a tool call, which asks, and a terminal.

func (t turn2) background() (acp.StopReason, error) {
	call := &acp.ToolCallUpdate{
		ToolCallID: "call-4", Title: acp.Some("Watch"), Kind: acp.Some(acp.ToolKindExecute), Status: acp.Some(acp.ToolCallStatusInProgress),
		Capabilities: acp.Some(acp.ToolCallCapabilities{Cancel: &acp.ToolCallCancelCapabilities{}}),
	}
	if _, err := t.send(call); err != nil {
		return "", err
	}
	var asking sync.WaitGroup
	asked, err := t.leave(&acp.BackgroundToolCall{ToolCallID: "call-4"}, "call-4", func(t turn2) (acp.StopReason, error) {
		asking.Wait() // its question is over before it is
		return t.send(&acp.ToolCallUpdate{
			ToolCallID: "call-4", Status: acp.Some(acp.ToolCallStatusCancelled), Capabilities: acp.Null[acp.ToolCallCapabilities](),
		})
	})
	if err != nil {
		return "", err
	}
	id := t.terminalID()
	_, err = t.send(&acp.TerminalUpdate{
		TerminalID: id, Command: acp.Some("tail -f log"), Cwd: acp.Some(t.session.cwd),
		Capabilities: acp.Some(acp.TerminalCapabilities{Cancel: &acp.TerminalCancelCapabilities{}}),
	})
	if err != nil {
		return "", err
	}
	_, err = t.leave(&acp.BackgroundTerminal{TerminalID: id}, string(id), func(t turn2) (acp.StopReason, error) {
		return t.send(&acp.TerminalUpdate{
			TerminalID: id, ExitStatus: acp.Some(acp.TerminalExitStatus{Signal: "SIGTERM"}), Capabilities: acp.Null[acp.TerminalCapabilities](),
		})
	})
	asking.Go(func() { // ends with the tool call
		req := t.question("none")
		req.Title = "Watch?"
		req.Subject = &acp.ToolCallPermissionSubject{ToolCall: acp.ToolCallUpdate{ToolCallID: "call-4", Title: acp.Some("Watch")}}
		answer, err := t.out.RequestPermission(asked, req)
		t.tell("background permission", answer, err)
	})
	return acp.StopReasonEndTurn, err
}

// leave begins background work, which lasts until it is cancelled by its id or the session
// is closed. Its ctx is returned. end reports the end.
func (t turn2) leave(item acp.BackgroundWork, id string, end func(turn2) (acp.StopReason, error)) (context.Context, error) {
	b, err := t.out.StartBackground(t.ctx, item)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(b.Context())
	t.mu.Lock()
	t.session.cancels[id] = cancel
	t.mu.Unlock()
	go func() { // ends with ctx
		<-ctx.Done()
		t.mu.Lock()
		delete(t.session.cancels, id)
		t.mu.Unlock()
		t.ctx = b.Context()
		_, err := end(t)
		t.tell("end of "+id, nil, err)
		t.tell("end of "+id, nil, b.End(b.Context()))
	}()
	return ctx, nil
}

// cancelOne cancels background work. Its end is reported after the response.
func (p *goAgent2) cancelOne(ctx context.Context, s *goSession2, member, id string) error {
	p.mu.Lock()
	cancel := s.cancels[id]
	delete(s.cancels, id)
	p.mu.Unlock()
	if cancel == nil {
		return rpcerr.InvalidParams(map[string]any{member: id}).WithDetail("it cannot be cancelled")
	}
	agent.AfterResponse(ctx, func(context.Context) { cancel() })
	return nil
}
