//go:build unix

package stream

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// group is a process with all it started that did not leave its process group.
type group struct {
	leader *os.Process
	own    bool // the group is the process's own; otherwise only the process is meant

	mu   sync.Mutex // guards gone; held while signalling
	gone bool       // nothing is left: the number may mean others by now
}

// newGroup arranges for cmd to lead a process group, unless the caller has
// arranged that already or wants another one.
func newGroup(cmd *exec.Cmd) *group {
	var attr syscall.SysProcAttr
	if cmd.SysProcAttr != nil {
		attr = *cmd.SysProcAttr
	}
	if !attr.Setsid && !attr.Setpgid {
		attr.Setpgid, attr.Pgid = true, 0
	}
	cmd.SysProcAttr = &attr
	return &group{own: attr.Setsid || attr.Pgid == 0}
}

func (g *group) started(p *os.Process) { g.leader = p }

// terminate asks all to end, and wakes those that were stopped, or they would not
// hear it.
func (g *group) terminate() {
	g.signal(syscall.SIGTERM)
	g.signal(syscall.SIGCONT)
}

func (g *group) kill() { g.signal(syscall.SIGKILL) }

func (g *group) signal(sig syscall.Signal) {
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

// reaped is called once the leader is gone and tells whether others are left.
func (g *group) reaped() bool { return g.alive() }

// alive is for when the leader is gone: are others left? Once it has said no, the
// group is not signalled any more.
func (g *group) alive() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gone {
		return false
	}
	alive := g.own && syscall.Kill(-g.leader.Pid, 0) != syscall.ESRCH && !onlyZombies(g.leader.Pid)
	g.gone = !alive
	return alive
}

// vanishes waits until nothing is left or the time is up. Nobody reports the end
// of a grandchild, so it looks again and again.
func (g *group) vanishes(deadline time.Time) bool {
	for pause := time.Millisecond; g.alive(); pause = min(2*pause, 50*time.Millisecond) {
		left := time.Until(deadline)
		if left <= 0 {
			return false
		}
		time.Sleep(min(pause, left))
	}
	return true
}

func (g *group) close() {}

func signalName(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}
