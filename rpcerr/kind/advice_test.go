package kind_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/rpcerr"
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
		{"RetryableToolError", kind.Transient.New("m"), true, kind.Transient, 0},
		{"FatalToolError", kind.Fatal.New("m"), false, kind.Fatal, 0},
		{"ContextRequiredToolError", kind.ContextRequired.New("m").WithHint("which one?"), false, kind.ContextRequired, 0},
		{"UpstreamError 400", kind.Upstream("m", 400), false, kind.InvalidParams, 400},
		{"UpstreamError 401", kind.Upstream("m", 401), false, kind.Unauthorized, 401},
		{"UpstreamError 403", kind.Upstream("m", 403), false, kind.Forbidden, 403},
		{"UpstreamError 404", kind.Upstream("m", 404), false, kind.NotFound, 404},
		{"UpstreamError 408", kind.Upstream("m", 408), false, kind.Timeout, 408},
		{"UpstreamError 429", kind.Upstream("m", 429), true, kind.RateLimited, 429},
		{"UpstreamError 500", kind.Upstream("m", 500), true, kind.ServiceUnavailable, 500},
		{"UpstreamError 501", kind.Upstream("m", 501), true, kind.ServiceUnavailable, 501},
		{"UpstreamError 503", kind.Upstream("m", 503), true, kind.ServiceUnavailable, 503},
		{"UpstreamError 504", kind.Upstream("m", 504), true, kind.Timeout, 504},
		{"UpstreamError 599", kind.Upstream("m", 599), true, kind.ServiceUnavailable, 599},
		{"UpstreamRateLimitError", kind.UpstreamRateLimit("m", time.Minute), true, kind.RateLimited, 429},
	} {
		assert.Equal(t, c.canRetry, c.err.Retryable, c.reference)
		assert.Equal(t, c.kind, c.err.Kind, c.reference)
		assert.Equal(t, c.status, c.err.Status, c.reference)
	}
	assert.Equal(t, time.Minute, kind.UpstreamRateLimit("m", time.Minute).RetryAfter)
}

func TestUpstreamRefusesBadUse(t *testing.T) {
	for _, e := range []*kind.Error{
		kind.Upstream("m", 0), kind.Upstream("m", 302), kind.Upstream("m", 600), kind.Upstream("", 404), kind.Upstream("", 401),
		kind.UpstreamRateLimit("m", 0), kind.UpstreamRateLimit("m", -1), kind.UpstreamRateLimit("", 1),
	} {
		assert.ErrorIs(t, e, kind.ErrBadUse)
		assert.Equal(t, kind.Internal, e.Kind)
		assert.Equal(t, kind.ActionGiveUp, kind.AdviceFor(e).Action)
	}
}

func TestAdviceFor(t *testing.T) {
	for _, c := range []struct {
		err  error
		want kind.Advice
	}{
		{nil, kind.Advice{}},
		{kind.Transient.New("m").WithHint("h"), kind.Advice{Action: kind.ActionRetry, Hint: "h"}},
		{kind.UpstreamRateLimit("m", time.Minute), kind.Advice{Action: kind.ActionWait, After: time.Minute}},
		{kind.Transient.New("m").WithNoDelay(), kind.Advice{Action: kind.ActionWait}},
		{rpcerr.AuthRequired(nil), kind.Advice{Action: kind.ActionLogIn}},
		{kind.Unauthorized.New("m"), kind.Advice{Action: kind.ActionLogIn}},
		{kind.Upstream("m", 401), kind.Advice{Action: kind.ActionAskUser}},
		{overTheWire(t, kind.Upstream("m", 401)), kind.Advice{Action: kind.ActionAskUser}},
		{fmt.Errorf("w: %w", kind.ContextRequired.New("m").WithHint("p")), kind.Advice{Action: kind.ActionAskUser, Hint: "p"}},
		{kind.Forbidden, kind.Advice{Action: kind.ActionAskUser}},
		{rpcerr.InvalidParams(nil), kind.Advice{Action: kind.ActionFixInput}},
		{kind.ContextTooLarge, kind.Advice{Action: kind.ActionFixInput}},
		{kind.MCPUnavailable, kind.Advice{Action: kind.ActionRetry}},
		{rpcerr.ResourceNotFound("/a"), kind.Advice{Action: kind.ActionFixInput}},
		{kind.Fatal.New("m"), kind.Advice{Action: kind.ActionGiveUp}},
		{rpcerr.InternalError(nil), kind.Advice{Action: kind.ActionGiveUp}},
		{kind.RateLimited.New("m").WithRetryable(false), kind.Advice{Action: kind.ActionGiveUp}},
		{context.Canceled, kind.Advice{Action: kind.ActionGiveUp}},
		{errors.New("x"), kind.Advice{Action: kind.ActionGiveUp}},
	} {
		assert.Equal(t, c.want, kind.AdviceFor(c.err), "%v", c.err)
	}
	for _, k := range kind.All() {
		assert.NotEqual(t, kind.ActionNone, kind.AdviceFor(k).Action)
		assert.NotEqual(t, "unknown action", kind.AdviceFor(k).Action.String())
	}
	assert.Equal(t, "unknown action", kind.Action(99).String())
}
