package permission

import (
	"context"
	"slices"
	"time"
)

// Options say how a [Policy] decides. The zero value, like nil, denies everything,
// because there is no one to ask.
type Options struct {
	Rules []Rule

	// Ask asks a person. It returns the id of one of the question's options; an empty id
	// or an error is a denial. When ctx is done the answer is not needed any more. The
	// question must not be changed. Nil means that there is no one to ask.
	Ask func(ctx context.Context, q *Question) (optionID string, err error)

	// Concurrent allows a second question while the person thinks about the first.
	// Otherwise questions wait for each other.
	Concurrent bool

	// Timeout is how long a person may think. Zero means as long as it takes.
	Timeout time.Duration

	// Extract returns what the tool call of a question will do, and true if that is all of
	// it. It is for agents whose tools are known; agent is the agent's name. Rules that
	// allow commands or paths trust it. Paths that it returns may contain symlinks. Nil
	// means that no agent is trusted so far.
	Extract func(agent string, t *Tool) ([]Operation, bool)

	// Memory keeps what a person has decided for always. Nil means that each session has
	// a memory of its own.
	Memory Memory

	// Audit is called for each decision, by the goroutine that decides.
	Audit func(Record)
}

// Policy decides what agents may do. It is safe for concurrent use. One Policy may serve
// any number of connections, each with a [Scope] of its own.
type Policy struct {
	opts   Options
	asking chan struct{} // holds a token while a person is asked
}

// New returns a Policy. It is an error if a rule cannot be understood.
func New(opts *Options) (*Policy, error) {
	p := &Policy{asking: make(chan struct{}, 1)}
	if opts != nil {
		p.opts = *opts
	}
	p.opts.Rules = slices.Clone(p.opts.Rules)
	for i := range p.opts.Rules {
		r := &p.opts.Rules[i]
		if err := r.check(); err != nil {
			return nil, err
		}
		r.Kinds, r.Tools, r.Env = slices.Clone(r.Kinds), slices.Clone(r.Tools), slices.Clone(r.Env)
		r.Commands, r.Paths = slices.Clone(r.Commands), slices.Clone(r.Paths)
	}
	return p, nil
}

// verdict is what the rules say.
type verdict struct {
	decision Decision
	rule     string
	decided  bool
}

// judgeOperation asks the rules about something that the agent does without a question.
func (p *Policy) judgeOperation(o *Operation) verdict {
	return p.judge(
		func(r *Rule) bool { return r.suspects(o, "", o.kind()) },
		func(r *Rule) bool { return r.allows(o, "") },
	)
}

// judgeQuestion asks the rules about a tool call. Claims is all that may be in it; certain
// says that it is all of it, and that an extractor found it.
func (p *Policy) judgeQuestion(t *Tool, claims []Operation, certain bool) verdict {
	suspects := func(r *Rule) bool {
		if !r.specific() {
			return r.names(t.Name, t.Kind)
		}
		return slices.ContainsFunc(claims, func(o Operation) bool { return r.suspects(&o, t.Name, t.Kind) })
	}
	if certain && len(claims) > 0 {
		allowed := func(o Operation) bool {
			return slices.ContainsFunc(p.opts.Rules, func(r Rule) bool { return r.Decision == Allow && r.allows(&o, t.Name) })
		}
		all := !slices.ContainsFunc(claims, func(o Operation) bool { return !allowed(o) })
		return p.judge(suspects, func(r *Rule) bool { return all && r.allows(&claims[0], t.Name) })
	}
	return p.judge(suspects, func(r *Rule) bool {
		return !r.specific() && len(r.Tools) > 0 && t.Name != "" && r.names(t.Name, t.Kind)
	})
}

// judge returns the strictest decision of the rules that match.
func (p *Policy) judge(suspects, allows func(*Rule) bool) verdict {
	v := verdict{}
	for i := range p.opts.Rules {
		r := &p.opts.Rules[i]
		matches := suspects
		if r.Decision == Allow {
			matches = allows
		}
		if matches(r) && (!v.decided || strictness(r.Decision) > strictness(v.decision)) {
			v = verdict{decision: r.Decision, rule: r.Name, decided: true}
		}
	}
	return v
}

func strictness(d Decision) int { return slices.Index([]Decision{Allow, Ask, Deny}, d) }
