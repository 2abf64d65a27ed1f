//go:build unix

package process

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"strconv"
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
func (g *Group) Vanishes(deadline time.Time) bool { return Poll(g.alive, deadline) }

func (g *Group) release() {}

// SignalName returns the system's name of the signal that ended a process ("killed"), or "" if no
// signal did.
func SignalName(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}

// onlyZombies reports whether all processes of a group have ended, but nothing has waited for them.
// In a container without an init process, nothing ever does. On systems without /proc it returns
// false: the wait for a group is bounded.
func onlyZombies(pgid int) bool {
	if runtime.GOOS != "linux" {
		return false
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return false
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return false
	}
	found := false
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // it has just ended
		}
		// The line is "pid (name) state ppid pgrp ...", and the name may contain any character.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) < 3 || string(fields[2]) != strconv.Itoa(pgid) {
			continue
		}
		if state := fields[0][0]; state != 'Z' && state != 'X' {
			return false
		}
		found = true
	}
	return found
}
