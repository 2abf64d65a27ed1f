package process

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/internal/leak"
)

// The tests use a registry of their own, because the real one can be ended only once in a program.

func TestEndAll(t *testing.T) {
	leak.Check(t)
	r := &registry{groups: map[*Group]chan struct{}{}}
	var pids []int
	for _, name := range []string{"polite", "rude", "leaver", "family"} {
		_, of := run(t, r, name)
		pids = append(pids, of...)
	}
	r.endAll(300*time.Millisecond, nil)
	assert.Len(t, pids, 7)
	gone(t, pids)
	assert.Empty(t, r.groups)
	_, err := r.start(command("polite"))
	assert.ErrorIs(t, err, ErrEnding)
}

func TestEndAllInAHurry(t *testing.T) {
	leak.Check(t)
	r := &registry{groups: map[*Group]chan struct{}{}}
	_, pids := run(t, r, "rude")
	hurry := make(chan struct{})
	close(hurry)
	began := time.Now()
	r.endAll(time.Hour, hurry)
	assert.Less(t, time.Since(began), time.Minute)
	gone(t, pids)
}
