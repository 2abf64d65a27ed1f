//go:build unix

package children_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
)

// command is the command that plays a role, behind a shell or not.
func command(t *testing.T, role string, shell bool) *exec.Cmd {
	t.Helper()
	require.Contains(t, roles, role)
	cmd := exec.Command(os.Args[0])
	if shell { // the second command keeps the shell from becoming the program
		cmd = exec.Command("sh", "-c", `"$0"; exit $?`, os.Args[0])
	}
	// Under the race detector a process would linger for a second at its end.
	cmd.Env = append(os.Environ(), roleEnv+"="+role, "GORACE=atexit_sleep_ms=0")
	return cmd
}

// connect starts an agent and a session with it. Ending it takes no longer than the
// short graces.
func connect(t *testing.T, cmd *exec.Cmd, o stream.CommandOptions, opts *client.Options) (*client.Conn, *client.Session) {
	t.Helper()
	if o.Grace == 0 {
		o.Grace = 300 * time.Millisecond
	}
	process, err := stream.Command(cmd, &o)
	require.NoError(t, err)
	conn, err := client.Connect(context.Background(), process, func(*client.Conn) acp.Client { return &peertest.Client{} }, opts)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, conn.Close())
		_ = conn.Wait()
	})
	s, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
	require.NoError(t, err)
	return conn, s
}

// processes runs a turn in which the agent tells its processes.
func processes(t *testing.T, s *client.Session) []int {
	t.Helper()
	text, err := s.Prompt(t.Context(), acp.Text("who are you?")).Text()
	require.NoError(t, err)
	var pids []int
	for word := range strings.FieldsSeq(text) {
		pid, err := strconv.Atoi(word)
		require.NoError(t, err)
		if pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	require.NotEmpty(t, pids)
	return pids
}

// assertGone checks that processes have ended; zombies have.
func assertGone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		leak.CheckProcess(t, pid)
	}
}

// halt sends SIGSTOP to a process group and waits until its leader is stopped.
func halt(t *testing.T, pid int) {
	t.Helper()
	require.NoError(t, syscall.Kill(-pid, syscall.SIGSTOP))
	require.Eventually(t, func() bool { return leak.ProcessState(t, pid) == "T" }, time.Minute, time.Millisecond)
}

// Whatever the agent is and does besides, a conversation with it works, and nothing of
// it is left when the connection was closed.
func TestConversations(t *testing.T) {
	for _, tt := range []struct {
		role  string
		shell bool
		many  int // processes at least
	}{
		{"plain", false, 1},
		{"plain", true, 2},
		{"noisy", false, 1},
		{"chatty", false, 1},
		{"stubborn", false, 1},
		{"stubborn", true, 2},
		{"parent", false, 2},
		{"parent", true, 3},
	} {
		name := tt.role
		if tt.shell {
			name += " behind a shell"
		}
		t.Run(name, func(t *testing.T) {
			leak.Check(t)
			var heard []string
			conn, s := connect(t, command(t, tt.role, tt.shell), stream.CommandOptions{
				OnNoise: func(line string) { heard = append(heard, line) },
			}, nil)
			pids := processes(t, s)
			assert.GreaterOrEqual(t, len(pids), tt.many)
			require.NoError(t, conn.Close())
			require.NoError(t, conn.Wait())
			assertGone(t, pids)
			if tt.role == "noisy" {
				require.Greater(t, len(heard), len(noise))
				assert.Equal(t, noise, heard[:len(noise)])
			} else {
				assert.Empty(t, heard)
			}
		})
	}
}

// An agent that ends before it has answered initialize: the error says how, and has its
// last words.
func TestExitDuringInitialize(t *testing.T) {
	for role, want := range map[string]stream.ExitError{
		"quits at once": {Status: 3, Stderr: "no such model\n"},
		"quits":         {Status: 4, Stderr: "the key is wrong\n"},
		"leaves":        {Status: 0, Stderr: "nothing to do\n"},
	} {
		for _, shell := range []bool{false, true} {
			t.Run(role+" shell "+strconv.FormatBool(shell), func(t *testing.T) {
				leak.Check(t)
				process, err := stream.Command(command(t, role, shell), nil)
				require.NoError(t, err)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, err = client.Connect(ctx, process, func(*client.Conn) acp.Client { return &peertest.Client{} }, nil)
				require.ErrorIs(t, err, acp.ErrClosed)
				var exit *stream.ExitError
				require.ErrorAs(t, err, &exit)
				assert.Equal(t, want, *exit)
				assert.ErrorContains(t, err, "status "+strconv.Itoa(want.Status))
				assert.ErrorContains(t, err, strings.TrimSpace(want.Stderr))
				assert.Equal(t, want.Status == 0, errors.Is(err, io.EOF))
				<-process.Done()
				assertGone(t, []int{process.PID()})
			})
		}
	}
}

// One that dies in a turn fails the turn in the same way, whoever still holds its pipes.
func TestDeathInATurn(t *testing.T) {
	for _, role := range []string{"plain", "parent", "stubborn"} {
		t.Run(role, func(t *testing.T) {
			leak.Check(t)
			conn, s := connect(t, command(t, role, false), stream.CommandOptions{}, nil)
			pids := processes(t, s)
			_, err := s.Prompt(t.Context(), acp.Text("die")).Wait()
			require.ErrorIs(t, err, acp.ErrClosed)
			var exit *stream.ExitError
			require.ErrorAs(t, err, &exit)
			assert.Equal(t, stream.ExitError{Status: 5, Stderr: "killed by its own work\n"}, *exit)
			require.ErrorAs(t, conn.Wait(), &exit)
			assertGone(t, pids)
		})
	}
}

// A process that was stopped does nothing at all. Calls and sends leave with their ctx,
// it can go on where it was, and closing the connection ends it like any other.
func TestStoppedProcess(t *testing.T) {
	for _, role := range []string{"plain", "stubborn"} {
		t.Run(role, func(t *testing.T) {
			leak.Check(t)
			conn, s := connect(t, command(t, role, false), stream.CommandOptions{}, &client.Options{
				CancelGrace: -1, IgnoreCapabilities: true, Limits: client.Limits{SendQueue: 100_000},
			})
			pids := processes(t, s)
			halt(t, pids[0])
			leaves := func(send func(ctx context.Context) error) {
				t.Helper()
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				defer cancel()
				var err error
				for err == nil {
					err = send(ctx)
				}
				require.Equal(t, context.DeadlineExceeded, err)
			}
			leaves(func(ctx context.Context) error { return conn.Call(ctx, "_x", nil, nil) })

			require.NoError(t, syscall.Kill(-pids[0], syscall.SIGCONT))
			assert.Equal(t, pids, processes(t, s), "it goes on")

			halt(t, pids[0])
			leaves(func(ctx context.Context) error { _, err := s.Prompt(ctx, acp.Text("hello")).Wait(); return err })
			leaves(func(ctx context.Context) error { return conn.Notify(ctx, "_x", strings.Repeat("x", 10_000)) })
			require.NoError(t, conn.Close())
			_ = conn.Wait() // what had not been written may count as an error
			assertGone(t, pids)
		})
	}
}
