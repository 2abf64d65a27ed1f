package panics_test

import (
	"errors"
	"io/fs"
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
