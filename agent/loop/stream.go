package loop

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"iter"
	"regexp"
	"strings"
	"sync"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// ErrTooLong is wrapped by the error of a Model for a request that is too long for the model.
var ErrTooLong = errors.New("loop: the conversation is too long for the model")

// Stream returns the iterator for the method Generate of a Model. generate sends the request and
// calls show with the events of the answer. Its ctx is also done when the caller ends the
// iteration; what it shows and returns from then on is ignored. An answer without a Stop is an
// error. An error with a record of package rpcerr or rpcerr/kind stays as it is. Of any other one the
// person reads the kind that package rpcerr/classify finds, and not its text, which was not written
// for people and may contain secrets; it wraps ErrTooLong if [SaysTooLong] finds that in the text.
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
	if err == nil {
		return kind.ServiceUnavailable.New("the answer of the model ended in the middle")
	}
	var own interface{ RequestError() *rpcerr.RequestError }
	if _, ok := kind.From(err); ok || errors.As(err, &own) {
		return err
	}
	if SaysTooLong(err.Error()) {
		return kind.ContextTooLarge.New("the conversation is too long for the model").WithCause(errors.Join(err, ErrTooLong))
	}
	return classify.Error(err)
}

// toolong.txt has one pattern a line, with its source.
//
//go:embed toolong.txt
var wordings string

var tooLong = sync.OnceValues(func() (long, rate *regexp.Regexp) {
	var all []string
	for line := range strings.Lines(wordings) {
		pattern, _, _ := strings.Cut(line, "#")
		if pattern = strings.TrimSpace(pattern); pattern != "" {
			all = append(all, pattern)
		}
	}
	return regexp.MustCompile("(?is)" + strings.Join(all, "|")),
		regexp.MustCompile(`(?i)rate.?limit|throttl|too many requests|please wait|per (minute|hour|day)|quota|\b[tr]p[mdh]\b`)
})

// SaysTooLong reports whether an error of a service says that a request was longer than the context
// of the model. An error about too many tokens in a time does not say so.
func SaysTooLong(text string) bool {
	long, rate := tooLong()
	return long.MatchString(text) && !rate.MatchString(text)
}

// Object returns the input as a JSON object, because services accept nothing else. An input that is
// not an object becomes the member "input" of one.
func (c Call) Object() json.RawMessage {
	var text string
	switch {
	case isObject(c.Input):
		return c.Input
	case json.Unmarshal(c.Input, &text) == nil && isObject(json.RawMessage(text)): // JSON in JSON
		return json.RawMessage(text)
	case !json.Valid(c.Input):
		return json.RawMessage("{}")
	}
	wrapped, _ := json.Marshal(map[string]json.RawMessage{"input": c.Input}) // Input is valid JSON
	return wrapped
}

func isObject(input json.RawMessage) bool {
	return strings.HasPrefix(strings.TrimSpace(string(input)), "{") && json.Valid(input)
}
