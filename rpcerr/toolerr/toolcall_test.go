package toolerr_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolerr"
)

var _ acp.ToolFailure = (*toolerr.Error)(nil)

func TestFailedToolCall(t *testing.T) {
	e := toolerr.RateLimited("busy", 2*time.Second).WithHint("h").WithData(map[string]int{"a": 1})
	u := acp.FailToolCall("t1", fmt.Errorf("w: %w", e))
	assert.Equal(t, []acp.ToolCallContent{acp.ToolText(strings.Replace(e.Text(), "] busy", "] busy\nRecovery: h", 1))}, u.Content)
	got, ok := kind.FromToolCall(u)
	require.True(t, ok)
	assert.Equal(t, e, got)
	_, ok = kind.FromToolCall(&acp.ToolCallUpdate{})
	assert.False(t, ok)
	plain := toolerr.Auth("m")
	assert.Equal(t, []acp.ToolCallContent{acp.ToolText(plain.Text())}, plain.FailedToolCall().Content)
	assert.Nil(t, (*toolerr.Error)(nil).FailedToolCall())
}
