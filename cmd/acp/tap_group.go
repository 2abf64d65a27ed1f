//go:build unix

package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

const (
	// witnessEnv makes this program the witness of a tap.
	witnessEnv = "ACP_TAP_WITNESS"
	// pong is the answer of the witness. Its other bytes are the numbers of signals.
	pong = 0
	// mark is a signal that the witness sends to itself, and that nobody else uses.
	mark = syscall.SIGVTALRM
	// hear is how long the witness may take to answer, unless it is stuck.
	hear = 10 * time.Second
)

// group finds out whether a signal was sent to the whole process group, as terminals and many clients
// do, so that the agent has it already. A program cannot see that. A witness can: another process of
// this program in the group, which says what signals it gets. It ends with this program, because its
// input does.
type group struct {
	ask  io.Writer
	says chan byte
	seen map[syscall.Signal]int // that this program will get too
}

// newGroup starts the witness, and waits until it sees signals. It returns nil if it cannot be started:
// the agent gets a signal to the group twice then.
func newGroup() *group {
	self, err := os.Executable()
	if runtime.GOOS == "linux" { // also if the file was replaced
		self, err = "/proc/self/exe", nil
	}
	if err != nil {
		return nil
	}
	cmd := exec.Command(self)
	cmd.Args = []string{"acp tap: witness of signals"}
	cmd.Env = append(cmd.Environ(), witnessEnv+"=1")
	ask, err := cmd.StdinPipe()
	if err != nil {
		return nil
	}
	out, err := cmd.StdoutPipe()
	if err != nil || cmd.Start() != nil {
		return nil
	}
	g := &group{ask: ask, says: make(chan byte, 64), seen: map[syscall.Signal]int{}}
	go func() { // ends with the witness
		defer close(g.says)
		for in := bufio.NewReader(out); ; {
			b, err := in.ReadByte()
			if err != nil {
				_ = cmd.Wait()
				return
			}
			g.says <- b
		}
	}()
	g.got(mark) // it sees signals when it has answered
	return g
}

// got reports whether the other processes of the group have got a signal that this program has got. It
// is called by one goroutine.
func (g *group) got(sig os.Signal) bool {
	if g == nil {
		return false
	}
	_, _ = g.ask.Write([]byte{pong}) // if it has ended, says is closed
	late := time.After(hear)
	for {
		select {
		case b, ok := <-g.says:
			if ok && b != pong {
				g.seen[syscall.Signal(b)]++
				continue
			}
		case <-late:
		}
		s, _ := sig.(syscall.Signal)
		if g.seen[s] == 0 {
			return false
		}
		g.seen[s]--
		return true
	}
}

// witness plays the witness if this process is one. It answers a question behind all signals that were
// sent before: it has seen them when it has seen one that it sends to itself, and another one, because the
// Go runtime gives signals that come at the same time in the order of their numbers.
func witness() {
	if os.Getenv(witnessEnv) == "" {
		return
	}
	signals, marks := make(chan os.Signal, 64), make(chan struct{})
	signal.Notify(signals, append(watched(), mark)...)
	go func() { // ends with the program
		for sig := range signals {
			if s, ok := sig.(syscall.Signal); ok && s != mark {
				_, _ = os.Stdout.Write([]byte{byte(s)})
			} else {
				marks <- struct{}{}
			}
		}
	}()
	for question := []byte{0}; ; {
		if _, err := os.Stdin.Read(question); err != nil {
			os.Exit(0)
		}
		for range 2 {
			_ = syscall.Kill(os.Getpid(), mark) // every process may signal itself
			<-marks
		}
		_, _ = os.Stdout.Write([]byte{pong})
	}
}
