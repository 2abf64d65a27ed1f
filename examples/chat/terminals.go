package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// terminals runs the agent's commands as processes of this machine, with the
// rights of the user. Each gets a process group of its own, so that killing it
// takes its children along.
type terminals struct {
	files *files

	mu     sync.Mutex // guards what follows
	next   int
	all    map[acp.TerminalID]*terminal
	closed bool
}

type terminal struct {
	cmd    *exec.Cmd
	output tail
	done   chan struct{} // closed when the command has ended and status is set
	status acp.TerminalExitStatus
}

const (
	defaultOutput = 1 << 20  // bytes kept where the agent sets no limit
	maxOutput     = 16 << 20 // bytes kept at most
	maxTerminals  = 64       // an agent has at once
)

func newTerminals(f *files) *terminals {
	return &terminals{files: f, all: make(map[acp.TerminalID]*terminal)}
}

// Close kills what still runs and waits for it.
func (ts *terminals) Close() {
	ts.mu.Lock()
	all := ts.all
	ts.all, ts.closed = make(map[acp.TerminalID]*terminal), true
	ts.mu.Unlock()
	for _, t := range all {
		t.kill()
		<-t.done
	}
}

func (ts *terminals) CreateTerminal(_ context.Context, req *acp.CreateTerminalRequest) (*acp.CreateTerminalResponse, error) {
	dir := ts.files.real
	if req.Cwd != "" {
		rel, err := ts.files.inside(req.Cwd)
		if err != nil {
			return nil, err
		}
		if info, err := ts.files.root.Stat(rel); err != nil || !info.IsDir() {
			return nil, rpcerr.InvalidParams(map[string]any{"cwd": req.Cwd}).WithDetail("cwd is no folder").WithCause(err)
		}
		dir = ts.files.real + string(os.PathSeparator) + rel
	}
	limit := defaultOutput
	if req.OutputByteLimit != nil {
		limit = int(min(*req.OutputByteLimit, maxOutput))
	}
	t := &terminal{cmd: exec.Command(req.Command, req.Args...), done: make(chan struct{})}
	t.output.limit = limit
	t.cmd.Dir = dir
	t.cmd.Env = os.Environ()
	for _, e := range req.Env {
		t.cmd.Env = append(t.cmd.Env, e.Name+"="+e.Value)
	}
	t.cmd.Stdout, t.cmd.Stderr = &t.output, &t.output
	t.cmd.WaitDelay = 2 * time.Second // a grandchild may hold the pipes for ever
	ownGroup(t.cmd)

	// Locked while it starts, so that none begins behind Close.
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if ts.closed || len(ts.all) >= maxTerminals {
		return nil, rpcerr.InternalError(nil).WithDetail("too many terminals: release some")
	}
	if err := t.cmd.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return nil, rpcerr.InvalidParams(map[string]any{"command": req.Command}).WithDetail("no such command").WithCause(err)
		}
		return nil, rpcerr.InternalError(nil).WithDetail("the command could not be started").WithCause(err)
	}
	go t.wait() // ends with the command

	ts.next++
	id := acp.TerminalID("term_" + strconv.Itoa(ts.next))
	ts.all[id] = t
	return &acp.CreateTerminalResponse{TerminalID: id}, nil
}

func (t *terminal) wait() {
	t.cmd.Wait()
	killGroup(t.cmd) // what the command has left behind
	t.status = exitStatus(t.cmd.ProcessState)
	close(t.done)
}

func (t *terminal) kill() {
	select {
	case <-t.done:
	default:
		killGroup(t.cmd)
	}
}

func (ts *terminals) find(id acp.TerminalID) (*terminal, error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t := ts.all[id]; t != nil {
		return t, nil
	}
	return nil, rpcerr.ResourceNotFound(string(id))
}

func (ts *terminals) TerminalOutput(_ context.Context, req *acp.TerminalOutputRequest) (*acp.TerminalOutputResponse, error) {
	t, err := ts.find(req.TerminalID)
	if err != nil {
		return nil, err
	}
	res := &acp.TerminalOutputResponse{}
	select {
	case <-t.done:
		res.ExitStatus = &t.status
	default:
	}
	res.Output, res.Truncated = t.output.text()
	return res, nil
}

func (ts *terminals) WaitForTerminalExit(ctx context.Context, req *acp.WaitForTerminalExitRequest) (*acp.WaitForTerminalExitResponse, error) {
	t, err := ts.find(req.TerminalID)
	if err != nil {
		return nil, err
	}
	select {
	case <-t.done:
		return &acp.WaitForTerminalExitResponse{ExitCode: t.status.ExitCode, Signal: t.status.Signal}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (ts *terminals) KillTerminal(_ context.Context, req *acp.KillTerminalRequest) (*acp.KillTerminalResponse, error) {
	t, err := ts.find(req.TerminalID)
	if err != nil {
		return nil, err
	}
	t.kill()
	return nil, nil
}

func (ts *terminals) ReleaseTerminal(_ context.Context, req *acp.ReleaseTerminalRequest) (*acp.ReleaseTerminalResponse, error) {
	t, err := ts.find(req.TerminalID)
	if err != nil {
		return nil, err
	}
	ts.mu.Lock()
	delete(ts.all, req.TerminalID)
	ts.mu.Unlock()
	t.kill()
	return nil, nil
}
