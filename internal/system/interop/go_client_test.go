package interop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// goClient is the client of the tests: permissions, real files, real terminals and
// elicitation, with a record of everything it was asked.
type goClient struct {
	record
	updates   []acp.SessionUpdate      // guarded by record.mu, like the rest
	allow     acp.PermissionOptionKind // which option to choose; empty holds the question open
	terminals map[acp.TerminalID]*goTerminal
	made      int
}

func newGoClient() *goClient {
	return &goClient{record: record{changed: make(chan struct{})}, allow: acp.PermissionOptionKindAllowOnce, terminals: map[acp.TerminalID]*goTerminal{}}
}

// reset forgets what was recorded, and chooses the answer to permission requests.
func (h *goClient) reset(allow acp.PermissionOptionKind) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.updates, h.journal, h.allow = nil, nil, allow
}

func (h *goClient) recorded() ([]acp.SessionUpdate, []entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.updates), slices.Clone(h.journal)
}

func (h *goClient) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.updates = append(h.updates, n.Update)
	h.wakeLocked()
	return nil
}

func (h *goClient) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	h.note("session/request_permission", req)
	h.mu.Lock()
	allow := h.allow
	h.mu.Unlock()
	if allow == "" {
		<-ctx.Done() // the SDK answers for us when the turn is cancelled
		return nil, ctx.Err()
	}
	for _, o := range req.Options {
		if o.Kind == allow {
			return acp.Selected(o.OptionID), nil
		}
	}
	return acp.Cancelled(), nil
}

func (h *goClient) ReadTextFile(_ context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	h.note("fs/read_text_file", req)
	b, err := os.ReadFile(req.Path)
	if err != nil {
		return nil, rpcerr.ResourceNotFound(req.Path).WithCause(err)
	}
	if req.Line == nil && req.Limit == nil {
		return &acp.ReadTextFileResponse{Content: string(b)}, nil
	}
	lines := strings.Split(string(b), "\n")
	if req.Line != nil && *req.Line > 0 {
		lines = lines[min(int(*req.Line)-1, len(lines)):]
	}
	if req.Limit != nil {
		lines = lines[:min(int(*req.Limit), len(lines))]
	}
	return &acp.ReadTextFileResponse{Content: strings.Join(lines, "\n")}, nil
}

func (h *goClient) WriteTextFile(_ context.Context, req *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	h.note("fs/write_text_file", req)
	return nil, os.WriteFile(req.Path, []byte(req.Content), 0o600)
}

func (h *goClient) CreateElicitation(_ context.Context, req *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	h.note("elicitation/create", req)
	form, ok := req.Mode.(*acp.ElicitationFormMode)
	switch {
	case !ok:
		return &acp.CreateElicitationResponse{Action: &acp.ElicitationAcceptAction{}}, nil
	case req.Message == "Decline me":
		return &acp.CreateElicitationResponse{Action: &acp.ElicitationDeclineAction{}}, nil
	}
	answers := map[string]acp.ElicitationContentValue{
		"token": acp.ElicitationString("s3cret"), "name": acp.ElicitationString("Ann"), "level": acp.ElicitationInteger(3),
		"share": acp.ElicitationNumber(0.5), "web": acp.ElicitationBoolean(true), "tags": acp.ElicitationStrings{"a", "b"},
	}
	content := map[string]acp.ElicitationContentValue{}
	for name := range form.RequestedSchema.Properties {
		if v, ok := answers[name]; ok {
			content[name] = v
		}
	}
	return &acp.CreateElicitationResponse{Action: &acp.ElicitationAcceptAction{Content: content}}, nil
}

func (h *goClient) CompleteElicitation(_ context.Context, n *acp.CompleteElicitationNotification) error {
	h.note("elicitation/complete", n)
	return nil
}

func (h *goClient) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	switch method {
	case "_interop/client_echo":
		var order struct{ After string }
		if err := json.Unmarshal(params, &order); err != nil {
			return nil, rpcerr.InvalidParams(nil).WithCause(err)
		}
		if order.After != "" {
			if err := h.until(ctx, func() bool { return h.seenLocked("_interop/client_wait") }); err != nil {
				return nil, err
			}
		}
		return map[string]any{"echo": params}, nil
	case "_interop/client_wait":
		h.note(method, nil)
		<-ctx.Done()
		h.note(method+" cancelled", nil)
		return nil, ctx.Err()
	}
	return nil, rpcerr.MethodNotFound(method)
}

func (h *goClient) HandleExtensionNotification(_ context.Context, method string, params json.RawMessage) error {
	h.note(method, params)
	return nil
}

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
