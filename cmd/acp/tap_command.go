package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
)

// linger is how long tap still reads the output of an agent that has ended. Another process may
// keep the pipe open.
const linger = time.Second

// leash prepares cmd to be ended by the system when this program ends, even by kill -9. Where the
// system cannot do that, it does nothing.
var leash = func(cmd *exec.Cmd) {}

// tapCommand stands between standard input and output and an agent, which it starts. The agent
// stays in the process group of this program, as if its parent had started it. tapCommand returns
// only if the agent cannot be started; otherwise the program ends as the agent does.
func tapCommand(args []string, o *tapOptions) error {
	cmd := exec.Command(args[0], args[1:]...)
	if cmd.Err != nil {
		return startError(args[0], cmd.Err)
	}
	signals := make(chan os.Signal, 16)
	// Before the agent starts, so that no signal is lost. With SIGPIPE caught, a write to a peer that
	// has gone returns an error.
	signal.Notify(signals, append(watched(), syscall.SIGPIPE)...)
	rec := o.record(args)
	in, out, err := startAgent(cmd)
	if err != nil {
		if rec.Close(catchUp) && rec != nil {
			_ = os.Remove(rec.Path)
		}
		return startError(args[0], err)
	}
	client, agent := rec.Connect()
	go func() { // ends with the input of this program, or with the program
		pump(in, os.Stdin, client)
		client.End("")
	}()
	passed := make(chan struct{})
	go func() { // ends soon after the agent
		defer close(passed)
		pump(os.Stdout, out, agent)
	}()
	go func() { // ends with the program
		for sig := range signals {
			pass(sig, cmd.Process)
		}
	}()
	_ = cmd.Wait() // the state says how it ended
	var late <-chan time.Time
	if out.SetReadDeadline(time.Now().Add(linger)) != nil { // on Windows
		late = time.After(catchUp)
	}
	select {
	case <-passed:
	case <-late:
	}
	agent.End(cmd.ProcessState.String())
	rec.Close(catchUp)
	endLike(cmd.ProcessState)
	return nil
}

// startAgent starts the agent and returns its input and output.
func startAgent(cmd *exec.Cmd) (in, out *os.File, err error) {
	runtime.LockOSThread() // a leash may end the agent when the thread that has started it ends
	inR, in, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer inR.Close()
	out, outW, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer outW.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, os.Stderr
	leash(cmd)
	return in, out, cmd.Start()
}

// pump passes on what it reads until one of the two files ends or fails. It closes both then, so that
// each peer sees the end of the other.
func pump(to, from *os.File, lane *recording.Lane) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		began := time.Now()
		n, err := from.Read(buf)
		lane.Write(buf[:n]) // before it is passed on, so that a response is never recorded first
		if writeAll(to, buf[:n]) != nil {
			return
		}
		if errors.Is(err, os.ErrDeadlineExceeded) && time.Since(began) < linger/2 {
			err = from.SetReadDeadline(time.Now().Add(linger)) // the time ran out in writeAll, and more may be there
		}
		if err != nil && !isAgain(err) {
			return
		}
	}
}

// writeAll writes b, also to a file that another process has set to non-blocking mode.
func writeAll(to io.Writer, b []byte) error {
	for len(b) > 0 {
		n, err := to.Write(b)
		if b = b[n:]; err != nil && !isAgain(err) {
			return err
		}
	}
	return nil
}

// isAgain reports whether a file has nothing to read or no room now. It waits a moment if so.
func isAgain(err error) bool {
	if errors.Is(err, syscall.EAGAIN) {
		time.Sleep(time.Millisecond)
		return true
	}
	return false
}
