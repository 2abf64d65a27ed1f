package tools

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/panics"
)

// atOnce is the maximum number of calls that run at the same time.
const atOnce = 4

var errNoSession = errors.New("tools: Env.Session is nil: pass a session, such as conn.Session(id)")

func newID() acp.ToolCallID { return acp.ToolCallID("call_" + rand.Text()) }

// Announce shows a call whose input is not complete. The caller sets Request.ToolCallID to the
// returned id.
func (r *Registry) Announce(ctx context.Context, env Env, name string) (acp.ToolCallID, error) {
	if env.Session == nil {
		return "", errNoSession
	}
	t := r.find(name)
	if t == nil {
		t = unknown(name)
	}
	call := &acp.ToolCall{ToolCallID: newID(), Title: cmp.Or(t.Title, t.Name), Name: t.Name, Kind: t.Kind, Status: acp.ToolCallStatusPending}
	return call.ToolCallID, env.Session.Update(ctx, call)
}

// Run runs the calls of one answer of the model, and returns a result for each call, in their
// order.
//
// The error is not nil if the turn must end: ctx is done, the person has cancelled the turn
// (errors.Is(err, acp.ErrTurnCancelled)), or the session cannot be reached. The outcome of calls
// that have not run by then is Cancelled or Failed.
func (r *Registry) Run(ctx context.Context, env Env, requests []Request) ([]Done, error) {
	if env.Session == nil {
		return nil, errNoSession
	}
	if env.Logger == nil {
		env.Logger = slog.Default()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	b := &batch{registry: r, env: env, ctx: ctx, cancel: cancel}
	all := make([]Done, len(requests))
	var reads sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i, req := range requests {
		if len(req.Input) == 0 {
			req.Input = json.RawMessage("{}")
		}
		all[i].Request = req
		if t := r.find(req.Name); t != nil && t.Effect == Reads {
			slots <- struct{}{} // released when the call has ended, which it does when ctx is done
			reads.Go(func() {   // ends with its call
				defer func() { <-slots }()
				b.run(&all[i])
			})
			continue
		}
		reads.Wait()
		b.run(&all[i])
	}
	reads.Wait()
	err := context.Cause(ctx)
	if b.lost != nil && !errors.Is(err, b.lost) { // the turn had been cancelled before
		err = errors.Join(err, b.lost)
	}
	return all, err
}

// batch is the state of one Run.
type batch struct {
	registry *Registry
	env      Env
	ctx      context.Context
	cancel   context.CancelCauseFunc // ends the turn

	mu   sync.Mutex
	lost error // why something could not be sent or stored
}

// fail ends the turn, because something could not be sent or stored.
func (b *batch) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lost == nil {
		b.lost = err
	}
	b.cancel(err)
}

// unknown stands in for a tool that does not exist. Models invent names of any length.
func unknown(name string) *Tool {
	short := strings.ToValidUTF8(name[:min(len(name), maxName)], "")
	return &Tool{Name: short, Title: cmp.Or(short, "Unknown tool"), Kind: acp.ToolKindOther}
}

const (
	maxName  = 256     // bytes of the name of a tool that does not exist
	maxInput = 1 << 20 // bytes of an input; it is stored several times
	maxDepth = 256     // levels of an input; a connection accepts about a thousand in a message
)

// inputOf returns the JSON object that the model has sent, maybe as a text. The error is meant for the
// model, which reads also what is wrong with the input for a tool that does not exist.
func inputOf(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) > maxInput {
		return nil, Failf("The input of the call has %d KiB, and %d KiB are allowed. Make several smaller calls.", len(raw)>>10, maxInput>>10)
	}
	var text string
	if json.Unmarshal(raw, &text) == nil && isObject(json.RawMessage(text)) {
		raw = json.RawMessage(text)
	}
	if !isObject(raw) {
		return nil, Failf("The input of the call is not a JSON object. Call the tool again with all of its input.")
	}
	if depth(raw) > maxDepth {
		return nil, Failf("The input of the call is nested too deeply: %d levels are allowed. Call the tool again with less.", maxDepth)
	}
	return bytes.Clone(raw), nil
}

// depth returns the number of levels of valid JSON.
func depth(data []byte) (most int) {
	level, inText := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{', c == '[':
			level++
			most = max(most, level)
		case c == '}', c == ']':
			level--
		}
	}
	return most
}

// run handles one call.
func (b *batch) run(d *Done) {
	t := b.registry.find(d.Name)
	input, bad := inputOf(d.Input)
	bad = cmp.Or(d.Err, bad)
	c := &Call{tool: t, session: b.env.Session, id: d.ToolCallID, input: input}
	known := c.id != ""
	if !known {
		c.id = newID()
		d.ToolCallID = c.id
	}
	if t == nil {
		c.tool = unknown(d.Name)
		bad = Failf("There is no tool %q. The tools are: %s.", c.tool.Name, b.registry.names())
	}
	if bad == nil {
		c.summary = b.describe(c)
		bad = c.summary.Err
	}
	c.summary.Title = cmp.Or(c.summary.Title, c.tool.Title, c.tool.Name)
	if c.summary.Input == nil {
		c.summary.Input = c.input
	}
	c.locations, c.shown = c.summary.Locations, c.summary.Preview
	err := c.announce(b.ctx, known)
	if _, invalid := errors.AsType[*acp.InvalidError](err); invalid {
		b.env.Logger.Error("tools: a call cannot be shown", "tool", c.tool.Name, "error", err)
		c.summary, c.locations, c.shown = Summary{Title: cmp.Or(c.tool.Title, c.tool.Name)}, nil, nil
		bad = Failf("The call could not be shown to the person, so it did not run.")
		err = c.announce(b.ctx, known)
	}
	if err != nil {
		d.Outcome, d.Result = Failed, Text("The call could not be shown to the person, so it did not run.")
		b.fail(errors.Join(err, d.ended()))
		return
	}
	if bad == nil {
		bad = b.admit(c, d)
	}
	ran := bad == nil
	if ran {
		d.Result, bad = b.call(c)
	}
	b.settle(c, d, ran, bad)
}

func isObject(in json.RawMessage) bool {
	in = bytes.TrimLeft(in, " \t\r\n")
	return len(in) > 0 && in[0] == '{' && json.Valid(in)
}

func (b *batch) describe(c *Call) (s Summary) {
	if c.tool.Describe == nil {
		return Summary{}
	}
	err := panics.Guard(func() error { s = c.tool.Describe(b.ctx, c.Input()); return nil })
	if err != nil {
		b.env.Logger.Error("tools: Describe has panicked", "tool", c.tool.Name, "error", err)
		return Summary{}
	}
	if s.Rule != nil {
		rule := *s.Rule
		rule.Tool = c.tool.Name
		s.Rule = &rule
	}
	return s
}

// errRejected is the reason for which a call without permission does not run.
var errRejected = errors.New("rejected")

// admit returns nil when the call may run.
func (b *batch) admit(c *Call, d *Done) error {
	if err := context.Cause(b.ctx); err != nil {
		return err
	}
	decision := Ask
	if b.env.Gate != nil {
		if err := panics.Guard(func() error { decision = b.env.Gate(b.ctx, c); return nil }); err != nil {
			return err
		}
	} else if c.tool.Effect == Reads {
		decision = Allow
	}
	rule := c.summary.Rule
	switch {
	case decision == Allow:
	case decision != Ask:
		return errRejected
	case rule != nil && b.env.Rules != nil && b.env.Rules.has(*rule):
	default:
		if err := b.ask(c, rule); err != nil {
			return err
		}
	}
	// The update is sent before the call runs, so that a session that stores updates has stored it
	// by then.
	err := c.change(b.ctx, func(u *acp.ToolCallUpdate) { u.Status = acp.ToolCallStatusInProgress })
	if err == nil && d.Began != nil {
		err = panics.Guard(d.Began)
	}
	if err != nil {
		b.fail(err)
	}
	return err
}

// ask asks the person for permission.
func (b *batch) ask(c *Call, rule *Rule) error {
	options := []acp.PermissionOption{{OptionID: "allow_once", Name: "Allow once", Kind: acp.PermissionOptionKindAllowOnce}}
	if rule != nil && b.env.Rules != nil {
		options = append(options, acp.PermissionOption{OptionID: "allow_always", Name: "Always allow " + rule.Label, Kind: acp.PermissionOptionKindAllowAlways})
	}
	options = append(options, acp.PermissionOption{OptionID: "reject_once", Name: "Reject", Kind: acp.PermissionOptionKindRejectOnce})
	choice, err := b.env.Session.AskPermission(b.ctx, c.pending(), options...)
	switch {
	case errors.Is(err, acp.ErrTurnCancelled), err != nil && b.ctx.Err() != nil:
		b.cancel(err)
		return err
	case err != nil:
		b.env.Logger.Warn("tools: permission could not be asked for", "tool", c.tool.Name, "toolCallId", string(c.id), "error", err)
		return Failf("Permission could not be asked for, so the call did not run.")
	case !agent.Allows(choice):
		return errRejected
	case choice.Kind == acp.PermissionOptionKindAllowAlways:
		return b.env.Rules.set(b.ctx, *rule)
	}
	return context.Cause(b.ctx)
}

// call runs the tool.
func (b *batch) call(c *Call) (r Result, err error) {
	fault := panics.Guard(func() error { r, err = c.tool.Run(b.ctx, c); return nil })
	if fault != nil {
		return Result{}, fault
	}
	return r, err
}

// settle reports how a call has ended.
func (b *batch) settle(c *Call, d *Done, ran bool, err error) {
	_, known := errors.AsType[acp.ToolFailure](err)
	var u *acp.ToolCallUpdate
	switch {
	case err == nil:
		d.Outcome = Completed
		d.bound()
		u = completed(&d.Result)
	case errors.Is(err, errRejected):
		d.Outcome, d.Result = Rejected, Text("The person rejected this call. Do not try it again in another way; go on without it, or ask what to do.")
		u = failed("Rejected by the user")
	case errors.Is(err, acp.ErrTurnCancelled) || b.ctx.Err() != nil && !known:
		d.Outcome, d.Result = Cancelled, Text("The call was cancelled before it ran.")
		if ran {
			d.Result = Text("The call was cancelled. It may have taken effect in part.")
		}
		u = failed("Cancelled")
	default:
		d.Outcome = Failed
		if errors.Is(err, context.DeadlineExceeded) && !known {
			err = Failf("The call took too long and was stopped. It may have taken effect in part.")
		} else if !known {
			b.env.Logger.Error("tools: a call failed", "tool", c.tool.Name, "toolCallId", string(c.id), "error", err)
		}
		u = acp.FailToolCall(c.id, err)
		d.Result = Result{Model: []Part{{Text: texts(u.Content)}}, Content: u.Content}
		d.bound()
		u.Content = d.Content
	}
	if err := errors.Join(d.ended(), c.end(b.ctx, u, d.Model)); err != nil {
		b.fail(err)
	}
}

// ended calls Ended.
func (d *Done) ended() error {
	if d.Ended == nil {
		return nil
	}
	return panics.Guard(func() error { return d.Ended(*d) })
}

func failed(text string) *acp.ToolCallUpdate {
	return &acp.ToolCallUpdate{Status: acp.ToolCallStatusFailed, Content: []acp.ToolCallContent{acp.ToolText(text)}}
}

// texts returns the texts in content, joined.
func texts(content []acp.ToolCallContent) (joined string) {
	for _, x := range content {
		if c, ok := x.(*acp.Content); ok {
			if text, ok := c.Content.(*acp.TextContent); ok {
				if joined != "" {
					joined += "\n"
				}
				joined += text.Text
			}
		}
	}
	return cmp.Or(joined, "The call failed.")
}
