package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// tokenVariable names the environment variable with the token that clients must send, and that is
// sent to the agent. A flag would show it to everyone who lists processes.
const tokenVariable = "ACP_TOKEN"

// maxClients is how many clients are served at a time.
const maxClients = 4096

// tapNetwork stands between clients in the network and an agent at a URL. A signal ends it.
func tapNetwork(o *tapOptions) error {
	to, err := url.Parse(o.to)
	if err != nil || to.Host == "" || !slices.Contains([]string{"ws", "wss", "http", "https"}, to.Scheme) {
		return &codeError{2, "-to must be the URL of an agent with ws, wss, http or https, such as wss://agent.example.com/acp"}
	}
	token := os.Getenv(tokenVariable)
	listener, err := net.Listen("tcp", o.listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("another program listens on %s: end it, or choose another port with -listen", o.listen)
	case err != nil:
		return fmt.Errorf("cannot listen on %s: %w (an address such as 127.0.0.1:7000 is needed)", o.listen, err)
	}
	if token == "" && !listener.Addr().(*net.TCPAddr).IP.IsLoopback() {
		_ = listener.Close()
		return fmt.Errorf("%s can be reached from other machines: set %s to a token that clients must send, or listen on 127.0.0.1", o.listen, tokenVariable)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	return o.serve(ctx, listener, token)
}

// serve serves clients until ctx ends.
func (o *tapOptions) serve(ctx context.Context, listener net.Listener, token string) error {
	rec := o.record([]string{"-listen", o.listen, "-to", o.to})
	defer rec.Close(catchUp)
	fmt.Fprintf(os.Stderr, "acp: clients reach the agent at http://%s and ws://%[1]s\n", listener.Addr())
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	handler := remote.NewHandler(func(ctx context.Context, s stream.Stream) error {
		fromClient, fromAgent := rec.Connect()
		defer fromClient.End("")
		agent, err := remote.Dial(ctx, o.to, &remote.DialOptions{Header: authorization(ctx, token)})
		if err != nil {
			fromAgent.End(err.Error())
			log.Error("acp: the agent cannot be reached", "error", err)
			return err
		}
		defer context.AfterFunc(ctx, func() { agent.Close() })()
		err = stream.Forward(received(s, fromClient.Message), received(agent, fromAgent.Message))
		how := ""
		if err != nil {
			how = err.Error()
		}
		fromAgent.End(how)
		return err
	}, &remote.Options{
		Authorize: authorize(token), AllowedHosts: list(o.hosts), AllowedOrigins: list(o.origins),
		MaxConnections: maxClients, MaxPrincipalConnections: maxClients, Logger: log,
	})
	return handler.Serve(ctx, listener)
}

// received calls see with each message that is read from s.
func received(s stream.Stream, see func(msg []byte)) stream.Stream {
	return stream.Tap(s, func(dir stream.Direction, msg []byte) {
		if dir == stream.Received {
			see(msg)
		}
	})
}

// A tap without a token listens on the loopback interface only, and the agent decides who may
// connect: the tap sends it the Authorization header of each client. The header is also the principal
// of the client, so that no client can use the connection of another one.
const senderPrefix = "Authorization: "

func authorize(token string) func(*http.Request) (*remote.Principal, error) {
	if token != "" {
		return remote.BearerToken(token)
	}
	return func(r *http.Request) (*remote.Principal, error) {
		return &remote.Principal{ID: senderPrefix + r.Header.Get("Authorization")}, nil
	}
}

// authorization returns the header with which the tap connects to the agent for a client.
func authorization(ctx context.Context, token string) func(context.Context) (http.Header, error) {
	value := ""
	if token != "" {
		value = "Bearer " + token
	} else if sender, ok := remote.PrincipalFrom(ctx); ok {
		value = strings.TrimPrefix(sender.ID, senderPrefix)
	}
	return func(context.Context) (http.Header, error) {
		if value == "" {
			return nil, nil
		}
		return http.Header{"Authorization": {value}}, nil
	}
}
