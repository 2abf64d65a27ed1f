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

// joinJob puts this program into a job, which all processes that it starts belong to, and theirs.
// The system ends them when this program has ended, because its handle of the job is the last one.
// If the system refuses, they end when their input does.
func joinJob(*exec.Cmd) {
	kernel32 := syscall.NewLazyDLL("kernel32.dll")
	job, _, _ := kernel32.NewProc("CreateJobObjectW").Call(0, 0)
	limits := jobLimits{flags: killOnJobClose}
	_, _, _ = kernel32.NewProc("SetInformationJobObject").Call(job, extendedLimitInformation, uintptr(unsafe.Pointer(&limits)), unsafe.Sizeof(limits))
	self, _ := syscall.GetCurrentProcess() // which never fails
	_, _, _ = kernel32.NewProc("AssignProcessToJobObject").Call(job, uintptr(self))
}

// watched returns the signals that do not end this program: the console has sent them to the agent
// too, which decides.
func watched() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

func pass(os.Signal, *os.Process) {}

func endLike(agent *os.ProcessState) { os.Exit(agent.ExitCode()) }
