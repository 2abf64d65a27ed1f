package panics_test

import (
	"errors"
	"io"
	"io/fs"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/internal/panics"
)

type badError struct{ text *string }

func (e *badError) Error() string { return *e.text }

type request struct{ Text string }

func TestText(t *testing.T) {
	type name string
	for want, v := range map[string]any{
		"text":                                 "text",
		"named":                                name("named"),
		"an error":                             errors.New("an error"),
		"7":                                    7,
		"true":                                 true,
		"1.5":                                  1.5,
		"5000000000":                           int64(5 * time.Second),
		"a value of type panics_test.request":  request{Text: "secret"},
		"a value of type *panics_test.request": &request{Text: "secret"},
		"a value of type map[string]int":       map[string]int{"secret": 1},
		"a value of type []uint8":              []byte("secret"),
		"file does not exist":                  fs.ErrNotExist,
	} {
		assert.Equal(t, want, panics.Text(v))
	}
	assert.NotPanics(t, func() { panics.Text(&badError{}) })
	assert.NotPanics(t, func() { panics.Text((*badError)(nil)) })
}

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
