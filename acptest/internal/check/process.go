package check

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/internal/process"
	"github.com/acpkit/go-sdk/stream/mask"
	"github.com/acpkit/go-sdk/stream/safetext"
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

// The end of standard error that is kept, and the part of it that is shown.
const (
	stderrBytes = 16 << 10
	stderrLines = 20
)

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
	l.cmd, l.in, l.out, l.lines = cmd, in, out, bufio.NewReaderSize(out, 64<<10)
	go func() { // ends with the process, which Close kills
		defer close(l.done)
		_ = cmd.Wait() // how it ended is not checked, and is told by Last
		l.group.Reaped()
	}()
	return l, nil
}

// processLink is a [Link] to a child process.
type processLink struct {
	mark   string // of all processes that the peer starts
	group  *process.Group
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *os.File
	lines  *bufio.Reader
	stderr tail
	done   chan struct{}
	close  sync.Once
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
	_ = l.cmd.Process.Signal(os.Interrupt) // it may have ended
	return runtime.GOOS != "windows"
}

func (l *processLink) Last() (last Last) {
	last.Stderr = l.stderr.String()
	select {
	case <-l.done:
		last.Exit = l.cmd.ProcessState.String()
	default:
	}
	return last
}

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
		for _, pid := range l.strays() {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill() // it may have ended
				_ = p.Release()
			}
		}
		l.group.Vanishes(time.Now().Add(graceOfEnd))
		l.group.Close()
		_ = l.out.Close()
	})
	return nil
}

// tail keeps the end of what is written to it. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	text []byte
	cut  bool
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[max(0, len(b)-stderrBytes):]...)
	if over := len(t.text) - stderrBytes; over > 0 {
		t.text, t.cut = append(t.text[:0], t.text[over:]...), true
	}
	return len(b), nil
}

// String returns the last lines, clean for a terminal and with credentials masked.
func (t *tail) String() string {
	t.mu.Lock()
	text := string(t.text)
	if t.cut { // half a line may have half a credential, which is not known by its shape
		_, text, _ = strings.Cut(text, "\n")
	}
	t.mu.Unlock()
	masked, _ := new(mask.Masker).JSON(encode(safetext.Lines(text, len(text))))
	_ = json.Unmarshal(masked, &text) // it is a text, and masked JSON is JSON
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-stderrLines):], "\n")
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
func (l *processLink) strays() (all []int) {
	processes("environ", func(pid int, env []byte) {
		if bytes.Contains(env, []byte(l.mark)) {
			all = append(all, pid)
		}
	})
	return all
}

// unreaped reports whether the peer has children that have ended and that it has not waited for.
func (l *processLink) unreaped() (found bool) {
	processes("stat", func(_ int, stat []byte) {
		// It is "pid (name) state parent ...", and the name may contain any character.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		found = found || len(fields) > 1 && string(fields[0]) == "Z" && string(fields[1]) == strconv.Itoa(l.cmd.Process.Pid)
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
