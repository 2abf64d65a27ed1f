package interop_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// goTerminal is a command that the client runs for its agent.
type goTerminal struct {
	cmd    *exec.Cmd
	out    strings.Builder // read and written under client.mu
	client *goClient
	exited chan struct{} // closed when status is set
	status acp.TerminalExitStatus
}

// Write collects the output of a terminal.
func (t *goTerminal) Write(b []byte) (int, error) {
	t.client.mu.Lock()
	defer t.client.mu.Unlock()
	return t.out.Write(b)
}

func (h *goClient) CreateTerminal(_ context.Context, req *acp.CreateTerminalRequest) (*acp.CreateTerminalResponse, error) {
	h.note("terminal/create", req)
	t := &goTerminal{cmd: exec.Command(req.Command, req.Args...), client: h, exited: make(chan struct{})}
	t.cmd.Dir, t.cmd.Env = req.Cwd, os.Environ()
	for _, v := range req.Env {
		t.cmd.Env = append(t.cmd.Env, v.Name+"="+v.Value)
	}
	t.cmd.Stdout, t.cmd.Stderr = t, t
	if err := t.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { // ends with the command
		defer close(t.exited)
		_ = t.cmd.Wait()
		if s, ok := t.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
			t.status.Signal = map[syscall.Signal]string{syscall.SIGKILL: "SIGKILL", syscall.SIGTERM: "SIGTERM"}[s.Signal()]
			return
		}
		t.status.ExitCode = new(uint32(t.cmd.ProcessState.ExitCode()))
	}()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.made++
	id := acp.TerminalID(fmt.Sprintf("term-%d", h.made))
	h.terminals[id] = t
	return &acp.CreateTerminalResponse{TerminalID: id}, nil
}

func (h *goClient) terminal(id acp.TerminalID) (*goTerminal, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.terminals[id]; t != nil {
		return t, nil
	}
	return nil, rpcerr.ResourceNotFound(string(id))
}

func (h *goClient) TerminalOutput(_ context.Context, req *acp.TerminalOutputRequest) (*acp.TerminalOutputResponse, error) {
	t, err := h.terminal(req.TerminalID)
	if err != nil {
		return nil, err
	}
	res := &acp.TerminalOutputResponse{}
	select {
	case <-t.exited:
		res.ExitStatus = &t.status
	default:
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	res.Output = t.out.String()
	return res, nil
}

func (h *goClient) WaitForTerminalExit(ctx context.Context, req *acp.WaitForTerminalExitRequest) (*acp.WaitForTerminalExitResponse, error) {
	t, err := h.terminal(req.TerminalID)
	if err != nil {
		return nil, err
	}
	select {
	case <-t.exited:
		return &acp.WaitForTerminalExitResponse{ExitCode: t.status.ExitCode, Signal: t.status.Signal}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (h *goClient) KillTerminal(_ context.Context, req *acp.KillTerminalRequest) (*acp.KillTerminalResponse, error) {
	t, err := h.terminal(req.TerminalID)
	if err != nil {
		return nil, err
	}
	_ = t.cmd.Process.Kill() // it may have ended already
	return &acp.KillTerminalResponse{}, nil
}

func (h *goClient) ReleaseTerminal(ctx context.Context, req *acp.ReleaseTerminalRequest) (*acp.ReleaseTerminalResponse, error) {
	if _, err := h.KillTerminal(ctx, &acp.KillTerminalRequest{TerminalID: req.TerminalID}); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.terminals, req.TerminalID)
	return &acp.ReleaseTerminalResponse{}, nil
}
