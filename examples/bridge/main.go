// Command bridge connects standard input and output with the network, in either
// direction, so that any editor reaches a remote agent and any agent is served remotely:
//
//	go run ./examples/bridge -url https://host/acp                      # an editor starts this as its agent
//	go run ./examples/bridge -listen 127.0.0.1:8080 -- gemini --acp     # clients dial this; each gets a process of its own
//
// Messages pass byte for byte. The bridge does not depend on the methods of the protocol, so newer
// methods work too. ACP_TOKEN is the token to send, or the one that clients must send.
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

// tokenVariable names the environment variable with the token. A flag would show it to
// everyone who lists processes.
const tokenVariable = "ACP_TOKEN"

func main() {
	stream.EndOnSignal(nil) // a signal ends all agents too
	url := flag.String("url", "", "reach the agent at this URL (http, https, ws, wss)")
	address := flag.String("listen", "", "serve an agent at this address, such as 127.0.0.1:8080")
	hosts := flag.String("hosts", "", "names under which clients may reach -listen, separated by commas")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: bridge -url URL\n       bridge -listen ADDRESS [-hosts NAMES] -- AGENT [ARG ...]\n\nFlags:")
		flag.PrintDefaults()
	}
	flag.Parse()
	token := os.Getenv(tokenVariable)
	var err error
	switch {
	case *url != "" && *address == "" && flag.NArg() == 0:
		err = reach(context.Background(), stream.Stdio(), *url, token)
	case *url == "" && *address != "" && flag.NArg() > 0:
		err = serve(context.Background(), *address, strings.FieldsFunc(*hosts, func(r rune) bool { return r == ',' }), token, flag.Args(), os.Stdout)
	default:
		flag.Usage()
		os.Exit(2)
	}
	if err != nil {
		text := client.Explain(nil, err)
		if status, ok := errors.AsType[*stream.StatusError](err); ok && status.Code == http.StatusUnauthorized {
			text += " Set it in " + tokenVariable + "."
		}
		fmt.Fprintln(os.Stderr, "bridge:", text)
		os.Exit(1)
	}
}

// reach carries messages between an editor and the agent at a URL.
func reach(ctx context.Context, editor stream.Stream, url, token string) error {
	agent, err := remote.Dial(ctx, url, &remote.DialOptions{Header: func(context.Context) (http.Header, error) {
		header := http.Header{}
		if token != "" {
			header.Set("Authorization", "Bearer "+token)
		}
		return header, nil
	}})
	if err != nil {
		return err
	}
	return stream.Forward(editor, agent)
}

// serve starts the agent anew for each connection, until ctx ends. It prints the URL
// that clients dial.
func serve(ctx context.Context, address string, hosts []string, token string, command []string, out io.Writer) error {
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
	return remote.NewHandler(func(ctx context.Context, s stream.Stream) error {
		process, err := stream.Command(exec.Command(command[0], command[1:]...), nil)
		if err != nil {
			return err
		}
		defer context.AfterFunc(ctx, func() { process.Close() })()
		return stream.Forward(s, process)
	}, options).Serve(ctx, listener)
}
