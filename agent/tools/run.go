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
	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/errs"
	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// atOnce is the maximum number of calls that run at the same time.
const atOnce = 4

var errNoSession = errors.New("tools: Env.Session is nil: pass a session, such as conn.Session(id)")

// usable returns what is wrong with the tools or with env.
func (r *Registry) usable(env Env) error {
	if env.Session == nil {
		return errNoSession
	}
	return r.err
}

func newID() acp.ToolCallID { return acp.ToolCallID("call_" + rand.Text()) }

// Announce shows a call whose input is not complete. The caller sets Request.ToolCallID to the
// returned id.
func (r *Registry) Announce(ctx context.Context, env Env, name string) (acp.ToolCallID, error) {
	if err := r.usable(env); err != nil {
		return "", err
	}
	t := r.find(name)
	if t == nil {
		t = unknown(name)
	}
	call := &acp.ToolCall{ToolCallID: newID(), Title: safetext.Label(cmp.Or(t.Title, t.Name)), Name: t.Name, Kind: t.Kind, Status: acp.ToolCallStatusPending}
	return call.ToolCallID, env.Session.Update(ctx, call)
}

// Run runs the calls of one answer of the model, and returns a result for each call, in their
// order.
//
// The error is not nil if the turn must end: ctx is done, the person has cancelled the turn
// (errors.Is(err, acp.ErrTurnCancelled)), or the session cannot be reached. The outcome of calls
// that have not run by then is Cancelled or Failed.
func (r *Registry) Run(ctx context.Context, env Env, requests []Request) ([]Done, error) {
	if err := r.usable(env); err != nil {
		return nil, err
	}
	env.Logger = cmp.Or(env.Logger, slog.Default())
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

// unknown stands in for a tool that does not exist. Models invent any name.
func unknown(name string) *Tool {
	short := safetext.Label(name)
	return &Tool{Name: short, Title: cmp.Or(short, "Unknown tool"), Kind: acp.ToolKindOther}
}

const (
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
	if tooDeep(raw) {
		return nil, Failf("The input of the call is nested too deeply: %d levels are allowed. Call the tool again with less.", maxDepth)
	}
	return bytes.Clone(raw), nil
}

// tooDeep reports whether valid JSON has more than maxDepth levels.
func tooDeep(data []byte) bool {
	_, err := envelope.Skip(data, 0, maxDepth)
	return err != nil
}

func (b *batch) run(d *Done) {
	t := b.registry.find(d.Name)
	input, bad := inputOf(d.Input)
	bad = cmp.Or(d.Err, bad)
	c := &Call{tool: t, session: b.env.Session, id: d.ToolCallID, input: input, status: acp.ToolCallStatusPending}
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
	c.summary.Title = safetext.Label(cmp.Or(c.summary.Title, c.tool.Title, c.tool.Name))
	if c.summary.Input == nil {
		c.summary.Input = c.input
	}
	c.locations, c.shown = c.summary.Locations, c.summary.Preview
	err := c.announce(b.ctx, known)
	if _, invalid := errors.AsType[*acp.InvalidError](err); invalid {
		b.env.Logger.Error("tools: a call cannot be shown", "tool", c.tool.Name, "error", errs.LogText(err))
		c.summary, c.locations, c.shown = Summary{Title: safetext.Label(cmp.Or(c.tool.Title, c.tool.Name))}, nil, nil
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
	var u *acp.ToolCallUpdate
	if ran {
		u, bad = b.call(c, d)
	}
	b.settle(c, d, ran, u, bad)
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
	if err != nil { // nobody is asked about a call that is not described
		return Summary{Err: err}
	}
	if s.Rule != nil {
		rule := *s.Rule
		rule.Tool = cmp.Or(c.tool.ID, c.tool.Name)
		s.Rule = &rule
	}
	return s
}

// denial is why a call without permission does not run, for the person and for the model.
type denial struct {
	outcome       Outcome
	person, model string
}

func (d *denial) Error() string { return d.person }

const goOn = " Do not try it again in another way; go on without it, or ask what to do."

var errRejected = &denial{Rejected, "Rejected by the user", "The person rejected this call." + goOn}

// denied returns the denial of a Gate, which may have given a reason.
func (d Decision) denied() *denial {
	because := ""
	if d.reason != "" {
		because = ": " + safetext.Label(d.reason)
	}
	return &denial{Denied, "Denied by the agent" + because, "The agent does not allow this call" + strings.TrimSuffix(because, ".") + "." + goOn}
}

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
	case decision.verdict != Ask.verdict:
		return decision.denied()
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

func (b *batch) ask(c *Call, rule *Rule) error {
	options := []acp.PermissionOption{{OptionID: "allow_once", Name: "Allow once", Kind: acp.PermissionOptionKindAllowOnce}}
	if rule != nil && b.env.Rules != nil {
		always := "Always allow " + rule.Label
		if always == safetext.Label(always) { // otherwise it does not say what is allowed
			options = append(options, acp.PermissionOption{OptionID: "allow_always", Name: always, Kind: acp.PermissionOptionKindAllowAlways})
		}
	}
	options = append(options, acp.PermissionOption{OptionID: "reject_once", Name: "Reject", Kind: acp.PermissionOptionKindRejectOnce})
	choice, err := b.env.Session.AskPermission(b.ctx, c.pending(), options...)
	switch {
	case errors.Is(err, acp.ErrTurnCancelled), err != nil && b.ctx.Err() != nil:
		b.cancel(err)
		return err
	case err != nil:
		b.env.Logger.Warn("tools: permission could not be asked for", "tool", c.tool.Name, "toolCallId", string(c.id), "error", errs.LogText(err))
		return Failf("Permission could not be asked for, so the call did not run.")
	case !agent.Allows(choice):
		return errRejected
	case choice.Kind == acp.PermissionOptionKindAllowAlways:
		return b.env.Rules.set(b.ctx, *rule)
	}
	return context.Cause(b.ctx)
}

// call runs the tool, and returns the last update of a call that has succeeded. The result is the
// tool's: to read it can panic too.
func (b *batch) call(c *Call, d *Done) (u *acp.ToolCallUpdate, err error) {
	fault := panics.Guard(func() error {
		if d.Result, err = c.tool.Run(b.ctx, c); err == nil {
			d.bound()
			u = completed(&d.Result)
		}
		return nil
	})
	return u, cmp.Or(fault, err)
}

// look reports whether err means that the turn was cancelled, or that the time was over. The error
// is the tool's, whose methods may panic; FailedCall of the Session then says what is wrong.
func (b *batch) look(err error) (cancelled, late bool) {
	over := b.ctx.Err() != nil
	fault := panics.Contained(func() {
		_, meant := errors.AsType[acp.ToolFailure](err)
		cancelled = errors.Is(err, acp.ErrTurnCancelled) || over && !meant
		late = errors.Is(err, context.DeadlineExceeded) && !meant
	})
	if fault != nil {
		return over, false
	}
	return cancelled, late
}

// settle reports how a call has ended: with the update u, or with err.
func (b *batch) settle(c *Call, d *Done, ran bool, u *acp.ToolCallUpdate, err error) {
	if no, ok := err.(*denial); ok {
		d.Outcome, d.Result = no.outcome, Text(no.model)
		u = failed(no.person)
	} else if err == nil {
		d.Outcome = Completed
	} else if cancelled, late := b.look(err); cancelled {
		d.Outcome, d.Result = Cancelled, Text("The call was cancelled before it ran.")
		if ran {
			d.Result = Text("The call was cancelled. It may have taken effect in part.")
		}
		u = failed("Cancelled")
	} else {
		d.Outcome = Failed
		if late {
			err = Failf("The call took too long and was stopped. It may have taken effect in part.")
		}
		u = b.env.Session.FailedCall(b.ctx, c.id, err)
		d.Result = Result{Model: []Part{{Text: forModel(u)}}, Content: u.Content}
		d.bound()
		u.Content = d.Content
	}
	if err := errors.Join(d.ended(), c.end(b.ctx, u, d.Model)); err != nil {
		b.fail(err)
	}
}

func (d *Done) ended() error {
	if d.Ended == nil {
		return nil
	}
	return panics.Guard(func() error { return d.Ended(*d) })
}

func failed(text string) *acp.ToolCallUpdate {
	return &acp.ToolCallUpdate{Status: acp.ToolCallStatusFailed, Content: []acp.ToolCallContent{acp.ToolText(text)}}
}

// forModel returns what the model reads of a failed call: the texts for the person, and if the error has a
// reason, such as a code of package rpcerr/toolcode, the JSON object of that package with both.
func forModel(u *acp.ToolCallUpdate) string {
	text := texts(u.Content)
	record, ok := kind.FromRawOutput(u.RawOutput)
	word := ok && record.Reason != "" && strings.Trim(record.Reason, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
	if !word || record.Code != "" { // a Code is in the text already
		return text
	}
	b, _ := json.Marshal(struct {
		Error   string `json:"error"`
		Message string `json:"message"`
	}{record.Reason, clip(strings.TrimPrefix(text, "Error: "), maxMessage)}) // two strings
	return string(b)
}

func texts(content []acp.ToolCallContent) (joined string) {
	for _, x := range content {
		if text := textOf(x); text != nil {
			if joined != "" {
				joined += "\n"
			}
			joined += text.Text
		}
	}
	return cmp.Or(joined, "The call failed.")
}
