// Package agent is an agent whose errors are as they should be. The analyzers have nothing
// to say about it.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/contract"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolcode"
	"github.com/acpkit/go-sdk/rpcerr/toolerr"
	"github.com/acpkit/go-sdk/stream"
)

// notes declares how the tool read_notes fails.
var notes = contract.New("read_notes")

var (
	noNote = notes.Declare(contract.Mode{
		Reason: "no_note", Kind: kind.NotFound,
		When: "There is no note of that name.", Recovery: "Call list_notes to see which notes exist.",
	})
	tooMany = notes.Declare(contract.Mode{
		Reason: "too_many_calls", Kind: kind.RateLimited, Retryable: true,
		When: "The notes were read too often.", Recovery: "Wait for a minute and read fewer notes.",
	})
)

// errLocked is found by errors.Is alone; an adapter gives it a kind.
var errLocked = errors.New("the notebook is locked")

var classifier = classify.New(
	classify.Is(errLocked, kind.Conflict),
	classify.As(func(e *exec.Error) *kind.Error {
		return kind.Configuration.New("A program is not installed.").With("program", e.Name)
	}),
)

// quotaError is an error type of the agent's own.
type quotaError struct {
	Limit int
	cause error
}

func (e *quotaError) Error() string { return fmt.Sprintf("more than %d calls", e.Limit) }
func (e *quotaError) Unwrap() error { return e.cause }
func (e *quotaError) RequestError() *rpcerr.RequestError {
	return rpcerr.New(-31500, "quota used up", map[string]any{"limit": e.Limit}).WithCause(e.cause)
}

type notebook struct {
	mu    sync.Mutex // guards calls and locked
	calls int
	lock  bool

	conn     *agent.Conn
	folder   string
	signedIn bool
	client   *http.Client
}

func serve(ctx context.Context, folder string) error {
	err := agent.Serve(ctx, stream.Stdio(), func(c *agent.Conn) acp.Agent {
		return &notebook{conn: c, folder: folder, client: http.DefaultClient}
	}, nil)
	if err != nil {
		return fmt.Errorf("serving: %w", err)
	}
	return nil
}

func (n *notebook) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{}, nil
}

func (n *notebook) NewSession(_ context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	if !n.signedIn {
		return nil, rpcerr.AuthRequired(nil)
	}
	info, err := os.Stat(req.Cwd)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, rpcerr.ResourceNotFound(req.Cwd).WithCause(err)
	}
	if err != nil {
		return nil, kind.Internal.Newf(err, "The folder cannot be looked at")
	} else if !info.IsDir() {
		return nil, rpcerr.InvalidParams(nil).WithDetail("cwd is a file")
	}
	return &acp.NewSessionResponse{SessionID: "s1"}, nil
}

func (n *notebook) Cancel(context.Context, *acp.CancelNotification) error { return nil }

func (n *notebook) Prompt(ctx context.Context, req *acp.PromptRequest) (res *acp.PromptResponse, err error) {
	defer func() {
		if err != nil {
			slog.Info("prompt failed", "error", err)
		}
	}()
	if req.SessionID != "s1" {
		return nil, rpcerr.SessionNotFound(string(req.SessionID))
	}
	words := strings.Fields(acp.PlainText(req.Prompt...))
	if len(words) == 0 {
		return nil, kind.Validation.New("The prompt is empty.").WithHint("Write what to do.")
	}
	s := n.conn.Session(req.SessionID)
	for _, word := range words {
		if err := n.tool(ctx, s, word); err != nil {
			return nil, err
		}
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

// tool runs one tool call.
func (n *notebook) tool(ctx context.Context, s *agent.Session, name string) error {
	call, err := s.StartToolCall(ctx, &acp.ToolCall{Title: name})
	if err != nil {
		return fmt.Errorf("announcing the tool call: %w", err)
	}
	text, err := n.read(ctx, name)
	if noNote.Matches(err) { // a caller of the tool, which may fail in other ways
		if found, searchErr := n.search(ctx, name); searchErr == nil {
			text, err = found, nil
		} else if kind.AdviceFor(searchErr).Action == kind.ActionAskUser {
			return call.Fail(ctx, kind.ContextRequired.Newf(searchErr, "Nothing is called %q", name).WithHint("Which note do you mean?"))
		}
	}
	if err != nil {
		return call.Fail(ctx, err)
	}
	return call.Finish(ctx, acp.ToolText(text))
}

// read is the tool with the contract.
func (n *notebook) read(ctx context.Context, name string) (text string, err error) {
	ctx = contract.NewContext(ctx, notes)
	defer classify.Op{Name: "notes.read", Classifier: classifier}.Catch(ctx, &err)
	if !n.take() {
		return "", tooMany.Fail("").WithRetryAfter(time.Minute)
	}
	b, err := os.ReadFile(filepath.Join(n.folder, name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		b, err = os.ReadFile(filepath.Join(n.folder, name+".txt"))
		if err != nil {
			return "", noNote.Failf(err, "There is no note %q", name).WithHint(noNote.Recovery())
		}
		if len(b) == 0 {
			return "", kind.Validation.Newf(nil, "The note %q is empty.", name)
		}
	case err != nil:
		return "", err
	}
	if err := n.check(ctx, b); err != nil {
		return "", fmt.Errorf("checking %s: %w", name, err)
	}
	return string(b), nil
}

func (n *notebook) take() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls++
	return n.calls < 100
}

// check is below the tool and does not know its contract.
func (n *notebook) check(ctx context.Context, b []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lock {
		return errLocked
	}
	var header struct{ Version int }
	if err := json.Unmarshal(b, &header); err != nil {
		return kind.Serialization.Newf(err, "The note is not JSON").
			WithReason("bad_note").WithHint(contract.Hint(ctx, "bad_note"))
	}
	if header.Version > 1 {
		shown, err := json.Marshal(header)
		if err != nil {
			return fmt.Errorf("showing the header: %w", err)
		}
		return kind.Validation.New("The note is too new.").With("header", json.RawMessage(shown))
	}
	return nil
}

// search asks another service.
func (n *notebook) search(ctx context.Context, name string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://notes.example/"+name, nil)
	if err != nil {
		return "", classify.Error(err)
	}
	resp, err := n.client.Do(req)
	if err != nil {
		return "", kind.ServiceUnavailable.Newf(err, "The search did not respond")
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusTooManyRequests {
		return "", toolerr.RateLimited("The search is busy", 2*time.Second)
	}
	if resp.StatusCode == http.StatusNotFound {
		return "", toolerr.Newf("NO_SUCH_NOTE", toolerr.CategoryNotFound, nil, "no note is called %q", name)
	}
	if resp.StatusCode != http.StatusOK {
		return "", classify.FromResponse(resp, &classify.ResponseOptions{Service: "The search"})
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		failed := kind.ServiceUnavailable.New("The search broke off.")
		return "", failed.WithCause(err)
	}
	return string(b), nil
}

// command runs a program and reports its failure in one word.
func command(ctx context.Context, name string) (string, *toolcode.Envelope) {
	out, err := exec.CommandContext(ctx, name).Output()
	if err != nil {
		e := toolcode.Of(classify.WithContext(ctx, err), nil)
		return "", &e
	}
	return string(out), nil
}

// edit is a tool that fails with the words of package toolcode.
func edit(path, from, to string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	switch count := strings.Count(string(b), from); {
	case count == 0:
		return toolcode.NoMatch.Newf(nil, "old_string was not found in %s", path)
	case count > 1:
		return toolcode.AmbiguousMatch.Newf(nil, "old_string was found %d times", count)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(b), from, to, 1)), 0o600); err == nil {
		return nil
	} else {
		return toolcode.IOError.Newf(err, "%s could not be written", path)
	}
}

// backup tries twice. What the first attempt said is old by the time it matters.
func backup(path string) error {
	err := os.Rename(path, path+"~")
	if err != nil {
		err = os.Remove(path + "~")
		if err == nil {
			err = os.Rename(path, path+"~")
		}
		if err == nil {
			return kind.Conflict.New("There was a backup already; it was replaced.")
		}
	}
	if quota, ok := errors.AsType[*quotaError](err); ok {
		return quota
	}
	return classify.Error(err)
}

// remove fails with a bare sentinel of another package, which the classifier knows.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return classifier.Error(err)
	}
	return nil
}

// convert gives a pointer out, and asks before it becomes an error.
func convert(err error) (*kind.Error, error) {
	e, ok := kind.From(classify.Error(err))
	if !ok {
		return nil, nil
	}
	if e.Retryable {
		return e, e
	}
	return e, nil
}

var _ = []any{serve, command, edit, backup, remove, convert}
