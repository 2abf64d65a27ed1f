package interop_test

import (
	"context"
	"sync"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent/v2"
	"github.com/acpkit/go-sdk/rpcerr"
)

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
func (p *goAgent2) cancelOne(ctx context.Context, session acp.SessionID, member, id string) error {
	s, err := p.find(session)
	if err != nil {
		return err
	}
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

func (p *goAgent2) CancelToolCall(ctx context.Context, req *acp.CancelToolCallRequest) (*acp.CancelToolCallResponse, error) {
	p.note(acp.MethodToolCallCancel, req)
	return nil, p.cancelOne(ctx, req.SessionID, "toolCallId", string(req.ToolCallID))
}

func (p *goAgent2) CancelTerminal(ctx context.Context, req *acp.CancelTerminalRequest) (*acp.CancelTerminalResponse, error) {
	p.note(acp.MethodTerminalCancel, req)
	return nil, p.cancelOne(ctx, req.SessionID, "terminalId", string(req.TerminalID))
}
