//go:build unix

package process

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Group is a process and everything that it started and that did not leave its process
// group. Its methods are safe for concurrent use.
type Group struct {
	leader *os.Process
	own    bool // the process leads the group; otherwise only the process is meant

	mu   sync.Mutex // guards gone; held while signalling
	gone bool       // nothing is left: the number may belong to other processes
}

// newGroup arranges for cmd to lead a process group, unless the caller has
// arranged that already or wants another one.
func newGroup(cmd *exec.Cmd) *Group {
	var attr syscall.SysProcAttr
	if cmd.SysProcAttr != nil {
		attr = *cmd.SysProcAttr
	}
	if !attr.Setsid && !attr.Setpgid {
		attr.Setpgid, attr.Pgid = true, 0
	}
	cmd.SysProcAttr = &attr
	return &Group{own: attr.Setsid || attr.Pgid == 0}
}

func (g *Group) started(p *os.Process) error {
	g.leader = p
	return nil
}

// Terminate asks all processes of the group to end. It also wakes those that were
// stopped, because they could not react otherwise.
func (g *Group) Terminate() {
	g.signal(syscall.SIGTERM)
	g.signal(syscall.SIGCONT)
}

// Kill ends all processes of the group at once.
func (g *Group) Kill() { g.signal(syscall.SIGKILL) }

func (g *Group) signal(sig syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.gone:
	case g.own:
		_ = syscall.Kill(-g.leader.Pid, sig) // they may be gone, or not ours to signal
	default:
		_ = g.leader.Signal(sig)
	}
}

// Reaped must be called after the leader was waited for. It reports whether other
// processes of the group are left.
func (g *Group) Reaped() bool { return g.alive() }

// alive reports whether others are left, after the leader has ended. Once it has
// returned false, the group is no longer signalled.
func (g *Group) alive() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gone {
		return false
	}
	alive := g.own && syscall.Kill(-g.leader.Pid, 0) != syscall.ESRCH && !onlyZombies(g.leader.Pid)
	g.gone = !alive
	return alive
}

// Vanishes waits until nothing is left of the group, and reports false if the deadline
// is earlier.
func (g *Group) Vanishes(deadline time.Time) bool { return poll(g.alive, deadline) }

func (g *Group) release() {}

// SignalName returns the name of the signal that ended a process, as the system spells
// it ("killed"), and "" if none did.
func SignalName(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}
