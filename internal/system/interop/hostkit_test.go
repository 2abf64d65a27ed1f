package interop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
)

// hostKit is package client/host with an agent on the TypeScript SDK, which makes the
// requests that a test lists.
type hostKit struct {
	t       *testing.T
	ctx     context.Context
	base    string // holds work, and what the agent must not reach
	work    string // the folder of the session
	host    *host.Host
	conn    *client.Conn
	session *client.Session
	ran     int // entries of the journal that were looked at
}

// newHostKit starts the agent and opens a session in work. Of opts.Roots only the first
// is used, for the session too; empty means work.
func newHostKit(t *testing.T, opts host.Options) *hostKit {
	t.Helper()
	needShell(t)
	ctx, cancel := context.WithTimeout(t.Context(), conversationTimeout)
	t.Cleanup(cancel)
	k := &hostKit{t: t, ctx: ctx, base: pairtest.TempDir(t)}
	k.work = filepath.Join(k.base, "work")
	require.NoError(t, os.Mkdir(k.work, 0o755))
	cwd := k.work
	if len(opts.Roots) == 0 {
		opts.Roots = []string{k.work}
	} else {
		cwd = opts.Roots[0]
	}
	h, err := host.New(&opts)
	require.NoError(t, err)
	k.host = h
	t.Cleanup(func() { h.Close() })
	command := node(t, "agent.mjs")
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "INTEROP_SECRET=canary")
	var c acp.Client
	k.conn = dialFor(t, cmd, pairtest.StrictLogger(t), func(conn *client.Conn) acp.Client { c = h.Client(conn); return c })
	_, err = k.conn.Initialize(ctx, &acp.InitializeRequest{ClientCapabilities: h.Capabilities(c)})
	require.NoError(t, err)
	k.session, err = k.conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: cwd})
	require.NoError(t, err)
	return k
}

// step is one step of a script; peers/README.md says what the members mean.
type step struct {
	Label  string         `json:"label,omitempty"`
	Method string         `json:"method,omitempty"`
	Params map[string]any `json:"params,omitempty"`
	Notify string         `json:"notify,omitempty"`
}

func (s step) of(session string) step { s.Params["sessionId"] = session; return s }
func readStep(label, path string) step {
	return step{Label: label, Method: acp.MethodFSReadTextFile, Params: map[string]any{"path": path}}
}

func writeStep(label, path string, content any) step {
	return step{Label: label, Method: acp.MethodFSWriteTextFile, Params: map[string]any{"path": path, "content": content}}
}

// prompt sends a script.
func (k *hostKit) prompt(steps ...step) *client.Turn {
	k.t.Helper()
	script, err := json.Marshal(steps)
	require.NoError(k.t, err)
	return k.session.Prompt(k.ctx, acp.Text("script"), acp.Text(string(script)))
}

// run sends a script and returns the responses, by label.
func (k *hostKit) run(steps ...step) responses {
	k.t.Helper()
	_, err := k.prompt(steps...).Wait()
	require.NoError(k.t, err)
	return k.responses()
}

// responses returns the responses since it was last called.
func (k *hostKit) responses() responses {
	k.t.Helper()
	all := journal(k.ctx, k.t, k.conn)
	got := responses{}
	for _, e := range all[k.ran:] {
		got[e.What] = e.Value
	}
	k.ran = len(all)
	return got
}

func (k *hostKit) at(rel string) string { return k.work + "/" + rel } // which keeps dots

func (k *hostKit) put(path, text string) {
	k.t.Helper()
	require.NoError(k.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(k.t, os.WriteFile(path, []byte(text), 0o644))
}

func (k *hostKit) link(target, path string) {
	k.t.Helper()
	require.NoError(k.t, os.Symlink(target, path))
}

func (k *hostKit) text(path string) string {
	k.t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(k.t, err)
	return string(b)
}

// responses are responses as they reached the agent.
type responses map[string]json.RawMessage

// get is a response as JSON; of an error only its code.
func (a responses) get(label string) string {
	raw, ok := a["answer:"+label]
	if !ok {
		return "no response"
	}
	return brief(raw)
}

// decode reads a response.
func (a responses) decode(t *testing.T, label string, v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(a["answer:"+label], v), a.get(label))
}

func brief(raw json.RawMessage) string {
	var failed struct{ Error *struct{ Code int } }
	if json.Unmarshal(raw, &failed) == nil && failed.Error != nil {
		return fmt.Sprint(failed.Error.Code)
	}
	return string(raw)
}

// yes is a user who allows everything once.
func yes(_ context.Context, q *permission.Question) (string, error) {
	return q.Pick(permission.AllowOnce), nil
}
