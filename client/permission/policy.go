// Package permission decides what an agent may do: it answers the permission requests of the agent, and it authorizes reads,
// writes and commands that the agent did not ask about. Experimental: it may change in any release.
//
// An agent need not ask before it writes a file or starts a command, and the content of a
// question is only a claim. One [Policy] therefore serves both: [Scope.Decide] answers a
// question, and [Scope.Authorize] decides about a read or a write with its resolved path, or
// about a command with the arguments that will run. Package client/host calls both.
//
//	policy := permission.New(&permission.Options{Ask: askOnTerminal})
//	err := policy.SetRules(
//		permission.Rule{Decision: permission.Allow, Commands: []string{"go test *", "go vet *", "git status"}},
//		permission.Rule{Decision: permission.Allow, Paths: []string{"/work/src/**"}},
//		permission.Rule{Decision: permission.Deny, Paths: []string{"/work/secrets/**"}},
//	)
//
// These rules allow the tests of any package with options that only choose tests and what is printed, and no
// writes to /work/src/.git and other files whose content runs although nobody asks for it; see [Rule].
//
// # Who decides
//
// The first of these decides: a rule that denies, a rule that asks, an "always" decision of
// a person, a rule that allows. If there is none, a read is allowed and a person is asked
// about anything else. The operation is denied if there is no one to ask, if the person does
// not choose within Options.Timeout, or if Options.Ask fails or panics.
//
// A person's permission is valid for one operation. If the agent asked, it is valid for one
// operation of the same turn that is identical to one in the question.
//
// # Options
//
// A rule selects an option by its kind: allow_once or reject_once. Only a person can select
// an "always" option. If a rule allows and there is no option allow_once, a person is
// asked. If a question is denied and there is no option reject_once, the outcome is
// "cancelled". The outcome is also "cancelled" if the turn was cancelled or the connection
// has ended.
//
// # Limits of rules
//
// Rules are no sandbox. An allowed command can do everything that its user can do, and a
// rule that denies a command does not prevent a script from running it. With the rules above, an
// agent can write a test that does anything, and run it: allow writes or commands that run what was written, not both, or use
// terminals.Options.Exec for a container.
package permission

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Options configure a [Policy]. The zero value denies everything, because there is no one
// to ask. A nil *Options is equivalent to it.
type Options struct {
	// Ask asks a person and returns the id of one of the question's options. An empty id or an
	// error is a denial. If ctx is done, the answer is no longer needed. Ask must not modify
	// the question. Nil means that there is no one to ask.
	Ask func(ctx context.Context, q *Question) (optionID string, err error)

	// Concurrent allows concurrent calls of Ask for one connection, for a user interface that
	// shows several questions. Without it, Ask is called for
	// one question of a connection at a time, and other questions of the connection wait, also
	// for a call whose ctx is done and that has not returned. Questions of different connections
	// do not wait for each other.
	Concurrent bool

	// Timeout is how long a person may take to answer. Zero means no limit. For a question that
	// waits it begins when the questions before it are decided.
	Timeout time.Duration

	// Extract returns the operations of a question's tool call, and reports whether these are
	// all of its operations. It is for agents whose tools are known, such as [ExtractKnown];
	// agent is the name of the agent. Rules that allow commands or paths rely on it for
	// questions. The paths that it returns may contain symlinks, and are relative to the
	// workspace; a command without Cwd runs there. Nil means that no agent is trusted in this
	// way.
	Extract func(agent string, t *Tool) ([]Operation, bool)

	// Memory stores the "always" decisions of a person. Nil means that each session has its
	// own Memory, which is lost with the session.
	Memory Memory

	// Audit is called for each decision, also about reads, by the goroutine that decides.
	Audit func(Record)
}

// Policy decides what agents may do. It is safe for concurrent use. One Policy may serve
// any number of connections, each with a [Scope] of its own.
type Policy struct {
	opts Options

	mu     sync.Mutex // guards both
	rules  []Rule     // replaced whole
	scopes map[*Scope]struct{}
}

// New returns a Policy without rules; see [Policy.SetRules].
func New(opts *Options) *Policy {
	p := &Policy{scopes: map[*Scope]struct{}{}}
	if opts != nil {
		p.opts = *opts
	}
	return p
}

// SetRules replaces the rules for all that is decided from now on; questions that a person
// is being asked stay. It is an error if a rule is invalid; then nothing changes. To add a
// rule, pass it after those of [Policy.Rules].
func (p *Policy) SetRules(rules ...Rule) error {
	rules = slices.Clone(rules)
	for i := range rules {
		r := &rules[i]
		if err := r.check(); err != nil {
			return fmt.Errorf("permission: rule %d (%q) %w", i, r.Name, err)
		}
		r.Kinds, r.Tools, r.Env = slices.Clone(r.Kinds), slices.Clone(r.Tools), slices.Clone(r.Env)
		r.Commands, r.Paths = slices.Clone(r.Commands), slices.Clone(r.Paths)
		if r.Decision != Allow {
			r.Paths = throughLinks(r.Paths)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = rules
	return nil
}

// Rules returns the rules. The result must not be modified.
func (p *Policy) Rules() []Rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clip(p.rules)
}

type verdict struct {
	decision Decision
	rule     string
	decided  bool
}

// judgeOperation applies the rules to an operation that the agent did not ask about.
func (p *Policy) judgeOperation(o *Operation, workspace string) verdict {
	return p.judge(
		func(r *Rule) bool { return r.suspects(o, "", o.kind()) },
		func(r *Rule) bool { return r.unsure(o, "", o.kind()) },
		func(r *Rule) bool { return r.allows(o, "", workspace) },
	)
}

// judgeQuestion applies the rules to a tool call. claims are its possible operations. certain reports whether an
// extractor returned them, so that there are no others. Only then do rules for commands and paths allow anything; and
// only if they allow each operation. Otherwise a rule allows the call by the name of its tool alone, and nothing that
// may write a guarded file.
func (p *Policy) judgeQuestion(t *Tool, workspace string, claims []Operation, certain bool) verdict {
	suspected := claims
	for _, o := range claims {
		if o.Action == ActionRead { // that it only reads is a claim
			o.Action = ActionWrite
			suspected = append(slices.Clip(suspected), o)
		}
	}
	suspects := func(r *Rule) bool {
		if !r.specific() {
			return r.names(t.Name, t.Kind)
		}
		return slices.ContainsFunc(suspected, func(o Operation) bool { return r.suspects(&o, t.Name, t.Kind) })
	}
	unsure := func(r *Rule) bool {
		return slices.ContainsFunc(suspected, func(o Operation) bool { return r.unsure(&o, t.Name, t.Kind) })
	}
	if certain && len(claims) > 0 {
		allowed := func(o Operation) bool {
			return slices.ContainsFunc(p.Rules(), func(r Rule) bool { return r.Decision == Allow && r.allows(&o, t.Name, workspace) })
		}
		all := !slices.ContainsFunc(claims, func(o Operation) bool { return !allowed(o) })
		return p.judge(suspects, unsure, func(r *Rule) bool { return all && r.allows(&claims[0], t.Name, workspace) })
	}
	guards := slices.ContainsFunc(claims, func(o Operation) bool { return o.Action == ActionWrite && isGuarded(o.Path, workspace) })
	return p.judge(suspects, unsure, func(r *Rule) bool {
		return !guards && !r.specific() && len(r.Tools) > 0 && t.Name != "" && r.names(t.Name, t.Kind)
	})
}

// judge returns the strictest decision of the rules that match. A rule that asks or denies matches if it suspects the
// operation; if it is only unsure, it asks.
func (p *Policy) judge(suspects, unsure, allows func(*Rule) bool) verdict {
	v := verdict{}
	rules := p.Rules()
	for i := range rules {
		r := &rules[i]
		decision := r.Decision
		switch {
		case decision == Allow && allows(r), decision != Allow && suspects(r):
		case decision != Allow && unsure(r):
			decision = Ask
		default:
			continue
		}
		if !v.decided || strictness(decision) > strictness(v.decision) {
			v = verdict{decision: decision, rule: r.Name, decided: true}
		}
	}
	return v
}

// strictness orders the decisions.
func strictness(d Decision) int { return slices.Index([]Decision{Allow, Ask, Deny}, d) }
