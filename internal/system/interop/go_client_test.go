package interop_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/elicitation"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/rpcerr"
)

// goClient is the client of the tests: permissions, and files, terminals and forms as the packages of
// the SDK serve them, with a record of everything it was asked.
type goClient struct {
	*files.ReadWriter
	*terminals.Terminals
	*elicitation.FormsAndPages

	record
	dir     string // that the agent may use
	folders *files.Folders
	pool    *terminals.Pool
	updates []acp.SessionUpdate      // guarded by record.mu
	allow   acp.PermissionOptionKind // guarded by record.mu: which option to choose; empty holds the question open
}

func newGoClient(t *testing.T) *goClient {
	t.Helper()
	h := &goClient{record: record{changed: make(chan struct{})}, allow: acp.PermissionOptionKindAllowOnce, dir: pairtest.TempDir(t)}
	var err error
	h.folders, err = files.Open(&files.Options{Roots: []string{h.dir}})
	require.NoError(t, err)
	h.pool = terminals.New(h.folders, &terminals.Options{AgentEnv: []string{"GREETING"}})
	t.Cleanup(func() {
		assert.NoError(t, h.pool.Close())
		assert.NoError(t, h.folders.Close())
	})
	return h
}

// of returns the client of a connection.
func (h *goClient) of(conn *client.Conn) acp.Client {
	h.ReadWriter = h.folders.ReadWriter(conn, nil)
	h.Terminals = h.pool.Terminals(conn, nil)
	h.FormsAndPages = &elicitation.FormsAndPages{Ask: fillIn, Open: func(context.Context, *elicitation.Page) error { return nil }}
	return h
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
	return acp.SelectKind(req.Options, allow), nil
}

func (h *goClient) ReadTextFile(ctx context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	h.note("fs/read_text_file", req)
	return h.ReadWriter.ReadTextFile(ctx, req)
}

func (h *goClient) CreateTerminal(ctx context.Context, req *acp.CreateTerminalRequest) (*acp.CreateTerminalResponse, error) {
	h.note("terminal/create", req)
	return h.Terminals.CreateTerminal(ctx, req)
}

func (h *goClient) CreateElicitation(ctx context.Context, req *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	h.note("elicitation/create", req)
	return h.FormsAndPages.CreateElicitation(ctx, req)
}

// fillIn is the user of the forms.
func fillIn(_ context.Context, form *elicitation.Form) (map[string]acp.ElicitationContentValue, error) {
	if form.Message == "Decline me" {
		return nil, elicitation.ErrDeclined
	}
	answers := map[string]acp.ElicitationContentValue{
		"token": acp.ElicitationString("s3cret"), "name": acp.ElicitationString("Ann"), "level": acp.ElicitationInteger(3),
		"share": acp.ElicitationNumber(0.5), "web": acp.ElicitationBoolean(true), "tags": acp.ElicitationStrings{"a", "b"},
	}
	maps.DeleteFunc(answers, func(name string, _ acp.ElicitationContentValue) bool { return form.Schema.Properties[name] == nil })
	return answers, nil
}

func (h *goClient) CompleteElicitation(ctx context.Context, n *acp.CompleteElicitationNotification) error {
	h.note("elicitation/complete", n)
	return h.FormsAndPages.CompleteElicitation(ctx, n)
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
