package replay_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/draft2/internal/replay"
)

// Every update passes through Enter and Leave, so they must cost nearly nothing while there is no replay.
func TestUpdatesOutsideOfReplaysAllocateNothing(t *testing.T) {
	var all replay.Replays
	ctx := context.WithoutCancel(t.Context()) // looking for a value in it allocates
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		assert.True(t, all.Enter(ctx, "s", ""))
		all.Leave("s")
	}))
}
