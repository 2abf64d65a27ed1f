package main

import (
	"os"
	"os/exec"
	"syscall"
	"unsafe"
)

// jobLimits is JOBOBJECT_EXTENDED_LIMIT_INFORMATION of a 64-bit system. Only the flags matter.
type jobLimits struct {
	_     [16]byte
	flags uint32
	_     [124]byte
}

const (
	extendedLimitInformation = 9
	killOnJobClose           = 0x2000
)

func init() { leash = joinJob }

// joinJob puts this program into a job. All processes that it starts belong to the job, and so do
// theirs. The job ends them when this program ends, because it has the only handle of the job. If the
// system refuses the job, the agent still sees the end of its input.
func joinJob(*exec.Cmd) {
	kernel32 := syscall.NewLazyDLL("kernel32.dll")
	job, _, _ := kernel32.NewProc("CreateJobObjectW").Call(0, 0)
	limits := jobLimits{flags: killOnJobClose}
	_, _, _ = kernel32.NewProc("SetInformationJobObject").Call(job, extendedLimitInformation, uintptr(unsafe.Pointer(&limits)), unsafe.Sizeof(limits))
	self, _ := syscall.GetCurrentProcess() // which never fails
	_, _, _ = kernel32.NewProc("AssignProcessToJobObject").Call(job, uintptr(self))
}

// watched returns the signals that do not end this program. The console sends them to the agent too,
// and this program ends when the agent does.
func watched() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

func passOn(os.Signal) bool { return false }

// group is empty: the console sends signals to all.
type group struct{}

func newGroup() *group { return nil }

func (*group) got(os.Signal) bool { return true }

func witness() {}

func endLike(agent *os.ProcessState) { os.Exit(agent.ExitCode()) }
