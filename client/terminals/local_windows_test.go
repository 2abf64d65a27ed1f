package terminals_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/internal/wine"
)

func TestExitCodes(t *testing.T) {
	h := newRunner(t, nil, nil)
	for text, want := range map[string]uint32{"0": 0, "42": 42, "-1": 1<<32 - 1} {
		id := h.create(play("exit", text))
		assertExit(t, want, h.wait(id))
		assert.Equal(t, want, *h.output(id).ExitStatus.ExitCode)
		h.release(id)
	}
}

// Processes that a command leaves behind end with it, and do not delay the exit.
func TestLeftProcessesEnd(t *testing.T) {
	h := newRunner(t, &terminals.Options{Grace: time.Hour}, nil)
	id := h.create(play("leave", "file", "5"))
	assertExit(t, 5, h.wait(id))
	h.pool.Close()
	requireGone(t, h.pids(id, 1))
}

func TestProcessTreeEnds(t *testing.T) {
	for end, f := range map[string]func(*runner, acp.TerminalID){
		"kill": func(h *runner, id acp.TerminalID) {
			h.kill(id)
			assertExit(h.t, 1, h.wait(id))
			h.pool.Close()
		},
		"session":    func(h *runner, _ acp.TerminalID) { h.conn.Close("s") },
		"close":      func(h *runner, _ acp.TerminalID) { h.pool.Close() },
		"connection": func(h *runner, _ acp.TerminalID) { h.conn.End() },
		"release":    func(h *runner, id acp.TerminalID) { h.release(id); h.pool.Close() },
	} {
		t.Run(end, func(t *testing.T) {
			h := newRunner(t, &terminals.Options{Grace: -1}, nil)
			id := h.create(play("stay", "file"))
			pids := h.pids(id, 2)
			f(h, id)
			requireGone(t, pids)
		})
	}
}

// A command that does not handle Ctrl-Break is ended by it.
func TestKillAsksFirst(t *testing.T) {
	wine.Lacks(t, "GenerateConsoleCtrlEvent for a process group")
	h := newRunner(t, &terminals.Options{Grace: time.Hour}, nil)
	id := h.create(play("stay", "file"))
	pids := h.pids(id, 2)
	h.kill(id)
	h.wait(id)
	h.pool.Close()
	requireGone(t, pids)
}
