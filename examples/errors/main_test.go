package main

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const want = `new session: log in
new session: s1
explicit:
  The date lies in the past.
  -> I change the input: Choose a day after today.
contract:
  None of the 2 ids returned an article
  -> nothing matches, so I search first
busy:
  wait: The index is busy. (20ms)
  end_turn
refused:
  retry: Service unavailable (0s)
  end_turn
http:
  The tracker answered 403 Forbidden
  -> I ask the user
who:
  Two people are called John.
  -> I ask the user: Which one: John Smith or John Doe?
file:
  Resource not found
  -> I change the input
bug:
  Internal error
  -> I report it
panic:
  Internal error
  -> I report it
fatal:
  The account was deleted.
  -> I report it
tool error:
  the tool call failed: Too many messages
  -> later, in 2s
  end_turn
tool envelope:
  the tool call failed: old_string was found 3 times in main.go
  -> I change the input
  end_turn
tool contract:
  the tool call failed: None of the 1 ids returned an article
  -> nothing matches, so I search first
  end_turn
tool bug:
  the tool call failed: Internal error
  -> I report it
  end_turn
another session:
  -> it is gone, so I start a new one
`

func TestRun(t *testing.T) {
	var out, log strings.Builder
	logger := slog.New(slog.NewTextHandler(&log, nil))
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(logger)
	require.NoError(t, run(t.Context(), &out, logger))
	assert.Equal(t, want, out.String())

	// The agent's log contains, once, the details that the client did not receive.
	assert.Equal(t, 1, strings.Count(log.String(), "password of user admin"))
	assert.Equal(t, 1, strings.Count(log.String(), "dialing 10.0.0.7"))
	assert.Contains(t, log.String(), "since migration 7")
	assert.Equal(t, 1, strings.Count(log.String(), "/home/me/.ssh"))
	assert.Equal(t, 1, strings.Count(log.String(), "index out of range [0]"))
}
