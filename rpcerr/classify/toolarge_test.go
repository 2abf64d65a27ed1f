package classify_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

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
