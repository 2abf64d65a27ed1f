// Command agent is a coding agent without a language model: it understands a few
// plain requests and carries them out for real, through the files, the permissions
// and the terminals of the client that runs it. It shows how the parts of an agent
// fit together; put a model where request.go parses.
//
// It speaks the protocol on its standard input and output, so it is started by a
// client: go run ./examples/chat starts it by default. With -listen it serves over
// WebSocket and HTTP instead, and prints its URL:
//
//	go run ./examples/agent -listen 127.0.0.1:8080
//	go run ./examples/chat -url http://127.0.0.1:8080/acp
//
// Clients must send the token in ACP_TOKEN if it is set. Without one it listens on the
// loopback interface alone.
//
// It speaks version 1 of the protocol, and version 2 through an adapter. Clients of version
// 2 have neither files nor terminals, so for them it uses the files and commands of this
// machine, in the folder of the session. With -listen it does so only if there is a token.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/router"
	"github.com/acpkit/go-sdk/agent/router/adapter"
	"github.com/acpkit/go-sdk/stream"
)

func main() {
	state := flag.String("state", defaultState(), "folder in which sessions are kept")
	address := flag.String("listen", "", "serve over WebSocket and HTTP at this address, such as 127.0.0.1:8080")
	hosts := flag.String("hosts", "", "names under which clients may reach -listen, separated by commas")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: agent [flags]\n\nA client starts it and talks to it on standard input and output, or connects to -listen.")
		flag.PrintDefaults()
	}
	flag.Parse()
	var err error
	if *address == "" {
		stream.EndOnSignal(nil)
		err = run(context.Background(), *state)
	} else {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		err = runRemote(ctx, *state, *address, split(*hosts))
		stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, state string) error {
	sessions, err := openStore(state)
	if err != nil {
		return err
	}
	return serve(sessions, true)(ctx, stream.Stdio())
}

func runRemote(ctx context.Context, state, address string, hosts []string) error {
	sessions, err := openStore(state)
	if err != nil {
		return err
	}
	token := os.Getenv(tokenVariable)
	return listen(ctx, address, token, hosts, serve(sessions, token != ""), os.Stdout)
}

// serve returns the function that serves one connection, whatever carries it. own means that
// the agent may use this machine where the client has no files and terminals.
func serve(sessions *store, own bool) func(context.Context, stream.Stream) error {
	// Standard output belongs to the protocol, so logs go to standard error.
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	agents := &router.Agents{
		V1: func(conn *agent.Conn) acp.Agent { return newWorker(conn, sessions, false) },
		V2: adapter.FromV1(func(conn *agent.Conn) acp.Agent { return newWorker(conn, sessions, own) }, &adapter.Options{Logger: logger}),
	}
	return func(ctx context.Context, s stream.Stream) error {
		return router.Serve(ctx, s, agents, &router.Options{Logger: logger})
	}
}

// split splits a list at its commas.
func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

func defaultState() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "acpkit-example-agent")
}
