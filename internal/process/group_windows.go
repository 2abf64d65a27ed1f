package process

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

var (
	kernel32                     = syscall.NewLazyDLL("kernel32.dll")
	procCreateJobObject          = kernel32.NewProc("CreateJobObjectW")
	procSetInformationJobObject  = kernel32.NewProc("SetInformationJobObject")
	procAssignProcessToJobObject = kernel32.NewProc("AssignProcessToJobObject")
	procTerminateJobObject       = kernel32.NewProc("TerminateJobObject")
	procGenerateConsoleCtrlEvent = kernel32.NewProc("GenerateConsoleCtrlEvent")
)

const (
	extendedLimitInformation = 9
	killOnJobClose           = 0x2000
	ctrlBreakEvent           = 1
)

// jobLimits is JOBOBJECT_EXTENDED_LIMIT_INFORMATION.
type jobLimits struct {
	perProcessUserTimeLimit, perJobUserTimeLimit int64
	limitFlags                                   uint32
	minimumWorkingSetSize, maximumWorkingSetSize uintptr
	activeProcessLimit                           uint32
	affinity                                     uintptr
	priorityClass, schedulingClass               uint32
	_                                            [8 - unsafe.Sizeof(uintptr(0))]byte // C aligns what follows to 8
	ioCounters                                   [6]uint64
	processMemoryLimit, jobMemoryLimit           uintptr
	peakProcessMemoryUsed, peakJobMemoryUsed     uintptr
}

// Group is a process and everything that it started: a job object, which ends its
// processes when its last handle is closed. What the process starts before it is put
// into the job stays outside. If there can be no job, only the process is ended. The
// methods are safe for concurrent use.
type Group struct {
	leader *os.Process

	mu  sync.Mutex // guards job
	job syscall.Handle
}

// newGroup makes cmd the root of a console group, so that it alone can be sent a
// Ctrl-Break.
func newGroup(cmd *exec.Cmd) *Group {
	var attr syscall.SysProcAttr
	if cmd.SysProcAttr != nil {
		attr = *cmd.SysProcAttr
	}
	attr.CreationFlags |= syscall.CREATE_NEW_PROCESS_GROUP
	cmd.SysProcAttr = &attr
	return &Group{}
}

func (g *Group) started(p *os.Process) {
	g.leader = p
	job, _, _ := procCreateJobObject.Call(0, 0)
	if job == 0 {
		return
	}
	limits := jobLimits{limitFlags: killOnJobClose}
	ok, _, _ := procSetInformationJobObject.Call(job, extendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), unsafe.Sizeof(limits))
	if ok != 0 {
		err := p.WithHandle(func(handle uintptr) {
			ok, _, _ = procAssignProcessToJobObject.Call(job, handle)
		})
		if err != nil {
			ok = 0
		}
	}
	if ok == 0 {
		_ = syscall.CloseHandle(syscall.Handle(job))
		return
	}
	g.job = syscall.Handle(job)
}

// Terminate asks all processes of the group to end by a Ctrl-Break event. Programs
// without a console do not receive it.
func (g *Group) Terminate() {
	_, _, _ = procGenerateConsoleCtrlEvent.Call(ctrlBreakEvent, uintptr(g.leader.Pid))
}

// Kill ends all processes of the group at once.
func (g *Group) Kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		_, _, _ = procTerminateJobObject.Call(uintptr(g.job), 1)
	}
	_ = g.leader.Kill()
}

// Reaped must be called after the leader was waited for. It kills what is left at once,
// since no gentler way reaches it, and reports false.
func (g *Group) Reaped() bool {
	g.Kill()
	return false
}

// Vanishes reports true: Reaped has killed what was left.
func (g *Group) Vanishes(time.Time) bool { return true }

func (g *Group) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		_ = syscall.CloseHandle(g.job)
		g.job = 0
	}
}

// SignalName returns "": no signal ends a process here.
func SignalName(*os.ProcessState) string { return "" }
