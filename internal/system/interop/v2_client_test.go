package interop_test

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Answers of the client of version 2 to a request for permission, besides the kinds of
// options.
const (
	keepOpen  acp.PermissionOptionKind = ""        // no answer until the turn is cancelled
	postponed acp.PermissionOptionKind = "_unsure" // an outcome that no version of the protocol defines
)

// goClient2 is the client of the tests in version 2: permissions and elicitation, with a
// record of everything it was told.
type goClient2 struct {
	record
	updates []acp.SessionUpdate      // guarded by record.mu
	allow   acp.PermissionOptionKind // guarded by record.mu
}

func newGoClient2() *goClient2 {
	return &goClient2{record: record{changed: make(chan struct{})}, allow: acp.PermissionOptionKindAllowOnce}
}

// reset forgets what was recorded, and chooses the answer to permission requests.
func (h *goClient2) reset(allow acp.PermissionOptionKind) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.updates, h.journal, h.allow = nil, nil, allow
}

// seen are the updates since the last reset.
func (h *goClient2) seen() []acp.SessionUpdate {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.updates)
}

// says reports whether the agent has said that text. The caller holds the lock.
func (h *goClient2) saysLocked(text string) bool {
	return slices.ContainsFunc(h.updates, func(u acp.SessionUpdate) bool {
		chunk, ok := u.(*acp.AgentMessageChunk)
		return ok && acp.PlainText(chunk.Content) == text
	})
}

func (h *goClient2) SessionUpdate(_ context.Context, n *acp.UpdateSessionNotification) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.updates = append(h.updates, n.Update)
	h.wakeLocked()
	return nil
}

func (h *goClient2) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	h.note("session/request_permission", req)
	h.mu.Lock()
	allow := h.allow
	h.mu.Unlock()
	switch allow {
	case keepOpen:
		<-ctx.Done() // the SDK answers for us when the turn is cancelled
		h.note("session/request_permission cancelled", nil)
		return nil, ctx.Err()
	case postponed:
		return &acp.RequestPermissionResponse{Outcome: &acp.UnknownRequestPermissionOutcome{
			Type: "_unsure", Raw: json.RawMessage(`{"outcome":"_unsure","until":"tomorrow"}`),
		}}, nil
	}
	return acp.SelectKind(req.Options, allow), nil
}

func (h *goClient2) CreateElicitation(_ context.Context, req *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	h.note("elicitation/create", req)
	form, ok := req.Mode.(*acp.ElicitationFormMode)
	switch {
	case !ok:
		return &acp.CreateElicitationResponse{Action: &acp.ElicitationAcceptAction{}}, nil
	case req.Message == "Decline me":
		return &acp.CreateElicitationResponse{Action: &acp.ElicitationDeclineAction{}}, nil
	case req.Message == "Postpone me":
		return &acp.CreateElicitationResponse{Action: &acp.UnknownElicitationAction{Type: "_later", Raw: json.RawMessage(`{"action":"_later","days":2}`)}}, nil
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

func (h *goClient2) CompleteElicitation(_ context.Context, n *acp.CompleteElicitationNotification) error {
	h.note("elicitation/complete", n)
	return nil
}

func (h *goClient2) AuthStatusUpdate(_ context.Context, n *acp.AuthStatusUpdateNotification) error {
	h.note("auth/status_update", n)
	return nil
}

func (h *goClient2) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	if method != "_interop/client_echo" {
		return nil, rpcerr.MethodNotFound(method)
	}
	var order struct{ After string }
	if err := json.Unmarshal(params, &order); err != nil {
		return nil, rpcerr.InvalidParams(nil).WithCause(err)
	}
	if order.After != "" {
		if err := h.until(ctx, func() bool { return h.seenLocked(order.After) }); err != nil {
			return nil, err
		}
	}
	return map[string]any{"echo": params}, nil
}

func (h *goClient2) HandleExtensionNotification(_ context.Context, method string, params json.RawMessage) error {
	h.note(method, params)
	return nil
}
