// Command agent is a coding agent without a language model: it understands a few
// plain requests and carries them out for real, through the files, the permissions
// and the terminals of the client that runs it. How it works is in the package worker.
//
// It speaks the protocol on its standard input and output, so it is started by a
// client; chat has it built in. With -listen it serves over WebSocket and HTTP instead, and
// prints its URL:
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
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/acpkit/go-sdk/examples/agent/worker"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

func main() {
	state := flag.String("state", worker.DefaultState(), "folder in which sessions are kept")
	address := flag.String("listen", "", "serve over WebSocket and HTTP at this address, such as 127.0.0.1:8080")
	hosts := flag.String("hosts", "", "names under which clients may reach -listen, separated by commas")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: agent [flags]\n\nA client starts it and talks to it on standard input and output, or connects to -listen.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := run(*state, *address, split(*hosts)); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

func run(state, address string, hosts []string) error {
	token := os.Getenv(tokenVariable)
	serve, err := worker.Serve(state, address == "" || token != "")
	if err != nil {
		return err
	}
	if address == "" {
		stream.EndOnSignal(nil)
		return serve(context.Background(), stream.Stdio())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return listen(ctx, address, token, hosts, serve, os.Stdout)
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// tokenVariable names the environment variable with the token that clients must send.
// A flag would show it to everyone who lists processes.
const tokenVariable = "ACP_TOKEN"

// listen serves over WebSocket and HTTP until ctx ends. It prints the URL that clients
// dial.
func listen(ctx context.Context, address, token string, hosts []string, serve func(context.Context, stream.Stream) error, out io.Writer) error {
	options := &remote.Options{AllowedHosts: hosts, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	if token != "" {
		options.Authorize = remote.BearerToken(token)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	if token == "" && !listener.Addr().(*net.TCPAddr).IP.IsLoopback() {
		return errors.Join(fmt.Errorf("%s can be reached from other machines: set %s to serve there", address, tokenVariable), listener.Close())
	}
	fmt.Fprintf(out, "http://%s/acp\n", listener.Addr())
	return remote.NewHandler(serve, options).Serve(ctx, listener)
}
