package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"

	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

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
