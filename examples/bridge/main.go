// Command bridge connects standard input and output with the network, in either
// direction, so that any editor reaches a remote agent and any agent is served remotely:
//
//	go run ./examples/bridge -url https://host/acp                      # an editor starts this as its agent
//	go run ./examples/bridge -listen 127.0.0.1:8080 -- gemini --acp     # clients dial this; each gets a process of its own
//
// Messages pass byte for byte. The bridge does not depend on the methods of the protocol, so newer
// methods work too. ACP_TOKEN is the token to send, or the one that clients must send. If it is not
// set, one is made and shown on the terminal, because every user of this machine can reach a port. A
// Unix socket in a folder of your own, as with -listen unix:$XDG_RUNTIME_DIR/agent.sock, needs none.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"

	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

func main() {
	stream.EndOnSignal(nil) // a signal ends all agents too
	url := flag.String("url", "", "reach the agent at this `URL` (http, https, ws, wss, or unix:PATH)")
	var s server
	flag.StringVar(&s.address, "listen", "", "serve an agent at this `address`, such as 127.0.0.1:8080 or unix:PATH")
	hosts := flag.String("hosts", "", "names under which clients may reach -listen, separated by commas")
	flag.BoolVar(&s.open, "no-token", false, "serve every user of this machine")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: bridge -url URL\n       bridge -listen ADDRESS [-hosts NAMES] [-no-token] -- AGENT [ARG ...]\n\nFlags:")
		flag.PrintDefaults()
	}
	flag.Parse()
	s.hosts, s.command = strings.FieldsFunc(*hosts, func(r rune) bool { return r == ',' }), flag.Args()
	var err error
	switch {
	case *url != "" && s.address == "" && len(s.command) == 0:
		err = reach(context.Background(), stream.Stdio(), *url)
	case *url == "" && s.address != "" && len(s.command) > 0:
		err = s.serve(context.Background(), os.Stdout)
	default:
		flag.Usage()
		os.Exit(2)
	}
	if err != nil {
		text := client.Explain(nil, err)
		if status, ok := errors.AsType[*stream.StatusError](err); ok && status.Code == http.StatusUnauthorized {
			text += " Set it in " + remote.TokenVariable + "."
		}
		fmt.Fprintln(os.Stderr, "bridge:", text)
		os.Exit(1)
	}
}

// reach carries messages between an editor and the agent at a URL.
func reach(ctx context.Context, editor stream.Stream, url string) error {
	agent, err := remote.Dial(ctx, url, &remote.DialOptions{Header: remote.TokenHeader})
	if err != nil {
		return err
	}
	return stream.Forward(editor, agent)
}

// server serves an agent.
type server struct {
	address string
	hosts   []string
	open    bool     // to every user
	command []string // of the agent
}

// serve starts the agent anew for each connection, until ctx ends. It prints the URL
// that clients dial.
func (s *server) serve(ctx context.Context, out io.Writer) error {
	options := &remote.Options{AllowedHosts: s.hosts, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))}
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
		fmt.Fprintf(out, "http://%s/acp\n", listener.Addr())
	} else {
		fmt.Fprintln(out, s.address)
	}
	return remote.NewHandler(func(ctx context.Context, client stream.Stream) error {
		process, err := stream.Command(exec.Command(s.command[0], s.command[1:]...), nil)
		if err != nil {
			return err
		}
		defer context.AfterFunc(ctx, func() { process.Close() })()
		return stream.Forward(client, process)
	}, options).Serve(ctx, listener)
}
