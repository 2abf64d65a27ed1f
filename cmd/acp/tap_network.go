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

// maxClients is how many clients are served at a time.
const maxClients = 4096

// tapNetwork stands between clients in the network and an agent at a URL. A signal ends it.
func tapNetwork(o *tapOptions) error {
	to, err := url.Parse(o.to)
	if err != nil || to.Host == "" || !slices.Contains([]string{"ws", "wss", "http", "https"}, to.Scheme) {
		return &codeError{2, "-to must be the URL of an agent with ws, wss, http or https, such as wss://agent.example.com/acp"}
	}
	listener, err := remote.Listen(o.listen)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("another program listens on %s: end it, or choose another address with -listen", o.listen)
	case err != nil:
		return fmt.Errorf("cannot listen on %s: %w (an address such as 127.0.0.1:7000 is needed)", o.listen, err)
	}
	if !o.open {
		if o.authorize, err = remote.AuthorizeUser(listener, os.Stderr); err != nil {
			return errors.Join(fmt.Errorf("%w, or say -no-token", err), listener.Close())
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	return o.serve(ctx, listener)
}

// serve serves clients until ctx ends.
func (o *tapOptions) serve(ctx context.Context, listener net.Listener) error {
	rec := o.record([]string{"-listen", o.listen, "-to", o.to})
	defer finish(rec)
	at := "http://%s and ws://%[1]s"
	if listener.Addr().Network() == "unix" {
		at = "unix:%s"
	}
	fmt.Fprintf(os.Stderr, "acp: clients reach the agent at "+at+"\n", listener.Addr())
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	authorize, header := o.authorize, func(context.Context) func(context.Context) (http.Header, error) { return remote.TokenHeader }
	if authorize == nil {
		authorize, header = everyone, senderHeader
	}
	handler := remote.NewHandler(func(ctx context.Context, s stream.Stream) error {
		fromClient, fromAgent := rec.Connect()
		defer fromClient.End("")
		agent, err := remote.Dial(ctx, o.to, &remote.DialOptions{Header: header(ctx)})
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
		Authorize: authorize, AllowedHosts: list(o.hosts), AllowedOrigins: list(o.origins),
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

// Without a token the agent decides who may connect: the tap sends it the Authorization header of each
// client. The header is also the principal of the client, so that no client can use the connection of
// another one.
const senderPrefix = "Authorization: "

func everyone(r *http.Request) (*remote.Principal, error) {
	return &remote.Principal{ID: senderPrefix + r.Header.Get("Authorization")}, nil
}

// senderHeader returns the header of a client, with which the tap connects to the agent for it.
func senderHeader(ctx context.Context) func(context.Context) (http.Header, error) {
	value := ""
	if sender, ok := remote.PrincipalFrom(ctx); ok {
		value = strings.TrimPrefix(sender.ID, senderPrefix)
	}
	return func(context.Context) (http.Header, error) {
		if value == "" {
			return nil, nil
		}
		return http.Header{"Authorization": {value}}, nil
	}
}
