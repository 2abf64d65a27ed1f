package leak_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/leak"
)

// recorder replaces the test that leak.Check watches.
type recorder struct {
	testing.TB
	cleanup []func()
	errors  []string
}

func (r *recorder) Helper()          {}
func (r *recorder) Cleanup(f func()) { r.cleanup = append(r.cleanup, f) }
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}
func (r *recorder) end() {
	for _, v := range slices.Backward(r.cleanup) {
		v()
	}
}

func blockOn(ch chan struct{}) { <-ch }

func TestCheckIsQuietWhenAllEnded(t *testing.T) {
	r := &recorder{TB: t}
	leak.Check(r)
	ch := make(chan struct{})
	go blockOn(ch) // ends with the close below
	close(ch)
	r.end()
	assert.Empty(t, r.errors)
}

func TestCheckIgnoresWhatWasThereBefore(t *testing.T) {
	ch := make(chan struct{})
	go blockOn(ch) // ends with the close below
	r := &recorder{TB: t}
	leak.Check(r)
	r.end()
	close(ch)
	assert.Empty(t, r.errors)
}

func TestCheckWaitsForLateOnes(t *testing.T) {
	r := &recorder{TB: t}
	leak.Check(r)
	ch := make(chan struct{})
	time.AfterFunc(50*time.Millisecond, func() { close(ch) })
	go blockOn(ch) // ends with the timer
	r.end()
	assert.Empty(t, r.errors)
}

func TestCheckNamesTheGoroutineInABubble(t *testing.T) {
	outside := make(chan struct{})
	go blockOn(outside) // ends with the close at the end
	defer close(outside)
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		r := &recorder{TB: t}
		leak.Check(r)
		ch := make(chan struct{})
		go blockOn(ch) // ends with the close below
		start := time.Now()
		r.end()
		require.Len(t, r.errors, 1)
		assert.Contains(t, r.errors[0], "leak_test.blockOn")
		assert.Zero(t, time.Since(start), "no time may pass in the bubble")
		close(ch)
	})
}

func TestCheckNamesTheGoroutine(t *testing.T) {
	leak.SetPatience(t, 50*time.Millisecond)
	r := &recorder{TB: t}
	leak.Check(r)
	ch := make(chan struct{})
	go blockOn(ch) // ends with the close below
	r.end()
	close(ch)
	require.Len(t, r.errors, 1)
	assert.Contains(t, r.errors[0], "leak_test.blockOn")
}
