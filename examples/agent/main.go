// Command agent is a coding agent without a language model: it understands a few plain requests and
// carries them out for real, with the files and commands of the client that runs it. How it works
// is in the package worker.
//
// It speaks the protocol on its standard input and output, so it is started by a client; chat has
// it built in. With -listen it serves over WebSocket and HTTP instead, and prints its URL:
//
//	go run ./examples/agent -listen 127.0.0.1:8080
//	go run ./examples/chat -url http://127.0.0.1:8080/acp
//
// Clients must send the token in ACP_TOKEN if it is set. Without one it listens on the loopback
// interface alone, and uses no files and commands of this machine. Otherwise it uses them for
// clients that have none, such as those of version 2 of the protocol, in the folder of the session.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/acpkit/go-sdk/agent/kit"
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
	if err := run(*state, *address, strings.FieldsFunc(*hosts, func(r rune) bool { return r == ',' })); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

func run(state, address string, hosts []string) error {
	token := os.Getenv(tokenVariable)
	a, err := worker.New(state, address == "" || token != "")
	if err != nil {
		return err
	}
	if address == "" {
		stream.EndOnSignal(&stream.SignalOptions{Before: a.Close})
		err = a.Serve(context.Background(), stream.Stdio())
	} else {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		err = listen(ctx, address, token, &remote.Options{AllowedHosts: hosts}, a)
	}
	return errors.Join(err, a.Close(context.Background()))
}

// tokenVariable names the environment variable with the token that clients must send.
// A flag would show it to everyone who lists processes.
const tokenVariable = "ACP_TOKEN"

// listen serves over WebSocket and HTTP until ctx ends. It prints the URL that clients dial.
func listen(ctx context.Context, address, token string, options *remote.Options, a *kit.Agent) error {
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
	fmt.Printf("http://%s/acp\n", listener.Addr())
	return remote.NewHandler(a.Serve, options).Serve(ctx, listener)
}
