//go:build unix

package host_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/internal/leak"
)

// A program that closes its connection and its host as it exits, in any order, leaves no
// command of the agent behind.
func TestNoCommandOutlivesTheHost(t *testing.T) {
	commands := map[string][]string{
		"sleep":           {"-c", "echo $$; exec sleep 1000"},
		"ignores SIGTERM": {"-c", `trap "" TERM; echo $$; while :; do sleep 0.05; done`},
	}
	orders := map[string]func(x *table){
		"connection first": func(x *table) { x.conn.Close(); assert.NoError(t, x.host.Close()) },
		"host first":       func(x *table) { assert.NoError(t, x.host.Close()); x.conn.Close() },
		"at once": func(x *table) {
			go x.conn.Close() // ends at once
			assert.NoError(t, x.host.Close())
		},
	}
	for command, args := range commands {
		for order, end := range orders {
			t.Run(fmt.Sprint(command, ", ", order), func(t *testing.T) {
				for range 3 {
					said := make(chan string, 10)
					x := sit(t, host.Options{
						Terminals: &terminals.Options{
							Grace:    50 * time.Millisecond,
							OnOutput: func(o terminals.Output) { said <- string(o.Data) },
						},
						Ask: pick(permission.AllowOnce),
					})
					require.NoError(t, x.run(func(ctx context.Context, _ acp.SessionID) error {
						return x.command(ctx, acp.CreateTerminalRequest{Command: "sh", Args: args})
					}))
					pid, err := strconv.Atoi(strings.TrimSpace(<-said))
					require.NoError(t, err)
					end(x)
					leak.CheckProcess(t, pid)
				}
			})
		}
	}
}
