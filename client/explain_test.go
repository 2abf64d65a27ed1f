package client_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// nilError is an error whose methods need it.
type nilError struct{ text string }

func (e *nilError) Error() string { return e.text }

func TestExplain(t *testing.T) {
	start := func(cmd *exec.Cmd) error {
		s, err := stream.Command(cmd, nil)
		if err != nil {
			return err
		}
		conn, err := client.Connect(context.Background(), s, good, nil)
		require.Error(t, err)
		assert.Nil(t, conn)
		return err
	}
	missing := filepath.Join(t.TempDir(), "none")
	inside := exec.Command(os.Args[0], "-test.run=^$")
	inside.Dir = missing
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"nothing":        {nil, ""},
		"not on PATH":    {start(exec.Command("no-such-agent")), "Install it, or give the path of its program."},
		"no such file":   {start(exec.Command(missing)), "Install it, or give the path of its program."},
		"no such folder": {start(inside), "cannot run in the folder " + missing},
		"exits":          {start(exec.Command(os.Args[0], "-test.run=^$")), "The agent exited before it responded."},
		"version":        {&acp.VersionError{Requested: 2, Own: []int{2}, Answered: 1}, "to a request for version 2; this client supports version 2\nLook for a version of the agent that speaks version 2 of the protocol."},
		"two versions":   {fmt.Errorf("%w (before: x)", &acp.VersionError{Requested: 2, Own: []int{1, 2}, Answered: 9}), "Look for a version of the agent that speaks version 1 or 2 of the protocol."},
		"nobody listens": {fmt.Errorf("streamhttp: POST: %w", syscall.ECONNREFUSED), "No agent listens there."},
		"no token":       {fmt.Errorf("websocket: connecting: %w", &stream.StatusError{Code: 401}), "wants a token"},
		"no method":      {rpcerr.AuthRequired(nil), "Sign in to the agent first, with its own command."},
		"late":           {context.DeadlineExceeded, "context deadline exceeded"}, // of whom is not known
		"own params":     {&acp.InvalidError{Where: "session/new params", Fields: []acp.FieldError{{Path: "cwd"}}}, "Nothing was sent. Correct what is named, and try again."},
		"wrong result":   {&acp.InvalidError{Where: "session/new result", Fields: []acp.FieldError{{Path: "sessionId"}}}, "The agent has answered with what the protocol does not allow."},
		"another error":  {rpcerr.InvalidParams(nil).WithDetail("x"), "Invalid params: x (-32602)"},
	} {
		t.Run(name, func(t *testing.T) {
			got := client.Explain(nil, c.err)
			if c.want == "" {
				assert.Empty(t, got)
			}
			assert.Contains(t, got, c.want)
		})
	}

	// Names of packages are removed. The text of the agent does not change.
	for want, err := range map[string]error{
		`signing in with "key": Invalid params (-32602)`:         fmt.Errorf("host: %w", fmt.Errorf("signin: signing in with %q: %w", "key", rpcerr.InvalidParams(nil))),
		"initializing: the server answered with HTTP status 500": fmt.Errorf("draft2/connect: %w", fmt.Errorf("streamhttp: initializing: %w", &stream.StatusError{Code: 500})),
		"client: host: bad (-32001)":                             &rpcerr.RequestError{Code: -32001, Message: "client: host: bad"},
		"calling: client: bad (-32001)":                          fmt.Errorf("agent: calling: %w", &rpcerr.RequestError{Code: -32001, Message: "client: bad"}),
		"process exited with status 3: stream: no":               fmt.Errorf("client: %w", &stream.ExitError{Status: 3, Stderr: "stream: no"}),
	} {
		text, _, _ := strings.Cut(client.Explain(nil, err), "\n")
		assert.Equal(t, want, text)
	}

	// A nil pointer that was taken for an error must not end the client, at any depth.
	for name, err := range map[string]error{
		"the user's":  (*nilError)(nil),
		"of a path":   (*fs.PathError)(nil),
		"of an exit":  (*stream.ExitError)(nil),
		"of a status": (*stream.StatusError)(nil),
		"of versions": (*acp.VersionError)(nil),
		"of a stop":   (*client.StopError)(nil),
		"of the peer": (*rpcerr.RequestError)(nil),
	} {
		for _, err := range []error{err, fmt.Errorf("starting: %w", err), errors.Join(err, err)} {
			var text string
			if assert.NotPanics(t, func() { text = client.Explain(nil, err) }, name) {
				assert.NotEmpty(t, text, name)
				assert.NotRegexp(t, "(?i)panic|nil pointer", text, name)
			}
		}
	}

	t.Run("methods", func(t *testing.T) {
		conn := connected(t.Context())
		defer conn.Close()
		_, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/work"})
		assert.Contains(t, client.Explain(conn, err), "Sign in to the agent first.\n  browser: Browser")
	})

	t.Run("methods that are no calls", func(t *testing.T) {
		conn, peer := dial(t, &peertest.Client{}, nil)
		go func() { // ends with the response
			peer.Answer(peer.Expect("initialize"), `{"protocolVersion":1,"authMethods":[
				{"id":"tty","name":"Terminal","description":"in a shell","type":"terminal","args":["auth","login"]},
				{"id":"old","name":"Old","_meta":{"terminal-auth":{"command":"/bin/agent","args":["login"]}}},
				{"id":"key","name":"Key","type":"env_var","vars":[{"name":"A"},{"name":"B","optional":true}],"link":"https://k"},
				{"id":"sly\u001b[2J","name":"A\nB","description":"\u202eevil"}]}`)
		}()
		_, err := conn.Initialize(t.Context(), nil)
		require.NoError(t, err)
		assert.Equal(t, "Authentication required (-32000)\nSign in to the agent first.\n"+
			"  tty: Terminal (in a shell); run the agent's command auth login\n"+
			"  old: Old; run /bin/agent login\n"+
			"  key: Key; set A in the agent's environment, with a value from https://k\n"+
			"  sly: A B (evil)", client.Explain(conn, rpcerr.AuthRequired(nil)))
	})
}
