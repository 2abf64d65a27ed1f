// Command agent is a coding agent without a language model: it understands a few
// plain requests and carries them out for real, through the files, the permissions
// and the terminals of the client that runs it. It shows how the parts of an agent
// fit together; put a model where request.go parses.
//
// It speaks the protocol on its standard input and output, so it is started by a
// client: go run ./examples/chat starts it by default.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/stream"
)

func main() {
	state := flag.String("state", defaultState(), "folder in which sessions are kept")
	flag.Parse()
	if err := run(context.Background(), *state); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, state string) error {
	sessions, err := openStore(state)
	if err != nil {
		return err
	}
	// Standard output belongs to the protocol, so logs go to standard error.
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	return agent.Serve(ctx, stream.Stdio(), func(conn *agent.Conn) acp.Agent {
		return newWorker(conn, sessions)
	}, &agent.Options{Logger: logger})
}

func defaultState() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "acpkit-example-agent")
}
