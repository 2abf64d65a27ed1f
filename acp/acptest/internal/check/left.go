package check

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/acpkit/go-sdk/internal/process"
)

// markName is the variable by which processes that a peer has started are known after they have
// left its process group. Its value belongs to one connection.
const markName = "ACPTEST_PEER"

// Left gives the processes some time to end, or to be waited for.
func (l *processLink) Left() (left, known bool) {
	deadline := time.Now().Add(graceOfEnd)
	select {
	case <-l.done:
		return !l.group.Vanishes(deadline) || !process.Poll(func() bool { return l.strays() != nil }, deadline), true
	default:
		return !process.Poll(l.unreaped, deadline), true
	}
}

// strays returns the processes that the peer has started, wherever they are.
func (l *processLink) strays() (all []*os.Process) {
	processes("environ", func(pid int, env []byte) {
		if p, err := os.FindProcess(pid); err == nil && bytes.Contains(env, []byte(l.mark)) {
			all = append(all, p)
		}
	})
	return all
}

// unreaped reports whether the peer has children that have ended and that it has not waited for.
func (l *processLink) unreaped() (found bool) {
	processes("stat", func(_ int, stat []byte) {
		// It is "pid (name) state parent ...", and the name may contain any character.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		found = found || len(fields) > 1 && string(fields[0]) == "Z" && string(fields[1]) == strconv.Itoa(l.process.Pid)
	})
	return found
}

// processes calls f with a file of each process. It finds none on systems without /proc.
func processes(file string, f func(pid int, content []byte)) {
	dirs, _ := os.ReadDir("/proc")
	for _, dir := range dirs {
		if pid, err := strconv.Atoi(dir.Name()); err == nil {
			content, _ := os.ReadFile(filepath.Join("/proc", dir.Name(), file)) // it may have ended, or be that of another user
			f(pid, content)
		}
	}
}
