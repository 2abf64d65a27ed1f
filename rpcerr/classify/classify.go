// Package classify converts any Go error to a [kind.Error]. Experimental: it may change in any
// release.
//
//	return classify.Error(err) // os.Open: kind.NotFound, http.Client.Do: kind.ServiceUnavailable, ...
//
// It looks at the types and sentinels of the standard library first, and at words in the
// text last. A word is a guess; [Classifier.WithoutPatterns] ignores words. Return an
// explicit kind where it matters. The peer receives the code and a fixed message, and nothing
// of the text of the error.
//
// [OnError] classifies and logs every error that is sent to the peer. Code that calls
// other services uses [FromResponse] for their responses, and [Op.Catch] for every other
// error. An [Adapter] converts errors of packages that this one does not know:
//
//	c := classify.New(classify.As(func(e *github.ErrorResponse) *kind.Error { ... }))
package classify

import (
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/errs"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/internal/goerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolcode"
)

// An Adapter translates the errors of another package. It returns nil for an error that it
// does not know. It must be safe for concurrent use.
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

// Classifier is a list of adapters, which are tried before the rules of this package. It is
// safe for concurrent use. A nil Classifier has no adapters.
type Classifier struct {
	adapters   []Adapter
	noPatterns bool
}

// New returns a classifier that calls the adapters in the given order. They are not called
// for an error that carries a kind or came from a peer.
func New(adapters ...Adapter) *Classifier {
	return &Classifier{adapters: slices.DeleteFunc(slices.Clone(adapters), func(a Adapter) bool { return a == nil })}
}

// WithoutPatterns returns a copy of c that does not look at the text of errors. The kind
// of an error that only a pattern recognizes is then kind.Internal.
func (c *Classifier) WithoutPatterns() *Classifier {
	copied := Classifier{noPatterns: true}
	if c != nil {
		copied.adapters = c.adapters
	}
	return &copied
}

// Error classifies err without adapters; see [Classifier.Error].
func Error(err error) error { return (*Classifier)(nil).Error(err) }

// Error classifies err. It returns nil for nil, and else a [*kind.Error]: [kind.Of] returns its
// kind, and [kind.From] all of it. The first of these rules that applies determines the result:
//
//  1. an error that carries a kind, or that came from a peer, is not changed;
//  2. the adapters;
//  3. a method Failure() (kind string, retryable bool), as the errors of package stream have:
//     retryable is what it returns, and the HTTP status of a response inside err precedes
//     the kind;
//  4. the types and sentinels of the standard library, by errors.Is and errors.As;
//  5. the HTTP status of a response inside err;
//  6. patterns of particular services, then of everyday language, over the text and the type
//     names;
//  7. kind.Internal.
//
// By rules 3 to 7 the message is the kind's fixed text and there is no data, because
// the text of err was not written for the peer. err is the cause, and Debug names the
// rule. A pattern is a guess: what it finds is not retryable, so that no program sends
// a request again because of a word in a text.
//
// No rule but the first returns an error that asks the user to log in: refused credentials
// are sent as [kind.CodeUnauthorized], with the message "Not authorized".
func (c *Classifier) Error(err error) error {
	if err == nil {
		return nil
	}
	return c.record(err)
}

func (c *Classifier) record(err error) *kind.Error {
	if e, ok := kind.From(err); ok {
		return e
	}
	if e := c.adapted(err); e != nil {
		return e
	}
	if embeds(err) {
		return kind.Internal.New(kind.Internal.Message()).WithCause(&errs.Derived{Cause: err}).
			WithDebug("an embedded RequestError hides the method of that name: give the field a name")
	}
	f := c.find(err)
	e := withoutLogin(f.kind.New(f.kind.Message()))
	if word := goerr.Word(err); word != "" && word != string(toolcode.Of(e, quiet).Error) {
		e = e.WithReason(word) // for the other end, which receives only the kind
	}
	e = e.WithCause(&errs.Derived{Cause: err}).WithDebug("classified by " + f.by)
	if f.response.status != 0 {
		e = e.WithStatus(f.response.status)
	}
	e = e.WithRetryable(f.retryable)
	if f.response.wait {
		e = withRetryAfter(e, f.response.after)
	}
	if errs.Is(err, acp.ErrClosed) || errs.Is(err, acp.ErrStalled) || errs.Is(err, acp.ErrOverloaded) {
		e = e.WithRetryable(false) // a call on a connection that has ended fails again
	}
	return e
}

var quiet = slog.New(slog.DiscardHandler)

// adapted returns the result of the first adapter that recognizes err, or nil.
func (c *Classifier) adapted(err error) *kind.Error {
	if c == nil {
		return nil
	}
	for _, adapt := range c.adapters {
		if e := mapped(nil, adapt(err), err); e != nil {
			return withoutLogin(e)
		}
	}
	return nil
}

// withoutLogin returns e with a code and a text that do not ask the user to log in. People
// read the fixed text of kind.Unauthorized as such a request.
func withoutLogin(e *kind.Error) *kind.Error {
	switch {
	case e.Kind == kind.Unauthorized && (e.Number == 0 || e.Number == rpcerr.CodeAuthRequired):
		e = e.WithNumber(kind.CodeUnauthorized)
		if e.Message == kind.Unauthorized.Message() {
			e.Message = "Not authorized"
		}
	case e.Number == rpcerr.CodeAuthRequired: // the code of another protocol, see kind.FromRequestError
		e = e.WithNumber(e.Kind.Code())
	}
	return e
}

// withRetryAfter returns e with a delay that is known, also if it is zero.
func withRetryAfter(e *kind.Error, after time.Duration) *kind.Error {
	if after <= 0 {
		return e.WithNoDelay()
	}
	return e.WithRetryAfter(after)
}

// finding is the result of the tables for an error.
type finding struct {
	kind      kind.Kind
	response  responded // the HTTP response that determined the kind, if one did
	by        string    // name of the rule
	retryable bool
}

// find applies the tables.
func (c *Classifier) find(err error) finding {
	if f, ok := failureOf(err); ok {
		return f
	}
	for _, r := range goRules {
		if f, ok := r.Match(err); ok && f.Kind != "" {
			return finding{kind: f.Kind, by: r.Name, retryable: f.Kind.Retryable()}
		}
	}
	if r, ok := responseOf(err); ok {
		return finding{kind: kind.FromUpstreamStatus(r.status), response: r, by: "HTTP status", retryable: r.status == 429 || r.status >= 500 || kind.FromUpstreamStatus(r.status).Retryable()}
	}
	if c == nil || !c.noPatterns {
		words := wordsOf(err)
		for _, p := range patterns {
			if k := p.match(words); k != "" {
				return finding{kind: k, by: p.name} // a guess is not retryable
			}
		}
	}
	return finding{kind: kind.Internal, by: "no rule"}
}
