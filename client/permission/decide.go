package permission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/internal/panics"
)

// Reason is the source of a decision, or the reason why there was none.
type Reason string

// The values of [Reason].
const (
	// ByRule means a rule of the policy.
	ByRule Reason = "rule"
	// ByDefault means that no rule is about a read.
	ByDefault Reason = "default"
	// ByMemory means an earlier "always" decision of a person.
	ByMemory Reason = "memory"
	// ByGrant means that a person allowed the identical operation in the same turn.
	ByGrant Reason = "grant"
	// ByPerson means a person.
	ByPerson Reason = "person"
	// ByNoOne means that there is no one to ask.
	ByNoOne Reason = "no one"
	// ByTimeout means that the person did not choose in time.
	ByTimeout Reason = "timeout"
	// ByError means that Options.Ask failed, panicked, or returned the id of no option.
	ByError Reason = "error"
	// ByOptions means that the question had no options, or two with the same id.
	ByOptions Reason = "options"
	// ByLength means that the question is too long to be read by a person: its [Question.Lines] about
	// what would be done have more than 16 KiB, or the agent offers more than 32 options.
	ByLength Reason = "length"
	// ByCancel means that the turn was cancelled or the connection has ended.
	ByCancel Reason = "cancel"
)

// Outcome is the decision about a question.
type Outcome struct {
	// Decision is Allow or Deny; empty if the question was cancelled.
	Decision Decision
	// OptionID is the id of the chosen option. If it is empty, respond with the outcome
	// "cancelled".
	OptionID string
	By       Reason
}

// Record describes one decision, for an audit log.
type Record struct {
	Time time.Time
	// Question is the question that was decided. It must not be modified.
	Question *Question
	Outcome  Outcome
	// Rule is the name of the rule that decided, or because of which a person was asked.
	Rule string
	// Err is the error of Options.Ask, if it failed.
	Err error
}

// DeniedError is the error of an operation that was denied. The agent receives an error of the kind
// forbidden (-31005), without the reason.
type DeniedError struct {
	Operation Operation
	By        Reason
}

func (e *DeniedError) Error() string {
	return fmt.Sprintf("permission: the %s was denied (%s)", e.Operation.Action, e.By)
}

type decision struct {
	scope     *Scope
	q         *Question
	keys      []Key       // its keys in the memory
	whole     bool        // the keys identify all of the question
	certain   []Operation // the operations that a person allows with it
	variables []Variable  // shown to a person only
	rule      string
	err       error
}

// decide combines the decisions of the rules, the memory and a person. granted reports whether a
// person has allowed the operation before.
func (d *decision) decide(ctx context.Context, v verdict, granted func() bool) Outcome {
	d.rule = v.rule
	known := func() (Outcome, bool) { return d.known(ctx, v, granted) }
	if o, ok := known(); ok {
		return o
	}
	return d.ask(ctx, known)
}

// known decides without a person, if that is possible.
func (d *decision) known(ctx context.Context, v verdict, granted func() bool) (o Outcome, ok bool) {
	remembered := d.scope.recall(d.q.Session, d.keys, d.whole)
	switch {
	case ctx.Err() != nil || d.scope.isClosed():
		return d.cancelled(), true
	case v.decision == Deny:
		return d.deny(ByRule, ""), true
	case remembered == Deny:
		return d.deny(ByMemory, ""), true
	case granted != nil && granted():
		return d.allow(ByGrant), true
	case v.decision != Ask && remembered == Allow && d.q.only(AllowOnce) != "":
		return d.allow(ByMemory), true
	case v.decision == Allow && !v.decided:
		return d.allow(ByDefault), true
	case v.decision == Allow && d.q.unique(AllowOnce) != "":
		return d.allow(ByRule), true
	}
	return Outcome{}, false
}

// allow answers with the option allow_once.
func (d *decision) allow(by Reason) Outcome {
	return d.done(Outcome{Allow, d.q.unique(AllowOnce), by})
}

// deny answers with the option, or with reject_once.
func (d *decision) deny(by Reason, optionID string) Outcome {
	optionID = cmp.Or(optionID, d.q.unique(RejectOnce))
	return d.done(Outcome{Deny, optionID, by})
}

func (d *decision) cancelled() Outcome { return d.done(Outcome{By: ByCancel}) }

func (d *decision) done(o Outcome) Outcome {
	if audit := d.scope.policy.opts.Audit; audit != nil {
		audit(Record{Time: time.Now(), Question: d.q, Outcome: o, Rule: d.rule, Err: d.err})
	}
	return o
}

// ask lets a person decide. After it has waited for another question, it calls known again, because
// the answer to that question may decide this one. Meanwhile the question can be answered in the thread.
func (d *decision) ask(ctx context.Context, known func() (Outcome, bool)) Outcome {
	p := d.scope.policy
	if p.opts.Ask == nil {
		return d.deny(ByNoOne, "")
	}
	if !d.q.readable(d.variables) {
		return d.deny(ByLength, "")
	}
	d.q.Options = d.offered()
	asked := *d.q
	asked.Variables = d.variables
	key, answers, remove := thread.ListQuestion(ctx, asked.listed())
	defer remove()
	d.q.Key, asked.Key = key, key
	if !p.opts.Concurrent {
		select {
		case d.scope.asking <- struct{}{}:
			defer func() { <-d.scope.asking }()
			if o, ok := known(); ok {
				return o
			}
		case id, ok := <-answers:
			return d.answered(ctx, id, ok)
		case <-ctx.Done():
			return d.cancelled()
		}
	}
	thinking, stop := context.WithCancel(ctx) // Ask ends when the answer was given in the thread
	defer stop()
	if p.opts.Timeout > 0 {
		thinking, stop = context.WithTimeout(thinking, p.opts.Timeout)
		defer stop()
	}
	id, err := d.person(thinking, &asked, answers)
	d.err = err
	switch {
	case err == errWithdrawn:
		return d.answered(ctx, "", false)
	case ctx.Err() != nil || d.scope.isClosed():
		return d.cancelled() // a late answer does not count
	case thinking.Err() != nil:
		return d.deny(ByTimeout, "")
	case err != nil:
		return d.deny(ByError, "")
	case id == "":
		return d.deny(ByPerson, "")
	}
	return d.chosen(id)
}

// answered decides as a person has answered in the thread. ok is false if the question was withdrawn there.
func (d *decision) answered(ctx context.Context, id string, ok bool) Outcome {
	d.err = nil
	if !ok || ctx.Err() != nil || d.scope.isClosed() {
		return d.cancelled()
	}
	return d.chosen(id)
}

func (d *decision) chosen(id string) Outcome {
	option, ok := d.q.option(id)
	if !ok {
		d.err = fmt.Errorf("permission: Options.Ask chose %q, which was not offered", id)
		return d.deny(ByError, "")
	}
	answer := option.ID
	if option.Own && d.q.Claimed {
		answer = "" // the agent gets its option for one time
	}
	switch option.Kind {
	case AllowOnce, AllowAlways:
		if option.Own && option.Kind == AllowAlways {
			d.scope.remember(Remembered{d.q.Session, d.keys, Allow, d.what()})
		}
		if d.q.Claimed {
			d.scope.grant(d.q.Session, d.q.Turn, d.certain)
		}
		return d.done(Outcome{Allow, cmp.Or(answer, d.q.only(AllowOnce)), ByPerson})
	case RejectAlways:
		if option.Own {
			d.scope.remember(Remembered{d.q.Session, d.keys, Deny, d.what()})
		}
	}
	return d.deny(ByPerson, answer) // an option of an unknown kind permits nothing here
}

var errNoChoice = errors.New("permission: Options.Ask ended its goroutine")

// errWithdrawn means that the thread has dropped the question.
var errWithdrawn = errors.New("permission: the question was withdrawn")

// person calls Options.Ask, or takes an answer that is given in the thread first. It does not wait for the call
// when ctx is done, because a function that waits for a key may ignore its ctx.
func (d *decision) person(ctx context.Context, q *Question, answers <-chan string) (string, error) {
	type choice struct {
		id  string
		err error
	}
	given := func(id string, ok bool) (string, error) {
		if !ok {
			return "", errWithdrawn
		}
		return id, nil
	}
	called := func() {}
	if !d.scope.policy.opts.Concurrent {
		select {
		case d.scope.calling <- struct{}{}:
			called = func() { <-d.scope.calling }
		case id, ok := <-answers:
			return given(id, ok)
		case <-ctx.Done(): // an earlier call ignores its ctx
			return "", ctx.Err()
		}
	}
	chosen := make(chan choice, 1)
	go func() { // ends when Ask returns
		c := choice{err: errNoChoice}
		defer func() {
			called()
			if v := recover(); v != nil {
				c = choice{err: fmt.Errorf("permission: Options.Ask panicked: %s\n\n%s", panics.Text(v), debug.Stack())}
			}
			chosen <- c
		}()
		c.id, c.err = d.scope.policy.opts.Ask(ctx, q)
	}()
	select {
	case c := <-chosen:
		return c.id, c.err
	case id, ok := <-answers:
		return given(id, ok)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// InThread is an Options.Ask for programs whose users answer in the thread of the session: the question is in
// Snapshot.Permissions, and [thread.Thread.Answer] answers it. It needs a thread.Set around the client. Set
// Options.Concurrent too, unless the interface shows one question at a time.
func InThread(ctx context.Context, q *Question) (string, error) {
	if q.Key == 0 {
		return "", errors.New("permission: no thread lists the question: put a thread.Set around the client")
	}
	<-ctx.Done()
	return "", ctx.Err()
}
