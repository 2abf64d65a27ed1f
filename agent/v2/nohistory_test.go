package agent_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent/v2"
	"github.com/acpkit/go-sdk/rpcerr"
)

// An agent that keeps no sessions has an empty list without a cursor, and so every cursor is from
// somewhere else.
func TestNoHistoryListsNothing(t *testing.T) {
	page, err := agent.NoHistory{}.ListSessions(t.Context(), &acp.ListSessionsRequest{})
	require.NoError(t, err)
	assert.Nil(t, page, "the Conn sends an empty list")
	cursor := acp.SessionListCursor("nonsense")
	_, err = agent.NoHistory{}.ListSessions(t.Context(), &acp.ListSessionsRequest{Cursor: &cursor})
	assert.ErrorIs(t, err, rpcerr.ErrInvalidParams)
}
