package worker

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/router/adapter"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/classify"
)

// A turn carries out one prompt.
type turn struct {
	worker  *worker
	session *session
	out     *agent.Session
}

func (w *worker) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	s, err := w.session(req.SessionID)
	if err != nil {
		return nil, err
	}
	if !s.begin() {
		return nil, rpcerr.InvalidRequest(nil).WithDetail("a prompt is already running in this session")
	}
	defer s.end()

	t := &turn{worker: w, session: s, out: w.conn.Session(s.ID)}
	id, ok := adapter.UserMessageID(ctx)
	if !ok { // the client speaks version 1, in which a prompt has no id
		id = newMessageID()
	}
	for _, block := range req.Prompt {
		s.remember(&acp.UserMessageChunk{MessageID: id, Content: block})
	}
	err = t.run(ctx, promptText(req.Prompt))
	if saveErr := w.store.save(s.snapshot()); err == nil {
		err = saveErr
	}
	if err != nil {
		return nil, err
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

// promptText is what the user typed. Files that the client attached are left out:
// this agent reads files when it is asked to.
func promptText(blocks []acp.ContentBlock) string {
	var lines []string
	for _, b := range blocks {
		if text, ok := b.(*acp.TextContent); ok {
			lines = append(lines, text.Text)
		}
	}
	return strings.Join(lines, "\n")
}

func (t *turn) run(ctx context.Context, prompt string) error {
	if title, named := t.session.nameAfter(prompt); named {
		if err := t.out.Title(ctx, title); err != nil {
			return err
		}
	}
	prompt = strings.TrimPrefix(strings.TrimSpace(prompt), "/") // commands read like requests
	requests, planned, err := parse(prompt)
	if err != nil || len(requests) == 0 {
		return t.explain(ctx, prompt, err)
	}
	if len(requests) > 1 || planned {
		if err := t.out.Thought(ctx, "That is more than one thing to do, so I make a plan."); err != nil {
			return err
		}
		return t.followPlan(ctx, requests)
	}
	_, err = t.carryOut(ctx, requests[0])
	return err
}

func (t *turn) explain(ctx context.Context, prompt string, err error) error {
	if err != nil && !strings.EqualFold(prompt, "help") {
		return t.say(ctx, "That was "+err.Error()+".\n\n"+usage)
	}
	return t.say(ctx, usage)
}

// followPlan shows the plan and how far it has come. A step that fails does not
// keep the others from being tried.
func (t *turn) followPlan(ctx context.Context, requests []request) error {
	plan := make([]acp.PlanEntry, len(requests))
	for i, r := range requests {
		plan[i] = acp.PlanEntry{Content: r.title(), Priority: acp.PlanEntryPriorityMedium, Status: acp.PlanEntryStatusPending}
	}
	failed := 0
	for i, r := range requests {
		plan[i].Status = acp.PlanEntryStatusInProgress
		if err := t.out.Plan(ctx, plan...); err != nil {
			return err
		}
		done, err := t.carryOut(ctx, r)
		if err != nil {
			return err
		}
		if !done {
			failed++
		}
		// A plan has no entry that failed: what was tried is done with.
		plan[i].Status = acp.PlanEntryStatusCompleted
	}
	if err := t.out.Plan(ctx, plan...); err != nil {
		return err
	}
	t.session.remember(&acp.Plan{Entries: plan})
	if failed > 0 {
		return t.say(ctx, "Not everything worked; see above.\n")
	}
	return t.say(ctx, "Everything is done.\n")
}

// say streams text to the user, a line at a time as a model would, and remembers it under the
// same id, by which a client that has it finds it again.
func (t *turn) say(ctx context.Context, text string) error {
	id := newMessageID()
	t.session.remember(&acp.AgentMessageChunk{MessageID: id, Content: acp.Text(text)})
	for line := range strings.Lines(text) {
		if err := t.out.Update(ctx, &acp.AgentMessageChunk{MessageID: id, Content: acp.Text(line)}); err != nil {
			return err
		}
	}
	return nil
}

// carryOut does one request as a tool call and shows the user the result. An
// error ends the turn; a failed tool call is not an error.
func (t *turn) carryOut(ctx context.Context, r request) (done bool, err error) {
	path := t.absolute(r.path)
	announced := &acp.ToolCall{Title: r.title(), Kind: r.kind()}
	if r.verb != verbRun && r.verb != verbSearch {
		announced.Locations = []acp.ToolCallLocation{{Path: path}}
	}
	if r.verb == verbRun {
		announced.RawInput = t.commandInput(r.command)
	}
	call, err := t.out.StartToolCall(ctx, announced)
	if err != nil {
		return false, err
	}
	result, toolErr := t.tool(r.verb)(ctx, call, path, r)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	toolErr = readable(toolErr)

	memory := *announced
	memory.ToolCallID = call.ID()
	if toolErr != nil {
		update := acp.FailToolCall(call.ID(), toolErr)
		memory.Status, memory.Content = update.Status, update.Content
		err = call.Fail(ctx, toolErr)
	} else {
		memory.Status, memory.Content = acp.ToolCallStatusCompleted, result.content
		err = call.Update(ctx, &acp.ToolCallUpdate{
			Status: acp.ToolCallStatusCompleted, Content: result.content, Locations: result.locations,
		})
	}
	t.session.remember(&memory)
	if err != nil {
		return false, err
	}
	if toolErr != nil {
		return false, t.say(ctx, r.title()+" did not work: "+message(toolErr)+".\n"+result.told)
	}
	return true, t.say(ctx, result.told)
}

// readable returns an error for the user. An error that was not written for users, such as one
// of a full disk, becomes its kind. The log has its text.
func readable(err error) error {
	if missing, ok := errors.AsType[*acp.CapabilityError](err); ok {
		return rpcerr.InvalidRequest(nil).WithDetail("this client does not offer " + missing.Capability).WithCause(err)
	}
	_, own := errors.AsType[acp.ToolFailure](err)
	_, explicit := rpcerr.CodeOf(err)
	if err == nil || own || explicit {
		return err
	}
	e := classify.Error(err)
	slog.Warn("a tool failed", "error", e)
	return e.WithLogged()
}

// message returns the text of an error that was written for users, and otherwise the
// message that a client would receive.
func message(err error) string {
	if failure, ok := errors.AsType[acp.ToolFailure](err); ok {
		return failure.Error()
	}
	return rpcerr.From(err).Message
}

// absolute resolves a path the user typed against the session's folder. The client
// may run on another kind of system, so both kinds of absolute paths are known.
func (t *turn) absolute(path string) string {
	windows := len(path) > 2 && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
	if strings.HasPrefix(path, "/") || strings.HasPrefix(path, `\\`) || windows {
		return path
	}
	cwd := strings.TrimRight(t.session.CWD, `/\`)
	if path == "" || path == "." {
		return cwd
	}
	return cwd + "/" + strings.TrimPrefix(path, "./")
}
