package adapters_test

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/draft2/connect"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// claude-agent-acp can be limited to one version.
func TestLimitedVersions(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a *adapter) {
		place := newWorkplace(t, a)
		for _, test := range []struct {
			name, limit string
			only        int
			version     int // 0 if there is none in common
			answered    int // by an agent that responds with its own version then
			supported   []int
		}{
			{"both", "auto", 0, 2, 0, nil},
			{"both, only 1 wanted", "auto", 1, 1, 0, nil},
			{"both, only 2 wanted", "auto", 2, 2, 0, nil},
			{"1", "v1", 0, 1, 0, nil},
			{"1, only 2 wanted", "v1", 2, 0, 1, nil},
			{"2", "v2", 0, 2, 0, nil},
			{"2, only 1 wanted", "v2", 1, 0, 0, []int{2}},
		} {
			if a.name != "claude-agent-acp" && test.limit != "auto" {
				continue // it has no such setting
			}
			t.Run(test.name, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), conversationTimeout)
				defer cancel()
				starts := 0
				conn, err := connect.Connect(ctx, stream.CommandDial(func() *exec.Cmd {
					starts++
					cmd := place.command()
					cmd.Env = append(cmd.Env, "CLAUDE_AGENT_ACP_PROTOCOL="+test.limit)
					return cmd
				}, nil), &connect.Options{Only: test.only, Logger: pairtest.StrictLogger(t)})
				if test.version == 0 {
					both, ok := errors.AsType[*acp.VersionError](err)
					require.True(t, ok, "%v", err)
					assert.Equal(t, test.answered, both.Answered)
					assert.Equal(t, test.supported, both.Supported, "%v", err)
					return
				}
				require.NoError(t, err)
				assert.Equal(t, test.version, conn.ProtocolVersion())
				assert.Equal(t, 1, starts)
				_, err = conn.StartSession(ctx, &connect.SessionParams{Cwd: place.dir})
				assert.NoError(t, err)
				assert.NoError(t, conn.Close())
				assert.NoError(t, conn.Wait())
			})
		}
	})
}

// A client of version 1 that has files and terminals connects to agents of both versions.
func TestHostKit(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a *adapter) {
		place := newWorkplace(t, a)
		ctx, cancel := context.WithTimeout(t.Context(), conversationTimeout)
		defer cancel()
		asked := 0
		h, err := host.Open(&host.Options{Roots: []string{place.dir}, Ask: func(_ context.Context, q *permission.Question) (string, error) {
			asked++
			return q.Pick(permission.AllowOnce), nil
		}})
		require.NoError(t, err)
		defer h.Close()
		conn, err := connect.Connect(ctx, stream.CommandDial(place.command, nil),
			&connect.Options{V1: h.Client, InitializeV1: &acp.InitializeRequest{ClientCapabilities: h.Capabilities(nil)}, Only: 1, Logger: pairtest.StrictLogger(t)})
		require.NoError(t, err)
		session, err := conn.StartSession(ctx, &connect.SessionParams{Cwd: place.dir})
		require.NoError(t, err)
		require.NoError(t, session.SetOption(ctx, "mode", a.asking))
		turn, err := session.Prompt(ctx, connect.Text(scriptMark+place.writing(t))).Wait()
		require.NoError(t, err)
		assert.Equal(t, "end_turn", turn.StopReason)
		assert.Equal(t, "new\n", place.text(t))
		assert.Equal(t, 1, asked)
		_, err = session.Prompt(ctx, connect.Text(scriptMark+"run")).Wait()
		require.NoError(t, err)
		assert.NoError(t, conn.Close())
		assert.NoError(t, conn.Wait())
	})
}

// Without an account an agent refuses sessions in a way that programs understand, and its
// process ends with the connection.
func TestWithoutAccount(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a *adapter) {
		place := newWorkplace(t, a)
		place.home = t.TempDir() // has no settings
		place.env = append(place.env, "HOME="+place.home, "USERPROFILE="+place.home, "TMPDIR="+place.home, "ANTHROPIC_API_KEY=", "ANTHROPIC_BASE_URL=")
		for _, only := range []int{1, 2} {
			ctx, cancel := context.WithTimeout(t.Context(), conversationTimeout)
			defer cancel()
			conn, err := connect.Connect(ctx, stream.CommandDial(place.command, nil), &connect.Options{Only: only, Logger: pairtest.StrictLogger(t)})
			require.NoError(t, err)
			session, err := conn.StartSession(ctx, &connect.SessionParams{Cwd: place.dir})
			if err == nil {
				_, err = session.Prompt(ctx, connect.Text(scriptMark+"say")).Wait()
			}
			assert.ErrorIs(t, err, rpcerr.ErrAuthRequired, "version %d: methods %v", only, conn.AuthMethods())
			begin := time.Now()
			assert.NoError(t, conn.Close())
			assert.NoError(t, conn.Wait())
			assert.Less(t, time.Since(begin), 15*time.Second)
		}
	})
}
