package acp_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

func TestCapabilityErrorLeavesAsMethodNotFound(t *testing.T) {
	err := fmt.Errorf("listing: %w", &acp.CapabilityError{Method: "session/list", Capability: "sessionCapabilities.list"})
	assert.EqualError(t, err, "listing: acp: session/list: peer does not advertise sessionCapabilities.list")

	out := rpcerr.From(err)
	assert.Equal(t, rpcerr.CodeMethodNotFound, out.Code)
	assert.Equal(t, "Method not found: session/list", out.Message)

	var back *acp.CapabilityError
	require.ErrorAs(t, out, &back, "the cause stays visible on this side")
	assert.Equal(t, "session/list", back.Method)
}

func TestInvalidErrorListsFields(t *testing.T) {
	invalid := &acp.InvalidError{Where: "session/new params", Fields: []acp.FieldError{
		{Message: "must be an object"},
		{Path: "cwd", Message: "must be an absolute path"},
		{Path: "mcpServers[2].url", Message: "must be a URI"},
	}}
	err := fmt.Errorf("starting: %w", invalid)
	var found *acp.InvalidError
	require.ErrorAs(t, err, &found)
	assert.Same(t, invalid, found)
	assert.EqualError(t, invalid, "acp: invalid session/new params: must be an object; cwd: must be an absolute path; "+
		"mcpServers[2].url: must be a URI")

	var field acp.FieldError
	require.ErrorAs(t, err, &field)
	assert.Equal(t, "must be an object", field.Message)
	assert.Equal(t, rpcerr.CodeInternalError, rpcerr.From(err).Code, "the peer's request is not at fault")
}

func TestSentinelsAreTheEngines(t *testing.T) {
	for sentinel, want := range map[error]error{
		acp.ErrClosed:        wire.ErrClosed,
		acp.ErrOverloaded:    wire.ErrOverloaded,
		acp.ErrStalled:       wire.ErrStalled,
		acp.ErrTurnCancelled: wire.ErrTurnCancelled,
		acp.ErrTurnRunning:   wire.ErrTurnRunning,
		acp.ErrHandlerStuck:  wire.ErrHandlerStuck,
	} {
		assert.ErrorIs(t, fmt.Errorf("wrapped: %w", sentinel), want)
		assert.NotErrorIs(t, sentinel, context.Canceled)
	}
}
