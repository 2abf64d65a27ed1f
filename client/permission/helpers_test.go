package permission_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/permission"
)

// testScope is a policy with one connection. It stores the records.
type testScope struct {
	*permission.Scope
	policy *permission.Policy

	mu      sync.Mutex // guards both
	records []permission.Record
	asked   int
}

// newTestScope returns a testScope with the rules, which counts the calls of opts.Ask.
func newTestScope(t testing.TB, opts permission.Options, rules ...permission.Rule) *testScope {
	d := &testScope{}
	opts.Audit = func(r permission.Record) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.records = append(d.records, r)
	}
	if ask := opts.Ask; ask != nil {
		opts.Ask = func(ctx context.Context, q *permission.Question) (string, error) {
			d.mu.Lock()
			d.asked++
			d.mu.Unlock()
			return ask(ctx, q)
		}
	}
	d.policy = permission.New(&opts)
	require.NoError(t, d.policy.SetRules(rules...))
	d.Scope = d.policy.Scope()
	return d
}

func (d *testScope) last() permission.Record {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.records[len(d.records)-1]
}

func (d *testScope) timesAsked() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asked
}

// pick returns an Ask function that chooses the first option of the kind.
func pick(kind string) func(context.Context, *permission.Question) (string, error) {
	return func(_ context.Context, q *permission.Question) (string, error) { return q.Pick(kind), nil }
}

func options(kinds ...string) []permission.Option {
	var all []permission.Option
	for _, k := range kinds {
		all = append(all, permission.Option{ID: "id of " + k, Name: k, Kind: k})
	}
	return all
}

var usual = options(permission.AllowAlways, permission.AllowOnce, permission.RejectOnce, permission.RejectAlways)

// on returns a path as agents write it on this system: with a drive on Windows.
func on(path string) string { return filepath.VolumeName(os.TempDir()) + path }

// resolved returns the resolved form of the path that [on] returns.
func resolved(path string) string { return filepath.FromSlash(on(path)) }

func question(tool permission.Tool) *permission.Question {
	return &permission.Question{Session: "s", Workspace: "/w", Turn: 1, Agent: "a", Tool: &tool, Options: usual}
}

func command(argv ...string) permission.Act {
	return permission.Act{Session: "s", Workspace: "/w", Turn: 1, Operation: permission.Operation{Action: permission.ActionCommand, Argv: argv, Cwd: "/w"}}
}

func shell(line string) permission.Act {
	a := command(line)
	a.Operation.Shell = true
	return a
}

func write(path, text string) permission.Act {
	return permission.Act{Session: "s", Workspace: "/w", Turn: 1, Operation: permission.Operation{
		Action: permission.ActionWrite, Path: path, Digest: permission.DigestOf(text)}}
}

// fromWire sends a permission request of version 1 with these params.
func fromWire(t testing.TB, s *permission.Scope, params string) acp.RequestPermissionOutcome {
	t.Helper()
	var req acp.RequestPermissionRequest
	require.NoError(t, json.Unmarshal([]byte(params), &req))
	part := permission.Requests{Scope: s, Session: func(context.Context, acp.SessionID) (string, uint64, bool) { return "/w", 1, true }, Agent: func() string { return "a" }}
	res, err := part.RequestPermission(t.Context(), &req)
	require.NoError(t, err)
	return res.Outcome
}
