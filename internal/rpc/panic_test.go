package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/rpcerr"
)

type badError struct{ text *string }

func (e *badError) Error() string { return *e.text }

// badData is an error that means itself for the peer, and fails at it.
type badData struct{ answer *rpcerr.RequestError }

func (e *badData) Error() string                      { return "bad" }
func (e *badData) RequestError() *rpcerr.RequestError { return e.answer }

// Errors that panic when they are asked something spoil one answer.
func TestErrorsThatPanic(t *testing.T) {
	bubble(t, func(t *testing.T) {
		errs := []error{&badError{}, (*badError)(nil), (*badData)(nil), fmt.Errorf("wrapped: %w", (*badData)(nil)), errors.Join((*badError)(nil))}
		var l logs
		_, p := start(t, rpc.Config{Logger: l.logger(), ExposeErrors: true, Entries: []*rpc.Entry{
			on(mEcho, func(_ context.Context, m *msg) (*msg, error) { return nil, errs[m.N] }),
			on(mNote, func(_ context.Context, m *msg) (*msg, error) { return nil, errs[m.N] }),
		}})
		for i := range errs {
			p.note(i)
			p.request(i+1, "t/echo", i)
			assert.Contains(t, p.Next().Raw, fmt.Sprintf(`"id":%d,"error":{"code":-32603,"message":"Internal error"`, i+1))
		}
		assert.Contains(t, l.String(), "t/echo")
	})
}

func TestPanicText(t *testing.T) {
	type name string
	for want, v := range map[string]any{
		"text":                           "text",
		"named":                          name("named"),
		"an error":                       errors.New("an error"),
		"7":                              7,
		"true":                           true,
		"1.5":                            1.5,
		"5000000000":                     int64(5 * time.Second),
		"a value of type rpc_test.msg":   msg{Text: "secret"},
		"a value of type *rpc_test.msg":  &msg{Text: "secret"},
		"a value of type map[string]int": map[string]int{"secret": 1},
		"a value of type []uint8":        []byte("secret"),
		"file does not exist":            fs.ErrNotExist,
	} {
		assert.Equal(t, want, rpc.PanicText(v))
	}
	assert.NotPanics(t, func() { rpc.PanicText(&badError{}) })
	assert.NotPanics(t, func() { rpc.PanicText((*badError)(nil)) })
}
