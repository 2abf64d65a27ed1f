package inbox_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/inbox"
	"github.com/acpkit/go-sdk/stream"
)

// An Inbox is full as long as a receiver waits, also if another one finds room meanwhile.
func TestFull(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(in *inbox.Inbox[int], cancel func())
		want error
	}{
		"room":   {func(in *inbox.Inbox[int], _ func()) { in.Take() }, nil},
		"end":    {func(in *inbox.Inbox[int], _ func()) { in.End(stream.ErrClosed) }, nil},
		"close":  {func(in *inbox.Inbox[int], _ func()) { in.Close() }, stream.ErrClosed},
		"cancel": {func(_ *inbox.Inbox[int], cancel func()) { cancel() }, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in := inbox.New(10, func(n int) int { return n })
				require.NoError(t, in.Put(6, nil))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				ended := make(chan error, 1)
				go func() { // ends with end
					waited, err := in.Wait(ctx, 6)
					assert.True(t, waited)
					ended <- err
				}()
				synctest.Wait()
				require.True(t, in.Full())
				waited, err := in.Wait(ctx, 2)
				require.NoError(t, err)
				assert.False(t, waited)
				assert.True(t, in.Full(), "the first receiver still waits")
				c.end(in, cancel)
				assert.ErrorIs(t, <-ended, c.want)
				synctest.Wait()
				assert.False(t, in.Full())
			})
		})
	}
}
