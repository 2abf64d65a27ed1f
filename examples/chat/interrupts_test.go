package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// The first Ctrl-C ends the turn, a second within 2 s the program; without a turn the first
// does.
func TestInterrupts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := 0
		i := &interrupts{end: func() { ended++ }}
		assert.False(t, i.handle(), "at the prompt it ends the program")
		assert.Equal(t, 1, ended, "the terminal is restored before")

		turn, done := i.turn(context.Background())
		assert.True(t, i.handle())
		assert.ErrorIs(t, turn.Err(), context.Canceled)
		time.Sleep(twice) // the agent takes its time
		assert.True(t, i.handle(), "a late one only asks again")
		time.Sleep(twice - 1)
		assert.False(t, i.handle(), "the second within 2 s")
		assert.Equal(t, 2, ended)
		done()

		time.Sleep(twice)
		next, done := i.turn(context.Background())
		assert.NoError(t, next.Err())
		assert.True(t, i.handle(), "of the next turn")
		assert.ErrorIs(t, next.Err(), context.Canceled)
		done()
		assert.False(t, i.handle())
	})
}
