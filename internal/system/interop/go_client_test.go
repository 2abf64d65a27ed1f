package interop_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"

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
