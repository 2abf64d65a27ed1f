package check

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/internal/process"
)

// Command says how a peer is started.
type Command struct {
	Args []string
	Env  []string // of the process, whole; nil means that of this program
	Dir  string
}

// graceOfEnd is how long a process may take to end before it is asked to, and again before it is
// killed.
const graceOfEnd = 2 * time.Second

// stderrBytes is how much of the beginning of standard error is kept.
const stderrBytes = 4 << 10

// stderrGrace is how long the standard error of a process may stay open after its end.
const stderrGrace = 100 * time.Millisecond

// Start returns a target that is started as a process for each connection.
func Start(c Command) Target {
	return Target{Kind: Process, Open: func(context.Context, string) (Link, error) { return start(c) }}
}

func start(c Command) (*processLink, error) {
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	l := &processLink{mark: markName + "=" + rand.Text(), done: make(chan struct{})}
	cmd.Env, cmd.Dir, cmd.WaitDelay = c.Env, c.Dir, stderrGrace
	cmd.Env = append(cmd.Environ(), l.mark)
	cmd.Stderr = &l.stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// The pipe is not one of package exec, which closes it when the process has ended: what it
	// wrote before is read.
	out, outWriter, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	cmd.Stdout = outWriter
	l.group, err = process.Start(cmd)
	_ = outWriter.Close() // the process has its own
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s does not start: %w", c.Args[0], err), out.Close()) // package exec has closed in
	}
	l.process, l.in, l.out, l.lines = cmd.Process, in, out, bufio.NewReaderSize(out, 64<<10)
	go func() { // ends with the process, which Close kills
		defer close(l.done)
		_ = cmd.Wait() // how it ended is not checked
		l.group.Reaped()
	}()
	return l, nil
}

// processLink is a [Link] to a child process.
type processLink struct {
	mark    string // of all processes that the peer starts
	group   *process.Group
	process *os.Process
	in      io.WriteCloser
	out     *os.File
	lines   *bufio.Reader
	stderr  head
	done    chan struct{}
	close   sync.Once
}

func (l *processLink) Read() ([]byte, error) { return readLine(l.lines) }

func (l *processLink) Write(b []byte) error {
	_, err := l.in.Write(b)
	return err
}

func (l *processLink) CloseInput() error     { return l.in.Close() }
func (l *processLink) Done() <-chan struct{} { return l.done }

// Interrupt does what Ctrl-C on a terminal does.
func (l *processLink) Interrupt() bool {
	_ = l.process.Signal(os.Interrupt) // it may have ended
	return runtime.GOOS != "windows"
}

// Stderr returns the beginning of what the peer has written to its standard error.
func (l *processLink) Stderr() string { return l.stderr.String() }

func (l *processLink) Close() error {
	l.close.Do(func() {
		_ = l.in.Close() // it may have ended already
		for _, end := range []func(){l.group.Terminate, l.group.Kill} {
			select {
			case <-l.done:
			case <-time.After(graceOfEnd):
				end()
			}
		}
		<-l.done // a killed process ends
		l.group.Kill()
		for _, p := range l.strays() {
			_ = p.Kill() // it may have ended
		}
		l.group.Vanishes(time.Now().Add(graceOfEnd))
		l.group.Close()
		_ = l.out.Close()
	})
	return nil
}

// head keeps the beginning of what is written to it. It is safe for concurrent use.
type head struct {
	mu   sync.Mutex
	text []byte
}

func (h *head) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text = append(h.text, b[:min(len(b), stderrBytes-len(h.text))]...)
	return len(b), nil
}

func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.text)
}

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
