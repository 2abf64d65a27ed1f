package process

import (
	"os"
	"syscall"
	"unsafe"
)

var (
	kernel32                      = syscall.NewLazyDLL("kernel32.dll")
	procCreateJobObject           = kernel32.NewProc("CreateJobObjectW")
	procSetInformationJobObject   = kernel32.NewProc("SetInformationJobObject")
	procQueryInformationJobObject = kernel32.NewProc("QueryInformationJobObject")
	procAssignProcessToJobObject  = kernel32.NewProc("AssignProcessToJobObject")
	procTerminateJobObject        = kernel32.NewProc("TerminateJobObject")
	procGenerateConsoleCtrlEvent  = kernel32.NewProc("GenerateConsoleCtrlEvent")
	procNtResumeProcess           = syscall.NewLazyDLL("ntdll.dll").NewProc("NtResumeProcess")
)

const (
	basicAccountingInformation = 1
	extendedLimitInformation   = 9
	killOnJobClose             = 0x2000
	ctrlBreakEvent             = 1
)

// jobLimits is JOBOBJECT_EXTENDED_LIMIT_INFORMATION.
type jobLimits struct {
	perProcessUserTimeLimit, perJobUserTimeLimit int64
	limitFlags                                   uint32
	minimumWorkingSetSize, maximumWorkingSetSize uintptr
	activeProcessLimit                           uint32
	affinity                                     uintptr
	priorityClass, schedulingClass               uint32
	_                                            [8 - unsafe.Sizeof(uintptr(0))]byte // C aligns the next field to 8
	ioCounters                                   [6]uint64
	processMemoryLimit, jobMemoryLimit           uintptr
	peakProcessMemoryUsed, peakJobMemoryUsed     uintptr
}

// jobAccounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type jobAccounting struct {
	totalUserTime, totalKernelTime, thisPeriodUserTime, thisPeriodKernelTime int64
	pageFaults, totalProcesses, activeProcesses, terminatedProcesses         uint32
}

// job is the handle of a job object. The methods of 0 do nothing.
type job syscall.Handle

// newJob puts a process into a job that ends with its last handle. It returns 0 if that fails.
func newJob(p *os.Process) job {
	handle, _, _ := procCreateJobObject.Call(0, 0)
	if handle == 0 {
		return 0
	}
	limits := jobLimits{limitFlags: killOnJobClose}
	ok, _, _ := procSetInformationJobObject.Call(handle, extendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), unsafe.Sizeof(limits))
	if ok != 0 {
		err := p.WithHandle(func(process uintptr) {
			ok, _, _ = procAssignProcessToJobObject.Call(handle, process)
		})
		if err != nil {
			ok = 0
		}
	}
	if ok == 0 {
		job(handle).close()
		return 0
	}
	return job(handle)
}

func (j job) terminate() {
	if j != 0 {
		_, _, _ = procTerminateJobObject.Call(uintptr(j), 1)
	}
}

// alive reports whether a process of the job runs or is about to end.
func (j job) alive() bool {
	if j == 0 {
		return false
	}
	var a jobAccounting
	ok, _, _ := procQueryInformationJobObject.Call(uintptr(j), basicAccountingInformation,
		uintptr(unsafe.Pointer(&a)), unsafe.Sizeof(a), 0)
	return ok != 0 && a.activeProcesses > 0
}

func (j job) close() {
	if j != 0 {
		_ = syscall.CloseHandle(syscall.Handle(j))
	}
}
