package terminals_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
)

// runner runs commands in a folder.
type runner struct {
	*terminals.Terminals
	t       testing.TB
	conn    *peertest.Sessions
	folders *files.Folders
	pool    *terminals.Pool
	base    string
	work    string
	session acp.SessionID

	more chan struct{} // something was printed
	mu   sync.Mutex    // guards text
	text map[acp.TerminalID]string
}

func newRunner(t testing.TB, opts *terminals.Options, check terminals.Check) *runner {
	t.Helper()
	leak.Check(t)
	return parallelRunner(t, opts, check)
}

// parallelRunner is newRunner for a subtest that runs in parallel with others: the test around them
// calls leak.Check.
func parallelRunner(t testing.TB, opts *terminals.Options, check terminals.Check) *runner {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	h := &runner{t: t, base: base, work: filepath.Join(base, "work"), session: "s", more: make(chan struct{}, 1), text: map[acp.TerminalID]string{}}
	require.NoError(t, os.Mkdir(h.work, 0o755))
	h.folders, err = files.Open(&files.Options{Roots: []string{h.work}})
	require.NoError(t, err)
	t.Cleanup(func() { h.folders.Close() })
	h.conn = peertest.NewSessions(h.work, "s", "other")
	var o terminals.Options
	if opts != nil {
		o = *opts
	}
	if o.OnOutput == nil {
		o.OnOutput = h.heard
	}
	if testing.CoverMode() != "" { // without a folder for its counters, the test binary prints a warning when it exits
		o.Env = append(slices.Clone(o.Env), "GOCOVERDIR="+t.TempDir())
	}
	h.pool = terminals.New(h.folders, &o)
	t.Cleanup(func() { h.pool.Close() })
	h.Terminals = h.pool.Terminals(h.conn, check)
	return h
}

func (h *runner) tryCreate(req acp.CreateTerminalRequest) (acp.TerminalID, error) {
	if req.SessionID == "" {
		req.SessionID = h.session
	}
	res, err := h.CreateTerminal(h.conn.Handling(context.Background()), &req)
	if err != nil {
		return "", err
	}
	return res.TerminalID, nil
}

func (h *runner) create(req acp.CreateTerminalRequest) acp.TerminalID {
	h.t.Helper()
	id, err := h.tryCreate(req)
	require.NoError(h.t, err)
	return id
}

// play returns a request for a program of the test binary.
func play(name string, args ...string) acp.CreateTerminalRequest {
	return acp.CreateTerminalRequest{Command: os.Args[0], Args: append([]string{"play", name}, args...)}
}

// sh starts a script as a program with arguments, not as a shell line.
func (h *runner) sh(script string) acp.TerminalID {
	h.t.Helper()
	return h.create(acp.CreateTerminalRequest{Command: "sh", Args: []string{"-c", script}})
}

func (h *runner) wait(id acp.TerminalID) *acp.WaitForTerminalExitResponse {
	h.t.Helper()
	res, err := h.WaitForTerminalExit(context.Background(), &acp.WaitForTerminalExitRequest{SessionID: h.session, TerminalID: id})
	require.NoError(h.t, err)
	return res
}

func (h *runner) output(id acp.TerminalID) *acp.TerminalOutputResponse {
	h.t.Helper()
	res, err := h.TerminalOutput(context.Background(), &acp.TerminalOutputRequest{SessionID: h.session, TerminalID: id})
	require.NoError(h.t, err)
	return res
}

// run runs a command and returns its output.
func (h *runner) run(req acp.CreateTerminalRequest) string {
	h.t.Helper()
	id := h.create(req)
	h.wait(id)
	return h.output(id).Output
}

func (h *runner) kill(id acp.TerminalID) {
	h.t.Helper()
	_, err := h.KillTerminal(context.Background(), &acp.KillTerminalRequest{SessionID: h.session, TerminalID: id})
	require.NoError(h.t, err)
}

func (h *runner) release(id acp.TerminalID) {
	h.t.Helper()
	_, err := h.ReleaseTerminal(context.Background(), &acp.ReleaseTerminalRequest{SessionID: h.session, TerminalID: id})
	require.NoError(h.t, err)
}

// heard is the default for Options.OnOutput.
func (h *runner) heard(o terminals.Output) {
	h.mu.Lock()
	if len(h.text[o.Terminal]) < 1000 { // more than the lines that pids reads
		h.text[o.Terminal] += string(o.Data)
	}
	h.mu.Unlock()
	select {
	case h.more <- struct{}{}:
	default:
	}
}

// pids waits until a terminal has printed n lines, and returns the numbers in them.
func (h *runner) pids(id acp.TerminalID, n int) []int {
	h.t.Helper()
	for {
		h.mu.Lock()
		text := h.text[id]
		h.mu.Unlock()
		if lines := strings.Fields(text); len(lines) >= n && strings.HasSuffix(text, "\n") {
			pids := make([]int, n)
			for i := range pids {
				pid, err := strconv.Atoi(lines[i])
				require.NoError(h.t, err)
				pids[i] = pid
			}
			return pids
		}
		select {
		case <-h.more:
		case <-time.After(time.Minute):
			require.Fail(h.t, "a command is silent", "it has printed %q, and %d lines are wanted", text, n)
		}
	}
}

func requireGone(t testing.TB, pids []int) {
	t.Helper()
	for _, pid := range pids {
		leak.CheckProcess(t, pid)
	}
}

func assertExit(t testing.TB, want uint32, res *acp.WaitForTerminalExitResponse) {
	t.Helper()
	if assert.NotNil(t, res.ExitCode) {
		assert.Equal(t, want, *res.ExitCode)
	}
	assert.Empty(t, res.Signal)
}
