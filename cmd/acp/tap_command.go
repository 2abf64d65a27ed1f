package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
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
	group := newGroup() // before the agent, so that it gets each signal to the group that the agent gets
	in, out, said, err := startAgent(cmd)
	early := len(signals) // the agent has not got them, or they have ended it
	if err != nil {
		if rec.Close(catchUp); rec != nil {
			_ = os.Remove(rec.Path)
		}
		return startError(args[0], err)
	}
	client, agent := rec.Connect()
	go func() { // ends with the input of this program, or with the program
		pump(in, os.Stdin, client)
		client.End("")
	}()
	var passed sync.WaitGroup
	passed.Go(func() { pump(os.Stdout, out, agent) }) // ends soon after the agent
	passed.Go(func() {                                // ends soon after the agent
		lane := agent.Stderr()
		pump(os.Stderr, said, lane)
		lane.End("")
	})
	go func() { // ends with the program
		for sig := range signals {
			if passOn(sig) && (!group.got(sig) || early > 0) {
				_ = cmd.Process.Signal(sig) // it may have ended
			}
			early--
			if sig != syscall.SIGPIPE {
				client.Note(recording.Signal, sig.String())
			}
		}
	}()
	_ = cmd.Wait() // the state says how it ended
	all := make(chan struct{})
	go func() { // ends with the pumps, or with the program
		passed.Wait()
		close(all)
	}()
	var late <-chan time.Time
	now := time.Now()
	if errors.Join(out.SetReadDeadline(now.Add(linger)), said.SetReadDeadline(now.Add(linger))) != nil { // on Windows
		late = time.After(catchUp)
	}
	select {
	case <-all:
	case <-late:
	}
	agent.End("")
	agent.Note(recording.Exit, cmd.ProcessState.String())
	finish(rec)
	endLike(cmd.ProcessState)
	return nil
}

// startAgent starts the agent and returns its input, its output and its standard error.
func startAgent(cmd *exec.Cmd) (in, out, said *os.File, err error) {
	runtime.LockOSThread() // a leash may end the agent when the thread that has started it ends
	inR, in, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	defer inR.Close()
	out, outW, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	defer outW.Close()
	said, saidW, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	defer saidW.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, saidW
	leash(cmd)
	return in, out, said, cmd.Start()
}

// pump passes on what it reads until one of the two files ends or fails. It closes both then, so that
// each peer sees the end of the other. Standard error stays open, for this program.
func pump(to, from *os.File, lane *recording.Lane) {
	if to != os.Stderr {
		defer to.Close()
	}
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
