//go:build unix

package terminals_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/rpcerr"
)

func TestExitCodeXorSignal(t *testing.T) {
	h := newRunner(t, nil, nil)
	for script, want := range map[string]acp.TerminalExitStatus{
		"exit 0":                      {ExitCode: new(uint32(0))},
		"exit 42":                     {ExitCode: new(uint32(42))},
		"kill -TERM $$":               {Signal: "SIGTERM"},
		"kill -KILL $$":               {Signal: "SIGKILL"},
		"trap 'exit 3' TERM; kill $$": {ExitCode: new(uint32(3))},
	} {
		id := h.sh(script)
		res := h.wait(id)
		assert.Equal(t, want, acp.TerminalExitStatus{ExitCode: res.ExitCode, Signal: res.Signal}, script)
		assert.Equal(t, &want, h.output(id).ExitStatus, script)
		h.release(id)
	}
}

func TestWait(t *testing.T) {
	h := newRunner(t, nil, nil)
	id := h.sh(`trap 'exit 7' TERM; echo $$; while :; do sleep 0.02; done`)
	h.pids(id, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := h.WaitForTerminalExit(ctx, &acp.WaitForTerminalExitRequest{SessionID: "s", TerminalID: id})
	assert.ErrorIs(t, err, context.Canceled)
	var waiters sync.WaitGroup
	for range 20 {
		waiters.Go(func() { assertExit(t, 7, h.wait(id)) }) // ends with the command
	}
	h.kill(id)
	h.kill(id)
	waiters.Wait()
	assertExit(t, 7, h.wait(id))
	h.kill(id)
	assertExit(t, 7, h.wait(id))
}

func TestReleaseWhileSomeoneWaits(t *testing.T) {
	h := newRunner(t, nil, nil)
	id := h.sh(`echo $$; exec sleep 1000`)
	pids := h.pids(id, 1)
	waited := make(chan *acp.WaitForTerminalExitResponse)
	entered := make(chan struct{})
	go func() { // ends with the command
		close(entered)
		res, err := h.WaitForTerminalExit(context.Background(), &acp.WaitForTerminalExitRequest{SessionID: "s", TerminalID: id})
		if err != nil { // it was released before it was found
			assert.ErrorIs(t, err, rpcerr.ErrResourceNotFound)
			res = &acp.WaitForTerminalExitResponse{Signal: "SIGTERM"}
		}
		waited <- res
	}()
	<-entered
	h.release(id)
	assert.Equal(t, "SIGTERM", (<-waited).Signal)
	h.conn.Close("s") // the call waits for the command
	requireGone(t, pids)
}

// A terminal cannot be used by another session or connection, nor after its release.
func TestForeignTerminals(t *testing.T) {
	h := newRunner(t, nil, nil)
	id := h.sh(`exit 0`)
	refused(t, h.Terminals, "other", id)
	refused(t, h.Terminals, "never", id)
	refused(t, h.pool.Terminals(h.conn, nil), "s", id)
	h.wait(id)
	h.release(id)
	refused(t, h.Terminals, "s", id)
	refused(t, h.Terminals, "s", "term_1")
}

func refused(t *testing.T, h *terminals.Terminals, s acp.SessionID, id acp.TerminalID) {
	t.Helper()
	_, err := h.TerminalOutput(t.Context(), &acp.TerminalOutputRequest{SessionID: s, TerminalID: id})
	assert.ErrorIs(t, err, rpcerr.ErrResourceNotFound)
	_, err = h.WaitForTerminalExit(t.Context(), &acp.WaitForTerminalExitRequest{SessionID: s, TerminalID: id})
	assert.ErrorIs(t, err, rpcerr.ErrResourceNotFound)
	_, err = h.KillTerminal(t.Context(), &acp.KillTerminalRequest{SessionID: s, TerminalID: id})
	assert.ErrorIs(t, err, rpcerr.ErrResourceNotFound)
	_, err = h.ReleaseTerminal(t.Context(), &acp.ReleaseTerminalRequest{SessionID: s, TerminalID: id})
	assert.ErrorIs(t, err, rpcerr.ErrResourceNotFound)
}

// stubborn is the beginning of a script. It starts a process that ignores SIGTERM.
const stubborn = `sh -c 'trap "" TERM; echo $$; : > ready; while :; do sleep 0.05; done' & while [ ! -e ready ]; do sleep 0.01; done; `

// Processes that a command leaves behind end, even if they ignore SIGTERM, and do not delay the
// exit.
func TestGrandchildren(t *testing.T) {
	leak.Check(t)
	for name, rest := range map[string]string{"left behind": `exit 5`, "with the command": `trap "" TERM; echo $$; while :; do sleep 0.05; done`} {
		for end, f := range map[string]func(*runner, acp.TerminalID){
			"session":    func(h *runner, _ acp.TerminalID) { h.conn.Close("s") },
			"close":      func(h *runner, _ acp.TerminalID) { h.pool.Close() },
			"connection": func(h *runner, _ acp.TerminalID) { h.conn.End() },
			"release":    func(h *runner, id acp.TerminalID) { h.release(id); h.pool.Close() },
		} {
			t.Run(name+", "+end, func(t *testing.T) {
				t.Parallel()
				h := parallelRunner(t, &terminals.Options{Grace: 200 * time.Millisecond}, nil)
				id := h.sh(stubborn + rest)
				n := 1
				if name == "with the command" {
					n = 2
				}
				pids := h.pids(id, n)
				if n == 1 {
					assertExit(t, 5, h.wait(id))
				}
				f(h, id)
				requireGone(t, pids)
				_, err := h.tryCreate(acp.CreateTerminalRequest{Command: "true"})
				assert.ErrorIs(t, err, files.ErrUnknownSession)
			})
		}
	}
}

// A program that closes its host as it exits leaves no command behind, even if another call began
// to end the command just before.
func TestCloseWaitsForEndingCommands(t *testing.T) {
	leak.Check(t)
	for name, end := range map[string]func(*runner, acp.TerminalID){
		"connection": func(h *runner, _ acp.TerminalID) { h.conn.End() },
		"session":    func(h *runner, _ acp.TerminalID) { h.conn.Close("s") },
		"kill":       func(h *runner, id acp.TerminalID) { h.kill(id) },
		"release":    func(h *runner, id acp.TerminalID) { h.release(id) },
		"close":      func(h *runner, _ acp.TerminalID) { h.pool.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// In the grace a busy machine has to run the trap.
			h := parallelRunner(t, &terminals.Options{Grace: 3 * time.Second}, nil)
			id := h.sh(`exec 2>/dev/null; trap 'echo $$' TERM; echo $$; while :; do sleep 0.02; done`)
			h.pids(id, 1)
			var ending sync.WaitGroup
			ending.Go(func() { end(h, id) })
			pids := h.pids(id, 2) // the command was asked to end and ignores that
			assert.NoError(t, h.pool.Close())
			requireGone(t, pids)
			ending.Wait()
		})
	}
}

// A command that Options.Exec starts during Close is ended too.
func TestCloseWaitsForACommandThatStarts(t *testing.T) {
	p := &elsewhere{ended: make(chan struct{}), closed: make(chan struct{})}
	var h *runner
	var closing sync.WaitGroup
	h = newRunner(t, &terminals.Options{Exec: func(ctx context.Context, _ *terminals.Command, _ io.Writer) (terminals.Process, error) {
		closing.Go(func() { assert.NoError(t, h.pool.Close()) })
		<-ctx.Done() // the start fails
		return p, nil
	}}, nil)
	_, err := h.tryCreate(acp.CreateTerminalRequest{Command: "anything"})
	assert.ErrorIs(t, err, files.ErrUnknownSession)
	closing.Wait()
	<-p.closed
}

// Close returns an error if a command could not be ended.
func TestCloseReportsSurvivors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &immortal{elsewhere{ended: make(chan struct{}), closed: make(chan struct{})}}
		h := newRunner(t, &terminals.Options{Exec: func(context.Context, *terminals.Command, io.Writer) (terminals.Process, error) {
			return p, nil
		}}, nil)
		h.create(acp.CreateTerminalRequest{Command: "anything"})
		h.conn.End()
		assert.EqualError(t, h.pool.Close(), "terminals: 1 command has not ended although it was killed")
		p.elsewhere.Terminate()
		assert.NoError(t, h.pool.Close())
	})
}

// immortal cannot be ended.
type immortal struct{ elsewhere }

func (*immortal) Terminate() {}
func (*immortal) Kill()      {}

func TestKillStubborn(t *testing.T) {
	h := newRunner(t, &terminals.Options{Grace: 100 * time.Millisecond}, nil)
	id := h.sh(stubborn + `trap "" TERM; echo $$; while :; do sleep 0.05; done`)
	pids := h.pids(id, 2)
	h.kill(id)
	assert.Equal(t, "SIGKILL", h.wait(id).Signal)
	h.pool.Close()
	requireGone(t, pids)
}

// A daemon leaves the process group and holds the output. It is not ended, and delays nothing for
// long.
func TestDaemonHoldsTheOutput(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		if isLinux { // macOS has no setsid
			require.Empty(t, os.Getenv("CI"), "setsid is not installed, which CI must have")
		}
		t.Skip("setsid is not installed: the command of the test leaves its group with it")
	}
	h := newRunner(t, nil, nil)
	id := h.sh(`setsid sh -c 'echo $$; : > ready; exec sleep 1000' & while [ ! -e ready ]; do sleep 0.01; done; exit 0`)
	pid := h.pids(id, 1)[0]
	defer syscall.Kill(pid, syscall.SIGKILL)
	began := time.Now()
	assertExit(t, 0, h.wait(id))
	h.pool.Close()
	assert.Less(t, time.Since(began), 30*time.Second)
	assert.NoError(t, syscall.Kill(pid, 0), "it lives")
}

func TestIDs(t *testing.T) {
	h := newRunner(t, nil, nil)
	seen := map[acp.TerminalID]bool{}
	for range 50 {
		id := h.sh(`exit 0`)
		assert.False(t, seen[id])
		assert.Greater(t, len(id), 25)
		seen[id] = true
		h.wait(id)
		h.release(id)
	}
}

func TestThousandCreatesAtOnce(t *testing.T) {
	h := newRunner(t, nil, nil)
	var all sync.WaitGroup
	var mu sync.Mutex
	var made []acp.TerminalID
	for range 1000 {
		all.Go(func() { // ends with its create
			id, err := h.tryCreate(acp.CreateTerminalRequest{Command: "sh", Args: []string{"-c", "echo $$; exec sleep 1000"}})
			if err != nil {
				assert.ErrorIs(t, err, terminals.ErrTooMany)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			made = append(made, id)
		})
	}
	all.Wait()
	require.Len(t, made, 16)
	var pids []int
	for _, id := range made {
		pids = append(pids, h.pids(id, 1)...)
	}
	_, err := h.tryCreate(acp.CreateTerminalRequest{SessionID: "other", Command: "true"})
	assert.NoError(t, err, "another session has room")
	h.pool.Close()
	requireGone(t, pids)
}

func TestFailuresFreeTheirPlace(t *testing.T) {
	h := newRunner(t, &terminals.Options{PerSession: 1}, nil)
	for range 3 {
		_, err := h.tryCreate(acp.CreateTerminalRequest{Command: "no-such-command"})
		assert.ErrorIs(t, err, terminals.ErrNotFound)
	}
	id := h.sh(`exit 0`)
	h.wait(id)
	_, err := h.tryCreate(acp.CreateTerminalRequest{Command: "true"})
	assert.ErrorIs(t, err, terminals.ErrTooMany, "until it is released")
	h.release(id)
	h.sh(`exit 0`)
}

// The library that calls the handler recovers a panic of the user's code.
func TestPanicsFreeTheirPlace(t *testing.T) {
	panics := 3
	h := newRunner(t, &terminals.Options{PerSession: 1}, func(context.Context, *terminals.Command) error {
		if panics--; panics >= 0 {
			panic("oops")
		}
		return nil
	})
	for range 3 {
		assert.Panics(t, func() { _, _ = h.tryCreate(acp.CreateTerminalRequest{Command: "true"}) })
	}
	h.wait(h.sh(`exit 0`))
}

// No command is left if terminals are created while the session ends.
func TestCreateDuringTheEndOfASession(t *testing.T) {
	h := newRunner(t, nil, nil)
	for range 30 {
		h.conn.Open("s", h.work)
		var creates sync.WaitGroup
		var made atomic.Int32
		for range 8 {
			creates.Go(func() { // ends with its create
				if _, err := h.tryCreate(acp.CreateTerminalRequest{Command: "sleep", Args: []string{"1000"}}); err == nil {
					made.Add(1)
				}
			})
		}
		h.conn.Close("s")
		creates.Wait()
	}
	h.conn.Close("s")
	assert.NoError(t, h.pool.Close())
}

func TestTheSessionEndsDuringTheCheck(t *testing.T) {
	var h *runner
	h = newRunner(t, nil, func(context.Context, *terminals.Command) error { h.conn.Close("s"); return nil })
	_, err := h.tryCreate(acp.CreateTerminalRequest{Command: "touch", Args: []string{"made"}})
	assert.ErrorIs(t, err, files.ErrUnknownSession)
	assert.NoFileExists(t, h.work+"/made")
}

// elsewhere is a Process for Options.Exec.
type elsewhere struct {
	ended  chan struct{}
	end    sync.Once
	closed chan struct{}
}

func (e *elsewhere) Wait() acp.TerminalExitStatus {
	<-e.ended
	return acp.TerminalExitStatus{Signal: "SIGTERM"}
}
func (e *elsewhere) Terminate() { e.end.Do(func() { close(e.ended) }) }
func (e *elsewhere) Kill()      { e.Terminate() }
func (e *elsewhere) Close()     { close(e.closed) }

func TestExec(t *testing.T) {
	p := &elsewhere{ended: make(chan struct{}), closed: make(chan struct{})}
	var got *terminals.Command
	h := newRunner(t, &terminals.Options{Exec: func(_ context.Context, c *terminals.Command, out io.Writer) (terminals.Process, error) {
		got = c
		_, err := io.WriteString(out, "from a container\n")
		return p, err
	}}, nil)
	id := h.create(acp.CreateTerminalRequest{Command: "only-in-the-container", Args: []string{"x"}})
	assert.Equal(t, []string{"only-in-the-container", "x"}, got.Argv)
	assert.NotEmpty(t, got.Env)
	assert.Equal(t, "from a container\n", h.output(id).Output)
	h.kill(id)
	assert.Equal(t, "SIGTERM", h.wait(id).Signal)
	h.pool.Close()
	<-p.closed
}

// If Exec returns nil, the request fails and the program continues.
func TestExecThatReturnsNothing(t *testing.T) {
	h := newRunner(t, &terminals.Options{Exec: func(context.Context, *terminals.Command, io.Writer) (terminals.Process, error) {
		return nil, nil
	}}, nil)
	_, err := h.tryCreate(acp.CreateTerminalRequest{Command: "anything"})
	assert.ErrorContains(t, err, "Options.Exec returned neither")
	assert.ErrorIs(t, err, rpcerr.ErrInternal)
}
