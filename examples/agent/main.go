// Command agent is a coding agent without a language model: it understands a few plain requests and
// carries them out for real, with the files and commands of the client that runs it. How it works
// is in the package worker.
//
// It speaks the protocol on its standard input and output, so it is started by a client. With -listen it serves over WebSocket and HTTP instead, and prints its URL:
//
//	go run ./examples/agent -listen 127.0.0.1:8080
//	ACP_TOKEN=... go run ./examples/chat -- go run ./examples/bridge -url http://127.0.0.1:8080/acp
//
// Clients must send the token in ACP_TOKEN. If it is not set, one is made and shown on the terminal,
// because every user of this machine can reach a port. A Unix socket in a folder of your own, as with
// -listen unix:$XDG_RUNTIME_DIR/agent.sock, needs none. With -no-token every user of this machine is
// served, and the agent uses no files and commands of its own. Otherwise it uses them for clients
// that have none, in the folder of the session.
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
	var s server
	flag.StringVar(&s.address, "listen", "", "serve over WebSocket and HTTP at this `address`, such as 127.0.0.1:8080 or unix:PATH")
	hosts := flag.String("hosts", "", "names under which clients may reach -listen, separated by commas")
	flag.BoolVar(&s.open, "no-token", false, "with -listen: serve every user of this machine")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: agent [flags]\n\nA client starts it and talks to it on standard input and output, or connects to -listen.")
		flag.PrintDefaults()
	}
	flag.Parse()
	s.hosts = strings.FieldsFunc(*hosts, func(r rune) bool { return r == ',' })
	if err := s.run(*state); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

// server holds the flags of -listen.
type server struct {
	address string
	hosts   []string
	open    bool // to every user
}

func (s *server) run(state string) error {
	a, err := worker.Open(state, s.address == "" || !s.open)
	if err != nil {
		return err
	}
	if s.address == "" {
		stream.EndOnSignal(&stream.SignalOptions{Before: a.Close})
		err = a.Serve(context.Background(), stream.Stdio())
	} else {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		err = s.listen(ctx, a)
	}
	return errors.Join(err, a.Close(context.Background()))
}

// listen serves over WebSocket and HTTP until ctx ends. It prints the URL that clients dial.
func (s *server) listen(ctx context.Context, a *kit.Agent) error {
	options := &remote.Options{AllowedHosts: s.hosts}
	listener, err := remote.Listen(s.address)
	if err == nil && !s.open {
		if options.Authorize, err = remote.AuthorizeUser(listener, os.Stderr); err != nil {
			err = errors.Join(fmt.Errorf("%w, or say -no-token", err), listener.Close())
		}
	}
	if err != nil {
		return err
	}
	if _, isPort := listener.Addr().(*net.TCPAddr); isPort {
		fmt.Printf("http://%s/acp\n", listener.Addr())
	} else {
		fmt.Println(s.address)
	}
	return remote.NewHandler(a.Serve, options).Serve(ctx, listener)
}
