// Package worker is a coding agent without a language model, for the commands agent and
// chat. It understands a few plain requests and carries them out for real, through the
// files, the permissions and the terminals of the client that runs it. It shows how the
// parts of an agent fit together; put a model where request.go parses.
package worker

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/router"
	"github.com/acpkit/go-sdk/agent/router/adapter"
	"github.com/acpkit/go-sdk/stream"
)

// Serve returns the function that serves one connection over any stream. Sessions are
// kept in the folder state, which is made if need be. The function is safe for concurrent
// use. own means that the agent may use this machine where the client has no files and
// terminals.
func Serve(state string, own bool) (func(context.Context, stream.Stream) error, error) {
	sessions, err := openStore(state)
	if err != nil {
		return nil, err
	}
	// Standard output belongs to the protocol, so logs go to standard error.
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	agents := &router.Agents{
		V1: func(conn *agent.Conn) acp.Agent { return newWorker(conn, sessions, false) },
		V2: adapter.FromV1(func(conn *agent.Conn) acp.Agent { return newWorker(conn, sessions, own) }, &adapter.Options{Logger: logger}),
	}
	return func(ctx context.Context, s stream.Stream) error {
		return router.Serve(ctx, s, agents, &router.Options{Logger: logger})
	}, nil
}

// DefaultState returns the folder for the sessions of this user.
func DefaultState() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "acpkit-example-agent")
}
