package main

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"time"
)

// events stands for an existing agent that does not know the protocol. It streams the output of its
// model, and the reader of the stream runs its tools. This one takes notes, by a script. The last
// item may be an error.
func events(ctx context.Context, prompt string) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		say := func(text string) bool {
			for word := range strings.SplitAfterSeq(text, " ") {
				time.Sleep(20 * time.Millisecond) // the model is slow
				if !yield(textDelta(word), ctx.Err()) {
					return false
				}
			}
			return true
		}
		input, err := json.Marshal(note{prompt})
		call := &toolInput{id: "1", name: "note", input: input}
		_ = yield(thoughtDelta("They want a note."), err) && say("I write that down. ") &&
			yield(toolBegin{call.name}, nil) && yield(call, nil) && say(call.result)
	}
}

type (
	event        any // one of the following
	textDelta    string
	thoughtDelta string
	toolBegin    struct{ name string } // its input follows
	toolInput    struct {
		id, name string
		input    json.RawMessage
		result   string // set by the reader of the stream, before it reads on
	}
	note struct {
		Text string `json:"text" description:"what to write down" validate:"required"`
	}
)
