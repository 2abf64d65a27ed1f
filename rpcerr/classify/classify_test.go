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
	assert.Nil(t, classify.Error(nil))
	assert.False(t, classify.Error(acp.ErrClosed).Retryable, "this connection does not come back")
	assert.False(t, classify.Error(errors.New("service unavailable")).Retryable, "a guess")
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
	e := c.Error(fmt.Errorf("w: %w", &foreign{7}))
	assert.Equal(t, "translated", e.Message)
	f, ok := errors.AsType[*foreign](e)
	assert.True(t, ok, "the foreign error is the cause")
	assert.Equal(t, 7, f.code)
	assert.Equal(t, kind.Internal, c.Error(&foreign{}).Kind, "declined")
	assert.Equal(t, kind.Conflict, c.Error(errSold).Kind)
	assert.Equal(t, kind.Conflict.Message(), c.Error(errSold).Message)
	assert.Equal(t, kind.Validation, c.Error(fs.ErrNotExist).Kind, "before Go's own errors")
	assert.Equal(t, kind.NotFound, classify.Error(fs.ErrNotExist).Kind, "and without touching anybody else")
	assert.Equal(t, kind.Timeout, c.Error(kind.Timeout.New("m")).Kind, "after explicit errors")

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
		assert.Equal(t, kind.Internal, classify.Error(err).Kind)
	}
}

func FuzzText(f *testing.F) {
	f.Add("status code 404")
	f.Add("rpc error: code = Foo")
	for _, raw := range seed.Errors(f) {
		f.Add(string(raw))
	}
	f.Fuzz(func(t *testing.T, text string) {
		e := classify.Error(errors.New(text))
		assert.True(t, e.Kind.Known())
		assert.Equal(t, e.Kind.Message(), e.Message)
		assert.Nil(t, e.Data)
		assert.Contains(t, e.Debug, "classified by")
	})
}

func TestWithoutPatterns(t *testing.T) {
	for _, c := range []*classify.Classifier{classify.New().WithoutPatterns(), (*classify.Classifier)(nil).WithoutPatterns()} {
		assert.Equal(t, kind.Internal, c.Error(errors.New("status code 404: not found")).Kind)
		assert.Equal(t, kind.NotFound, c.Error(fs.ErrNotExist).Kind)
		assert.Equal(t, kind.NotFound, c.Error(answered(404)).Kind)
	}
	with := classify.New(classify.Is(fs.ErrExist, kind.Timeout))
	without := with.WithoutPatterns()
	assert.Equal(t, kind.Timeout, without.Error(fs.ErrExist).Kind, "adapters stay")
	assert.Equal(t, kind.NotFound, with.Error(errors.New("not found")).Kind, "a copy")
}

func TestWrap(t *testing.T) {
	save := func() error { return nil }
	assert.NoError(t, classify.Wrap(save()))
	assert.NoError(t, classify.New().Wrap(nil))
	assert.ErrorIs(t, classify.Wrap(fs.ErrNotExist), kind.NotFound)
	assert.ErrorIs(t, classify.New(classify.Is(fs.ErrNotExist, kind.Conflict)).Wrap(fs.ErrNotExist), kind.Conflict)
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
