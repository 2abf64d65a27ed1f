package process

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// createSuspended starts a process suspended.
const createSuspended = 0x4

// Group is a process and everything that it started. It is a job object, which ends its processes
// when its last handle is closed. If no job can be made, the group is only the process. The methods
// are safe for concurrent use.
type Group struct {
	leader *os.Process
	held   bool // the process was started suspended and must be resumed

	mu  sync.Mutex // guards job
	job job
}

// newGroup makes cmd the root of a console group, so that a Ctrl-Break can be sent to it alone. The
// process is put into its job before it runs, because a process that it starts earlier would be
// outside of the job.
func newGroup(cmd *exec.Cmd) *Group {
	var attr syscall.SysProcAttr
	if cmd.SysProcAttr != nil {
		attr = *cmd.SysProcAttr
	}
	held := attr.CreationFlags&createSuspended == 0 // otherwise the caller resumes it
	attr.CreationFlags |= syscall.CREATE_NEW_PROCESS_GROUP | createSuspended
	cmd.SysProcAttr = &attr
	return &Group{held: held}
}

// started puts the process into a job and resumes it. If it returns an error, the process has not
// run and never will.
func (g *Group) started(p *os.Process) error {
	g.leader = p
	g.job = newJob(p)
	if !g.held {
		return nil
	}
	if err := resume(p); err != nil {
		g.Kill()
		g.release()
		return fmt.Errorf("resuming the process: %w", err)
	}
	return nil
}

// resume resumes a suspended process as a whole, because the handle of its first thread is not
// available.
func resume(p *os.Process) error {
	var status uintptr
	err := p.WithHandle(func(handle uintptr) {
		status, _, _ = procNtResumeProcess.Call(handle)
	})
	if err == nil && int32(status) < 0 {
		err = fmt.Errorf("NtResumeProcess: status %#x", uint32(status))
	}
	return err
}

// Terminate asks all processes of the group to end, by a Ctrl-Break event. Programs without a
// console do not receive it. Nor does a group whose leader was waited for.
func (g *Group) Terminate() {
	_ = g.leader.WithHandle(func(uintptr) { // so that the id cannot belong to another process
		_, _, _ = procGenerateConsoleCtrlEvent.Call(ctrlBreakEvent, uintptr(g.leader.Pid))
	})
}

// Kill ends all processes of the group at once.
func (g *Group) Kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.job.terminate()
	_ = g.leader.Kill()
}

// Reaped must be called after the leader was waited for. It kills the remaining processes, because
// nothing gentler reaches them, and reports whether any are left.
func (g *Group) Reaped() bool {
	g.Kill()
	return g.alive()
}

func (g *Group) alive() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.job.alive()
}

// Vanishes waits until the group is empty. It returns false if it is not empty at the deadline. A
// killed process takes a moment to end, so Vanishes polls.
func (g *Group) Vanishes(deadline time.Time) bool { return Poll(g.alive, deadline) }

func (g *Group) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.job.close()
	g.job = 0
}

// SignalName returns "", because no signal ends a process here.
func SignalName(*os.ProcessState) string { return "" }
