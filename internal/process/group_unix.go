//go:build unix

package process

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Group is a process and everything that it started and that stayed in its process group. Its
// methods are safe for concurrent use.
type Group struct {
	leader *os.Process
	own    bool // the process leads a process group; otherwise Group is only the process

	mu   sync.Mutex // guards gone; held while signalling
	gone bool       // the group is empty, and its number may belong to other processes
}

// newGroup makes cmd the leader of a process group, unless the caller has already configured a
// group.
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

// Terminate asks all processes of the group to end. It also continues stopped processes, which
// could not react otherwise.
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
		_ = syscall.Kill(-g.leader.Pid, sig) // they may have ended, or belong to another user
	default:
		_ = g.leader.Signal(sig)
	}
}

// Reaped must be called after the leader was waited for. It reports whether the group still has
// processes.
func (g *Group) Reaped() bool { return g.alive() }

// alive reports whether the group still has processes after its leader has ended. Once it has
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

// Vanishes waits until the group is empty. It returns false if it is not empty at the deadline.
func (g *Group) Vanishes(deadline time.Time) bool { return poll(g.alive, deadline) }

func (g *Group) release() {}

// SignalName returns the system's name of the signal that ended a process ("killed"), or "" if no
// signal did.
func SignalName(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}
