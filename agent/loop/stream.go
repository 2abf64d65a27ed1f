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

// ErrTooLong is matched by the error of a Model if the request was too long for it.
var ErrTooLong = errors.New("loop: the conversation is too long for the model")

// Stream returns what Generate of a Model returns. The function sends the request and shows the
// events of the answer. Its ctx also ends when the caller leaves the iteration, and what it shows and
// returns then is ignored. An answer without a Stop is an error. A person can read each error: one
// that is no *rpcerr.RequestError becomes one, with 300 bytes of its text, and matches ErrTooLong if
// [SaysTooLong] finds that in the text.
func Stream(ctx context.Context, generate func(ctx context.Context, show func(Event)) error) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		reading, cancel := context.WithCancel(ctx)
		defer cancel()
		ended := false // by a Stop, or because the caller has left
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

// readable returns the error of an answer that has no Stop.
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

// Object returns the input as a JSON object, because services take nothing else. An input that is
// none becomes its member "input".
func (c Call) Object() json.RawMessage {
	if len(c.Input) > 0 && c.Input[0] == '{' {
		return c.Input
	}
	wrapped, _ := json.Marshal(map[string]json.RawMessage{"input": c.Input}) // which is JSON
	return wrapped
}
