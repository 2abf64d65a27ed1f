package reference

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/elicitation"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/signin"
	"github.com/acpkit/go-sdk/client/terminals"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/draft2/connect"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// Client is a client that opens a session in a folder, sends one prompt, and allows everything.
// It offers files, forms, and the terminals if they are set.
type Client struct {
	Cwd       string
	Terminals *terminals.Options

	// Silent leaves out the prompt.
	Silent bool
	// Careless makes the client serve files wherever they are.
	Careless bool
	// Lingers makes the client go on for a while when it should have ended.
	Lingers bool
}

// filled are what the client puts into the fields of forms.
var filled = map[string]acp.ElicitationContentValue{
	"name": acp.ElicitationString("acptest"), "count": acp.ElicitationInteger(4), "share": acp.ElicitationNumber(0.5), "sure": acp.ElicitationBoolean(true),
	"color": acp.ElicitationString("red"), "tags": acp.ElicitationStrings{"a"}, "mail": acp.ElicitationString("acptest@example.com"),
}

// cancelGrace is how long an agent may take to end a turn that was cancelled.
const cancelGrace = 5 * time.Second

const lingering = time.Minute

// Run is one run of the client. When ctx is done it cancels its turn, and ends.
func (c Client) Run(ctx context.Context, s stream.Stream) error {
	if c.Lingers {
		defer time.Sleep(lingering)
	}
	h, err := host.Open(&host.Options{
		Roots: []string{c.Cwd}, Terminals: c.Terminals,
		Ask: func(_ context.Context, q *permission.Question) (string, error) {
			return q.Pick(permission.AllowOnce), nil
		},
		Form: func(_ context.Context, f *elicitation.Form) (map[string]acp.ElicitationContentValue, error) {
			values := map[string]acp.ElicitationContentValue{}
			for name := range f.Schema.Properties {
				values[name] = filled[name]
			}
			return values, nil
		},
		SignIn: &signin.Options{Choose: func(_ context.Context, _ error, ways []signin.Way) (acp.AuthMethodID, error) { return ways[0].ID, nil }},
	})
	if err != nil {
		return errors.Join(err, s.Close())
	}
	defer h.Close()
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	unstarted := context.AfterFunc(ctx, end)
	silent := slog.New(slog.DiscardHandler) // what the checks send is wrong on purpose
	conn, err := connect.ConnectOver(life, s, &connect.Options{
		Permission: h.Policy(), Logger: silent,
		V1: func(conn *client.Conn) acp.Client {
			if c.Careless {
				return &careless{acp.ClientWrapper{Client: h.Client(conn)}, c.Cwd}
			}
			return h.Client(conn)
		},
		InitializeV1: &acp.InitializeRequest{ClientCapabilities: h.Capabilities(nil)},
		ConnV1:       &client.Options{CancelGrace: cancelGrace}, ConnV2: &client2.Options{CancelGrace: cancelGrace},
	})
	if err != nil {
		return err
	}
	defer conn.Close()
	var session *connect.Session
	start := func(ctx context.Context) error {
		session, err = conn.StartSession(ctx, &connect.SessionParams{Cwd: c.Cwd})
		return err
	}
	if v1 := conn.V1(); v1 != nil {
		err = h.SignIn(life, v1, start)
	} else {
		err = start(life)
	}
	if err != nil || !unstarted() {
		return err
	}
	if c.Silent {
		select {
		case <-ctx.Done():
		case <-conn.Done():
		}
		return conn.Err()
	}
	_, err = session.Prompt(ctx, connect.Text("Hello.")).Wait()
	return err
}

// careless serves files as many programs do at first: whatever the path says, wherever it leads,
// and in whatever session.
type careless struct {
	acp.ClientWrapper
	cwd string
}

func (c *careless) path(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.cwd, path)
	}
	return path
}

// ReadTextFile implements [acp.TextFileReader].
func (c *careless) ReadTextFile(ctx context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	path := c.path(req.Path)
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || req.Line != nil || req.Limit != nil {
		return c.ClientWrapper.ReadTextFile(ctx, req) // so that only what is careless is wrong
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, rpcerr.InternalError(nil).WithCause(err)
	}
	return &acp.ReadTextFileResponse{Content: string(text)}, nil
}

// WriteTextFile implements [acp.TextFileWriter].
func (c *careless) WriteTextFile(_ context.Context, req *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	path := c.path(req.Path)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		_ = os.Remove(path) // the new file has another mode
	}
	if err := os.WriteFile(path, []byte(req.Content), 0o600); err != nil {
		return nil, rpcerr.InternalError(nil).WithCause(err)
	}
	return &acp.WriteTextFileResponse{}, nil
}

// Lone runs a command. It does not end what the command has started. It is an Exec of
// [terminals.Options].
func Lone(_ context.Context, c *terminals.Command, output io.Writer) (terminals.Process, error) {
	cmd := exec.Command(c.Path, c.Argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = c.Cwd, c.Env, output, output, 10*time.Millisecond
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return lone{cmd}, nil
}

type lone struct{ cmd *exec.Cmd }

func (l lone) Wait() acp.TerminalExitStatus {
	_ = l.cmd.Wait() // its state tells how it ended
	code := uint32(1)
	if l.cmd.ProcessState.ExitCode() >= 0 { // no signal has ended it
		code = uint32(l.cmd.ProcessState.ExitCode())
	}
	return acp.TerminalExitStatus{ExitCode: &code}
}
func (l lone) Terminate() { l.Kill() }
func (l lone) Kill()      { _ = l.cmd.Process.Kill() } // it may have ended
func (l lone) Close()     {}
