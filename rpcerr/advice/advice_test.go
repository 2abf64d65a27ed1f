package advice_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/advice"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Each class of the reference's hierarchy with what it promises.
func TestClasses(t *testing.T) {
	for _, c := range []struct {
		reference string
		err       *kind.Error
		canRetry  bool
		kind      kind.Kind
		status    int
	}{
		{"RetryableToolError", advice.Transient("m"), true, kind.Transient, 0},
		{"FatalToolError", advice.Fatal("m"), false, kind.Fatal, 0},
		{"ContextRequiredToolError", advice.ContextRequired("m", "which one?"), false, kind.ContextRequired, 0},
		{"UpstreamError 400", advice.Upstream("m", 400), false, kind.InvalidParams, 400},
		{"UpstreamError 401", advice.Upstream("m", 401), false, kind.Unauthorized, 401},
		{"UpstreamError 403", advice.Upstream("m", 403), false, kind.Forbidden, 403},
		{"UpstreamError 404", advice.Upstream("m", 404), false, kind.NotFound, 404},
		{"UpstreamError 408", advice.Upstream("m", 408), false, kind.Timeout, 408},
		{"UpstreamError 429", advice.Upstream("m", 429), true, kind.RateLimited, 429},
		{"UpstreamError 500", advice.Upstream("m", 500), true, kind.ServiceUnavailable, 500},
		{"UpstreamError 503", advice.Upstream("m", 503), true, kind.ServiceUnavailable, 503},
		{"UpstreamError 599", advice.Upstream("m", 599), true, kind.ServiceUnavailable, 599},
		{"UpstreamRateLimitError", advice.UpstreamRateLimit("m", time.Minute), true, kind.RateLimited, 429},
	} {
		assert.Equal(t, c.canRetry, c.err.Retryable, c.reference)
		assert.Equal(t, c.kind, c.err.Kind, c.reference)
		assert.Equal(t, c.status, c.err.Status, c.reference)
	}
	assert.Equal(t, time.Minute, advice.UpstreamRateLimit("m", time.Minute).RetryAfter)
	assert.Equal(t, "which one?", advice.ContextRequired("m", "which one?").Hint)
}

func TestRefusesBadUse(t *testing.T) {
	for _, e := range []*kind.Error{
		advice.Transient(""), advice.Fatal(" "), advice.ContextRequired("m", ""), advice.ContextRequired("", "p"),
		advice.Upstream("m", 0), advice.Upstream("m", 302), advice.Upstream("m", 600), advice.Upstream("", 404),
		advice.UpstreamRateLimit("m", 0), advice.UpstreamRateLimit("m", -1), advice.UpstreamRateLimit("", 1),
	} {
		assert.ErrorIs(t, e, kind.ErrBadUse)
		assert.Equal(t, kind.Internal, e.Kind)
		assert.Equal(t, advice.GiveUp, advice.For(e).Action)
	}
}

// What is for developers and telemetry never reaches the peer.
func TestDeveloperFactsStay(t *testing.T) {
	e := advice.Fatal("Configuration error").WithDebug("missing API key").WithAttrs(slog.String("env", "PROD_KEY")).WithCause(fs.ErrNotExist)
	b, err := json.Marshal(rpcerr.From(e))
	require.NoError(t, err)
	assert.JSONEq(t, `{"code":-31101,"message":"Configuration error","data":{"kind":"fatal","retryable":false}}`, string(b))
	assert.ErrorIs(t, e, fs.ErrNotExist)
}

func TestFor(t *testing.T) {
	for _, c := range []struct {
		err  error
		want advice.Advice
	}{
		{nil, advice.Advice{}},
		{advice.Transient("m").WithHint("h"), advice.Advice{Action: advice.Retry, Hint: "h"}},
		{advice.UpstreamRateLimit("m", time.Minute), advice.Advice{Action: advice.Wait, After: time.Minute}},
		{rpcerr.AuthRequired(nil), advice.Advice{Action: advice.LogIn}},
		{fmt.Errorf("w: %w", advice.ContextRequired("m", "p")), advice.Advice{Action: advice.AskUser, Hint: "p"}},
		{kind.Forbidden, advice.Advice{Action: advice.AskUser}},
		{rpcerr.InvalidParams(nil), advice.Advice{Action: advice.FixInput}},
		{rpcerr.ResourceNotFound("/a"), advice.Advice{Action: advice.FixInput}},
		{advice.Fatal("m"), advice.Advice{Action: advice.GiveUp}},
		{rpcerr.InternalError(nil), advice.Advice{Action: advice.GiveUp}},
		{kind.RateLimited.New("m").WithRetryable(false), advice.Advice{Action: advice.GiveUp}},
		{context.Canceled, advice.Advice{Action: advice.GiveUp}},
		{errors.New("x"), advice.Advice{Action: advice.GiveUp}},
	} {
		assert.Equal(t, c.want, advice.For(c.err), "%v", c.err)
	}
	for _, k := range kind.All() {
		assert.NotEqual(t, advice.None, advice.For(k).Action)
		assert.NotEqual(t, "unknown action", advice.For(k).Action.String())
	}
	assert.Equal(t, "unknown action", advice.Action(99).String())
}
