package panics_test

import (
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/internal/panics"
)

type (
	noText  struct{}
	noIs    struct{ error }
	noAs    struct{ error }
	exiting struct{ error }
)

func (noText) Error() string  { panic("no text") }
func (noIs) Is(error) bool    { panic("no comparison") }
func (noAs) As(any) bool      { panic("no conversion") }
func (exiting) Unwrap() error { runtime.Goexit(); return nil }

func TestGuard(t *testing.T) {
	plain := errors.New("plain")
	for _, err := range []error{nil, io.EOF, plain} {
		assert.Equal(t, err, panics.Guard(func() error { return err }))
	}
	for want, err := range map[string]error{
		"no text": noText{}, "no comparison": noIs{plain}, "no conversion": noAs{plain}, "Goexit": exiting{plain}, "nil pointer": (*badError)(nil),
	} {
		got := panics.Guard(func() error { return err })
		assert.ErrorContains(t, got, want)
		assert.ErrorContains(t, got, "whose methods fail")
		assert.NotErrorIs(t, got, plain)
	}
	assert.ErrorContains(t, panics.Guard(func() error { panic(&request{"secret"}) }), "panic: a value of type *panics_test.request")
}
