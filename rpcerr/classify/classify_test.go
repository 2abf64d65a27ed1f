package classify_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/internal/seed"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolerr"
)

func TestExplicitStaysAsItIs(t *testing.T) {
	e := kind.Conflict.New("taken").With("a", 1)
	assert.Same(t, e, classify.Error(fmt.Errorf("w: %w", e)))
	tool := toolerr.Auth("m").WithHint("h")
	assert.Same(t, tool, classify.Error(tool))
	assert.False(t, recordOf(acp.ErrClosed).Retryable, "this connection does not come back")
	assert.False(t, recordOf(errors.New("service unavailable")).Retryable, "a guess")
}

type foreign struct{ code int }

func (f *foreign) Error() string { return "foreign" }

func TestAdapters(t *testing.T) {
	errSold := errors.New("sold out")
	c := classify.New(
		nil,
		classify.As(func(f *foreign) *kind.Error {
			if f.code == 0 {
				return nil
			}
			return kind.Conflict.New("translated").With("code", f.code)
		}),
		classify.Is(errSold, kind.Conflict),
		classify.Is(fs.ErrNotExist, kind.Validation),
	)
	e, _ := kind.From(c.Error(fmt.Errorf("w: %w", &foreign{7})))
	assert.Equal(t, "translated", e.Message)
	f, ok := errors.AsType[*foreign](e)
	assert.True(t, ok, "the foreign error is the cause")
	assert.Equal(t, 7, f.code)
	assert.Equal(t, kind.Internal, kind.Of(c.Error(&foreign{})), "declined")
	assert.Equal(t, kind.Conflict, kind.Of(c.Error(errSold)))
	assert.Equal(t, kind.Conflict.Message(), c.Error(errSold).Error())
	assert.Equal(t, kind.Validation, kind.Of(c.Error(fs.ErrNotExist)), "before Go's own errors")
	assert.Equal(t, kind.NotFound, kind.Of(classify.Error(fs.ErrNotExist)), "and without touching anybody else")
	assert.Equal(t, kind.Timeout, kind.Of(c.Error(kind.Timeout.New("m"))), "after explicit errors")

	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { c.Error(&foreign{1}) })
	}
	wg.Wait()
}

type hollow struct{}

func (hollow) Error() string { return "" }
func (hollow) Unwrap() error { return nil }

func TestOddChains(t *testing.T) {
	for _, err := range []error{
		fmt.Errorf("%s status code 404", strings.Repeat("x", 1<<20)), // only the beginning is read
		hollow{},
		errors.Join(hollow{}, fmt.Errorf("%w", hollow{})),
	} {
		assert.Equal(t, kind.Internal, kind.Of(classify.Error(err)))
	}
}

func FuzzText(f *testing.F) {
	f.Add("status code 404")
	f.Add("rpc error: code = Foo")
	for _, raw := range seed.Errors(f) {
		f.Add(string(raw))
	}
	f.Fuzz(func(t *testing.T, text string) {
		e := recordOf(errors.New(text))
		assert.True(t, e.Kind.Known())
		assert.Equal(t, e.Kind.Message(), e.Message)
		assert.Nil(t, e.Data)
		assert.Contains(t, e.Debug, "classified by")
	})
}

func TestWithoutPatterns(t *testing.T) {
	for _, c := range []*classify.Classifier{classify.New().WithoutPatterns(), (*classify.Classifier)(nil).WithoutPatterns()} {
		assert.Equal(t, kind.Internal, kind.Of(c.Error(errors.New("status code 404: not found"))))
		assert.Equal(t, kind.NotFound, kind.Of(c.Error(fs.ErrNotExist)))
		assert.Equal(t, kind.NotFound, kind.Of(c.Error(answered(404))))
	}
	with := classify.New(classify.Is(fs.ErrExist, kind.Timeout))
	without := with.WithoutPatterns()
	assert.Equal(t, kind.Timeout, kind.Of(without.Error(fs.ErrExist)), "adapters stay")
	assert.Equal(t, kind.NotFound, kind.Of(with.Error(errors.New("not found"))), "a copy")
}

// No function that takes an error returns a nil pointer, which would be an error that is not nil.
func TestNilStaysNil(t *testing.T) {
	save := func() error { return nil }
	for name, err := range map[string]error{
		"Error": classify.Error(save()), "Classifier": classify.New().Error(nil), "no classifier": (*classify.Classifier)(nil).Error(nil),
		"WithContext": classify.WithContext(t.Context(), nil), "OnError": classify.OnError(nil)(t.Context(), "m", nil), "From": rpcerr.From(nil),
	} {
		assert.NoError(t, err, name)
	}
	assert.ErrorIs(t, classify.Error(fs.ErrNotExist), kind.NotFound)
	assert.ErrorIs(t, classify.New(classify.Is(fs.ErrNotExist, kind.Conflict)).Error(fs.ErrNotExist), kind.Conflict)
}

func TestIsContextTooLarge(t *testing.T) {
	for _, err := range []error{
		kind.ContextTooLarge.New("m"), fmt.Errorf("w: %w", kind.ContextTooLarge.New("m").RequestError()), kind.ContextTooLarge,
		errors.New(`{"code":"context_length_exceeded"}`),
		errors.New("This model's maximum context length is 8192 tokens."),
		errors.New("prompt is too long: 210000 tokens > 200000 maximum"),
		errors.New("Input is too long for requested model."),
		errors.New("your input exceeds the context window of this model"),
		errors.New("The input token count (1200000) exceeds the maximum number of tokens allowed"),
		errors.New("too many tokens in the request"),
		classify.Error(errors.New("context_length_exceeded")),
		peerSaid(t, `{"code":-32603,"message":"Internal error","data":{"details":"prompt is too long: 210000 tokens"}}`),
	} {
		assert.True(t, classify.IsContextTooLarge(err), "%v", err)
	}
	for _, err := range []error{nil, errors.New("context canceled"), context.DeadlineExceeded, fs.ErrNotExist, errors.New("file too large"),
		kind.Validation.New("The name is too long."), errors.New("exceeded the rate limit of this context")} {
		assert.False(t, classify.IsContextTooLarge(err), "%v", err)
	}
}

func peerSaid(t *testing.T, wire string) error {
	e := new(rpcerr.RequestError)
	require.NoError(t, e.UnmarshalJSON([]byte(wire)))
	return e
}

// The worst case: no rule fits.
func BenchmarkNoRule(b *testing.B) {
	err := errors.New("something went wrong while the thing was being done")
	for b.Loop() {
		classify.Error(err)
	}
}

func BenchmarkExplicit(b *testing.B) {
	err := error(kind.Conflict.New("taken"))
	for b.Loop() {
		classify.Error(err)
	}
}

// A panic is a bug of the program, whatever words its text and its stack have.
func TestPanicsAreInternal(t *testing.T) {
	for _, text := range []string{"file not found", "permission denied", "status code 429", "context_length_exceeded", "connection refused"} {
		err := fmt.Errorf("in a turn: %w", panics.Guard(func() error { panic(errors.New(text)) }))
		e := recordOf(err)
		assert.Equal(t, kind.Internal, e.Kind, text)
		assert.Equal(t, rpcerr.CodeInternalError, wireOf(e).Code, text)
		assert.False(t, classify.IsContextTooLarge(err), text)
	}
}

// recordOf returns the record that classify.Error returns as an error.
func recordOf(err error) *kind.Error {
	e, _ := errors.AsType[*kind.Error](classify.Error(err))
	return e
}
