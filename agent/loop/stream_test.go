package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/rpcerr"
)

// A person can read why an answer has no end, and the loop knows which requests were too long.
func TestStreamErrors(t *testing.T) {
	own := rpcerr.AuthRequired(nil)
	for name, tt := range map[string]struct {
		err     error
		detail  string
		tooLong bool
	}{
		"cut":                {nil, "the answer of the model ended in the middle", false},
		"of a library":       {errors.New(strings.Repeat("x", 1000)), strings.Repeat("x", 300), false},
		"of the model":       {own, "", false},
		"too long, Claude":   {errors.New("prompt is too long: 213456 tokens > 200000 maximum"), "213456", true},
		"too long, Gemini":   {errors.New("The input token count (1208000) exceeds the maximum number of tokens allowed"), "1208000", true},
		"too long, OpenAI":   {errors.New(`{"code":"context_length_exceeded"}`), "code", true},
		"too long, llama":    {errors.New(`{"type":"exceed_context_size_error"}`), "type", true},
		"too large a number": {errors.New("max_tokens is too large"), "too large", false},
	} {
		t.Run(name, func(t *testing.T) {
			var last error
			for _, err := range loop.Stream(t.Context(), func(_ context.Context, show func(loop.Event)) error {
				show(loop.Text("Hal"))
				return tt.err
			}) {
				last = err
			}
			var e *rpcerr.RequestError
			require.ErrorAs(t, last, &e)
			assert.Contains(t, e.Error(), tt.detail)
			assert.NotContains(t, e.Error(), strings.Repeat("x", 301))
			assert.Equal(t, tt.tooLong, errors.Is(last, loop.ErrTooLong))
			if tt.err == error(own) {
				assert.Same(t, own, last)
			}
		})
	}
}

// The request ends when the caller leaves, and with its ctx, whose cause is the error. Nothing is
// shown after the end.
func TestStreamEnds(t *testing.T) {
	cause := errors.New("the person has cancelled")
	for name, tt := range map[string]struct {
		event loop.Event
		want  []error
	}{
		"the caller leaves": {loop.Text("leave"), []error{nil}},
		"cancelled":         {loop.Text("cancel"), []error{nil, cause}},
		"after a Stop":      {loop.Stop{}, []error{nil}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var got []error
			for e, err := range loop.Stream(ctx, func(ctx context.Context, show func(loop.Event)) error {
				show(tt.event)
				if _, stop := tt.event.(loop.Stop); !stop {
					<-ctx.Done()
				}
				if tt.event != loop.Event(loop.Text("cancel")) {
					show(loop.Text("too late"))
				}
				return errors.New("too late")
			}) {
				got = append(got, err)
				if e == loop.Event(loop.Text("leave")) {
					break
				}
				if e == loop.Event(loop.Text("cancel")) {
					cancel(cause)
				}
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestObject(t *testing.T) {
	for input, want := range map[string]string{`{"a":1}`: `{"a":1}`, `"{\"a"`: `{"input":"{\"a"}`, `12345678901234567890`: `{"input":12345678901234567890}`} {
		assert.Equal(t, want, string(loop.Call{Input: json.RawMessage(input)}.Object()))
	}
}
