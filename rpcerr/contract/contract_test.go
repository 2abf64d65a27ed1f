package contract_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/wine"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/contract"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolcode"
)

func TestFail(t *testing.T) {
	e := QueueFull.Fail("")
	assert.Equal(t, "The local queue of requests is full.", e.Error(), "When stands in")
	assert.Equal(t, &kind.Error{Kind: kind.RateLimited, Message: e.Error(), Reason: "queue_full", Retryable: true}, e, "no hint unless asked for")
	assert.Equal(t, "Wait 30 seconds and retry, or ask for fewer articles.", e.WithHint(QueueFull.Recovery()).Hint)
	assert.Equal(t, time.Minute, e.WithRetryAfter(time.Minute).RetryAfter)
	assert.False(t, NoMatch.Fail("x").Retryable)

	wrapped := fmt.Errorf("fetching: %w", NoMatch.Failf(fs.ErrNotExist, "no %s", "a"))
	assert.ErrorIs(t, wrapped, fs.ErrNotExist)
	assert.ErrorIs(t, wrapped, kind.NotFound)
	assert.ErrorIs(t, wrapped, rpcerr.ErrResourceNotFound)
	assert.True(t, NoMatch.Matches(wrapped))
	assert.Equal(t, "no a", wireOf(wrapped).Message)
	record, ok := errors.AsType[*kind.Error](wrapped)
	assert.True(t, ok)
	assert.Equal(t, "no_match", record.Reason)
	wire, ok := errors.AsType[*rpcerr.RequestError](wrapped)
	assert.True(t, ok)
	assert.Equal(t, rpcerr.CodeResourceNotFound, wire.Code)
}

// Whatever data the caller adds, clients receive the declared reason.
func TestReasonCannotBeOverridden(t *testing.T) {
	for _, e := range []*kind.Error{
		NoMatch.Fail("x").With("reason", "mine"),
		NoMatch.Fail("x").WithData(map[string]any{"reason": "mine", "kind": "timeout", "retryable": true}),
		NoMatch.Fail("x").WithCause(QueueFull.Fail("y")),
	} {
		r := wireOf(e)
		var data struct {
			Reason    string
			Kind      string
			Retryable bool
		}
		require.NoError(t, r.DecodeData(&data))
		assert.Equal(t, "no_match", data.Reason)
		assert.Equal(t, "not_found", data.Kind)
		assert.False(t, data.Retryable)
		assert.Equal(t, rpcerr.CodeResourceNotFound, r.Code)
		assert.True(t, NoMatch.Matches(e))
	}
}

// Code without a contract can set the reason itself.
func TestReasonsFromBelow(t *testing.T) {
	service := func(ctx context.Context) error {
		return kind.NotFound.New("nothing there").WithReason("no_match").WithHint(contract.Hint(ctx, "no_match"))
	}
	e, ok := kind.From(service(contract.NewContext(t.Context(), articles)))
	require.True(t, ok)
	assert.True(t, NoMatch.Matches(e))
	assert.Equal(t, "Call search_articles to find ids that exist.", e.Hint)
	e, _ = kind.From(service(t.Context()))
	assert.Empty(t, e.Hint, "no contract, no hint")
	assert.Empty(t, contract.Hint(contract.NewContext(t.Context(), articles), "unknown"))
	assert.False(t, NoMatch.Matches(nil))
	assert.False(t, NoMatch.Matches(errors.New("no_match")))
}

// The reason of a handle can be replaced, by one that the contract does not declare.
func TestWithReasonReplacesTheDeclaredOne(t *testing.T) {
	e := NoMatch.Fail("m").WithReason("other")
	assert.Equal(t, "other", e.Reason)
	assert.False(t, NoMatch.Matches(e))
}

func TestDeclareRefuses(t *testing.T) {
	good := contract.Mode{Reason: "r1", Kind: kind.Timeout, When: "w", Recovery: "r"}
	with := func(f func(*contract.Mode)) contract.Mode { m := good; f(&m); return m }
	for want, m := range map[string]contract.Mode{
		"Reason is empty":             with(func(m *contract.Mode) { m.Reason = "" }),
		"Reason is not in snake_case": with(func(m *contract.Mode) { m.Reason = "NoMatch" }),
		"is declared twice":           with(func(m *contract.Mode) { m.Reason = "taken" }),
		"Kind is missing":             with(func(m *contract.Mode) { m.Kind = "" }),
		`Kind "typo" is none`:         with(func(m *contract.Mode) { m.Kind = "typo" }),
		"When is empty":               with(func(m *contract.Mode) { m.When = " " }),
		"Recovery is empty":           with(func(m *contract.Mode) { m.Recovery = "\n" }),
	} {
		c := contract.New("tool")
		taken := good
		taken.Reason = "taken"
		c.Declare(taken)
		func() {
			defer func() { assert.Contains(t, fmt.Sprint(recover()), want) }()
			c.Declare(m)
		}()
	}
	assert.Panics(t, func() { contract.New("") })
	assert.NotPanics(t, func() { contract.New("tool").Declare(good) })
}

func TestUndeclared(t *testing.T) {
	var zero contract.Reason
	for _, e := range []*kind.Error{zero.Fail("x"), zero.Failf(nil, "x"), zero.Fail("x").WithHint(zero.Recovery()).WithCause(fs.ErrExist)} {
		assert.ErrorIs(t, e, kind.ErrBadUse)
		assert.Equal(t, "Internal error", wireOf(e).Message)
	}
}

func TestReading(t *testing.T) {
	assert.Equal(t, "queue_full", QueueFull.String())
	b, err := json.Marshal(NoMatch.Fail("m").FailedToolCall())
	require.NoError(t, err)
	assert.Contains(t, string(b), `"reason":"no_match"`)

	b, err = json.Marshal(map[string]any{"last": NoMatch.Fail("m")})
	require.NoError(t, err)
	assert.JSONEq(t, `{"last":{"code":-32002,"message":"m","data":{"kind":"not_found","reason":"no_match","retryable":false}}}`, string(b), "stored whole")
	wrapped := NoMatch.Fail("m")
	assert.ErrorIs(t, rpcerr.From(fmt.Errorf("w: %w", wrapped)), wrapped, "the value stays reachable")
}

// A misspelt reason is a compile error, not a surprise at run time.
func TestTypoDoesNotCompile(t *testing.T) {
	wine.Lacks(t, "a go command")
	const program = `package main

import (
	"github.com/acpkit/go-sdk/rpcerr/contract"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

var articles = contract.New("fetch_articles")

var NoMatch = articles.Declare(contract.Mode{Reason: "no_match", Kind: kind.NotFound, When: "w", Recovery: "r"})

func main() { _ = %s.Fail("x") }
`
	build := func(name string) (string, error) {
		dir := t.TempDir()
		file, overlay := filepath.Join(dir, "main.go"), filepath.Join(dir, "overlay.json")
		require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, program, name), 0o600))
		here, err := os.Getwd()
		require.NoError(t, err)
		// The file seems to stand inside the module, so that its imports resolve.
		b, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(here, "typo", "main.go"): file}})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(overlay, b, 0o600))
		out, err := exec.CommandContext(t.Context(), "go", "build", "-o", os.DevNull, "-overlay", overlay, "./typo").CombinedOutput()
		return string(out), err
	}
	out, err := build("NoMatch")
	require.NoError(t, err, out)
	out, err = build("NoMacth")
	assert.Error(t, err)
	assert.Contains(t, out, "undefined: NoMacth")
}

var asking = contract.New("find_person").Declare(contract.Mode{
	Reason: "several", Kind: kind.ContextRequired, When: "Several people have that name.", Recovery: "Ask the user for the family name.",
})

// A mode of kind ContextRequired needs a hint; without one its error is bad use.
func TestContextRequired(t *testing.T) {
	for _, e := range []*kind.Error{asking.Fail("canary"), asking.Fail("canary").WithHint("")} {
		assert.ErrorIs(t, rpcerr.From(e), kind.ErrBadUse)
		assert.ErrorIs(t, e, kind.ErrBadUse)
		b, err := json.Marshal([]any{rpcerr.From(e), e, e.FailedToolCall()})
		require.NoError(t, err)
		assert.NotContains(t, string(b), "canary")
	}
	assert.Equal(t, kind.ContextRequired.Code(), wireOf(asking.Fail("m").WithHint(asking.Recovery())).Code)
}

// A reason that happens to be a word of package toolcode keeps its kind.
func TestReasonLikeAnEnvelope(t *testing.T) {
	noMatch := contract.New("words").Declare(contract.Mode{
		Reason: "no_match", Kind: kind.NotFound, When: "Nothing matches.", Recovery: "Search for something else than this.",
	})
	e := toolcode.Of(noMatch.Fail("m"), nil)
	assert.Equal(t, toolcode.NotFound, e.Error)
	assert.ErrorIs(t, e.Err(), kind.NotFound)
	assert.True(t, noMatch.Matches(noMatch.Fail("m").RequestError()))
}

// wireOf returns the error that the peer receives for err.
func wireOf(err error) *rpcerr.RequestError {
	r, _ := errors.AsType[*rpcerr.RequestError](rpcerr.From(err))
	return r
}
