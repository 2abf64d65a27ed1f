package loop_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// A person can read why an answer has no end, and the loop knows which requests were too long.
func TestStreamErrors(t *testing.T) {
	own := rpcerr.AuthRequired(nil)
	for name, tt := range map[string]struct {
		err     error
		detail  string
		tooLong bool
	}{
		"cut":                  {nil, "the answer of the model ended in the middle", false},
		"of a library":         {errors.New("secret"), "Internal error", false},
		"of a network":         {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, "Service unavailable", false},
		"of the model":         {own, "", false},
		"of the model, a kind": {kind.RateLimited, "rate_limited", false},
		"of another type":      {fmt.Errorf("secret: %w", record{}), "mine", false},
		"too long, Claude":     {errors.New("prompt is too long: 213456 tokens > 200000 maximum"), "too long for the model", true},
		"too long, Gemini":     {errors.New("The input token count (1208000) exceeds the maximum number of tokens allowed"), "too long", true},
		"too large a number":   {errors.New("max_tokens is too large"), "Internal error", false},
	} {
		t.Run(name, func(t *testing.T) {
			var last error
			for _, err := range loop.Stream(t.Context(), func(_ context.Context, show func(loop.Event)) error {
				show(loop.Text("Hal"))
				return tt.err
			}) {
				last = err
			}
			var e interface{ RequestError() *rpcerr.RequestError }
			require.ErrorAs(t, last, &e)
			assert.Contains(t, e.RequestError().Error()+" "+last.Error(), tt.detail)
			assert.NotContains(t, e.RequestError().Error(), "secret")
			assert.Equal(t, tt.tooLong, errors.Is(last, loop.ErrTooLong))
			if tt.err == error(own) {
				assert.Same(t, own, last)
			}
		})
	}
}

// record is an error of a program's own type.
type record struct{}

func (record) Error() string { return "secret" }
func (record) RequestError() *rpcerr.RequestError {
	return rpcerr.InternalError(nil).WithDetail("mine")
}

// texts has one text of a service a line, with its source before it a line. Those after "no" are about something else.
//
//go:embed testdata/toolong.txt
var texts string

func TestSaysTooLong(t *testing.T) {
	long, other, found := strings.Cut(texts, "\n# no\n")
	require.True(t, found)
	for want, lines := range map[bool]string{true: long, false: other} {
		for line := range strings.Lines(lines) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				assert.Equal(t, want, loop.SaysTooLong(line), line)
			}
		}
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
