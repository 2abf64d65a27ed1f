package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"

	"github.com/acpkit/go-sdk/rpcerr"
)

// ErrTooLong is wrapped by the error of a Model for a request that is too long for the model.
var ErrTooLong = errors.New("loop: the conversation is too long for the model")

// Stream returns the iterator for the method Generate of a Model. generate sends the request and
// calls show with the events of the answer. Its ctx is also done when the caller ends the
// iteration; what it shows and returns from then on is ignored. An answer without a Stop is an
// error. Every error is meant for a person: one that is not an *rpcerr.RequestError is converted to
// one with 300 bytes of its text, and wraps ErrTooLong if [SaysTooLong] finds that in the text.
func Stream(ctx context.Context, generate func(ctx context.Context, show func(Event)) error) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		reading, cancel := context.WithCancel(ctx)
		defer cancel()
		ended := false // after a Stop, or because the caller has ended the iteration
		err := generate(reading, func(e Event) {
			if ended {
				return
			}
			if _, ended = e.(Stop); !yield(e, nil) {
				ended = true
				cancel()
			}
		})
		if !ended {
			yield(nil, readable(ctx, err))
		}
	}
}

// readable returns the error for an answer without a Stop.
func readable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if _, ok := errors.AsType[*rpcerr.RequestError](err); ok {
		return err
	}
	if err == nil {
		err = errors.New("the answer of the model ended in the middle")
	}
	text := fmt.Sprintf("%.300s", err)
	if SaysTooLong(text) {
		err = errors.Join(err, ErrTooLong)
	}
	return rpcerr.InternalError(nil).WithDetail(text).WithCause(err)
}

var tooLong = regexp.MustCompile("(?i)context[ _](length|size|window|limit)|maximum context|prompt is too long|request_too_large|too many tokens|maximum number of tokens")

// SaysTooLong reports whether an error of a service says that a request was longer than the context
// of the model.
func SaysTooLong(text string) bool { return tooLong.MatchString(text) }

// Object returns the input as a JSON object, because services accept nothing else. An input that is
// not an object becomes the member "input" of one.
func (c Call) Object() json.RawMessage {
	if len(c.Input) > 0 && c.Input[0] == '{' {
		return c.Input
	}
	wrapped, _ := json.Marshal(map[string]json.RawMessage{"input": c.Input}) // Input is valid JSON
	return wrapped
}
