package classify

import (
	"errors"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// An Adapter translates errors of somebody else's package. It returns nil for an
// error it does not know. It is called by many goroutines.
type Adapter func(err error) *kind.Error

// As returns an adapter for the errors that errors.As finds with the type E.
func As[E error](translate func(E) *kind.Error) Adapter {
	return func(err error) *kind.Error {
		if e, ok := errors.AsType[E](err); ok {
			return translate(e)
		}
		return nil
	}
}

// Is returns an adapter which gives the errors that match target the kind k and
// its fixed message.
func Is(target error, k kind.Kind) Adapter {
	return func(err error) *kind.Error {
		if errors.Is(err, target) {
			return k.New(k.Message())
		}
		return nil
	}
}

// Classifier is a set of adapters in front of the rules of this package. It does
// not change after New, so any number of goroutines may use it. A nil Classifier has
// no adapters.
type Classifier struct {
	adapters []Adapter
}

// New returns a classifier that asks the adapters in the order given, before
// its own rules and behind errors that say themselves what they are.
func New(adapters ...Adapter) *Classifier {
	c := &Classifier{}
	for _, a := range adapters {
		if a != nil {
			c.adapters = append(c.adapters, a)
		}
	}
	return c
}

// Error classifies err without adapters; see [Classifier.Error]. Do not return the result
// as an error unless err is one: a nil *kind.Error in an error is not nil.
func Error(err error) *kind.Error { return (*Classifier)(nil).Error(err) }

// Error returns what err is. It returns nil for nil. The first rule that fits wins:
//
//  1. an error that carries its kind, or that came from a peer, stays as it is;
//  2. the adapters;
//  3. what Go itself tells by errors.Is and errors.As;
//  4. patterns of particular services, over the text and the type names;
//  5. patterns of everyday language, likewise;
//  6. kind.Internal.
//
// By rules 3 to 6 the message is the kind's fixed text and there is no data,
// because nobody meant the text of err for the peer. err is the cause, and Debug
// names the rule.
func (c *Classifier) Error(err error) *kind.Error {
	if err == nil {
		return nil
	}
	if e, ok := kind.From(err); ok {
		return e
	}
	if c != nil {
		for _, adapt := range c.adapters {
			if e := adapt(err); e != nil {
				if errors.Unwrap(e) == nil {
					e = e.WithCause(err)
				}
				return e
			}
		}
	}
	k, answer, by := find(err)
	e := k.New(k.Message()).WithCause(err).WithDebug("classified by " + by)
	if answer.status != 0 {
		e = e.WithStatus(answer.status)
	}
	if answer.wait {
		e = e.WithRetryAfter(answer.after)
	}
	if errors.Is(err, acp.ErrClosed) || errors.Is(err, acp.ErrStalled) || errors.Is(err, acp.ErrOverloaded) {
		e = e.WithRetryable(false) // this connection does not come back
	}
	return e
}

// find applies the tables. answer is the HTTP answer that decided, if one did.
func find(err error) (k kind.Kind, answer answered, by string) {
	for _, r := range goRules {
		if k, ok := r.match(err); ok {
			return k, answered{}, r.name
		}
	}
	if answer, ok := answerOf(err); ok {
		return statusKind(answer.status), answer, "HTTP status"
	}
	words := wordsOf(err)
	for _, p := range patterns {
		if k, ok := p.match(words); ok {
			return k, answered{}, p.name
		}
	}
	return kind.Internal, answered{}, "no rule"
}

// walk calls visit for err and everything it wraps, outermost first, until visit
// says stop. The number of visits is bounded, because a chain may be made
// of anything.
func walk(err error, visit func(error) (stop bool)) {
	left := 256
	var step func(error) bool
	step = func(err error) bool {
		if left--; err == nil || left < 0 {
			return left < 0
		}
		if visit(err) {
			return true
		}
		switch w := err.(type) {
		case interface{ Unwrap() error }:
			return step(w.Unwrap())
		case interface{ Unwrap() []error }:
			for _, e := range w.Unwrap() {
				if step(e) {
					return true
				}
			}
		}
		return false
	}
	step(err)
}
