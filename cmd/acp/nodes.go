package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/agent/journal/jetstream"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

const (
	nodePath = "/node" // where the other nodes reach this one

	// nodeTokenVariable holds the secret of the nodes, which no client has.
	nodeTokenVariable = "ACP_NODE_TOKEN"

	// systemVariable holds addresses of the servers with a user of their system account, which alone may read their settings.
	systemVariable = "NATS_SYSTEM_URL"

	// natsTime is how long the connection to NATS may be silent until it is made anew.
	natsTime = 2 * time.Second
)

// node is one of several acp serve that share their sessions.
type node struct {
	address, token string
	conn           *nats.Conn
	store          *jetstream.Store
}

// join connects to NATS and to the sessions. Addresses with credentials belong into NATS_URL, because every user of this
// machine can read arguments.
func (o *serveOptions) join(ctx context.Context, log *slog.Logger) (*node, error) {
	n := &node{address: strings.TrimSuffix(o.node, "/"), token: os.Getenv(nodeTokenVariable)}
	servers := cmp.Or(o.nats, os.Getenv("NATS_URL"))
	u, err := url.Parse(n.address)
	switch {
	case servers == "" || err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, &codeError{2, "give with -nats the address of the NATS servers, and with -node the one at which the other nodes reach this one, like http://10.0.0.1:7777"}
	case o.store != "" || o.socket != "":
		return nil, &codeError{2, "-store and -socket are of one machine: leave them out with -nats"}
	case len(n.token) < 16:
		return nil, &codeError{2, "set " + nodeTokenVariable + " to a secret of at least 16 characters, the same for all nodes and unknown to clients"}
	}
	options := &jetstream.Options{Node: n.address, Logger: log}
	if system := os.Getenv(systemVariable); system != "" {
		if options.System, err = connect(system, n.address); err != nil {
			return nil, err
		}
		defer options.System.Close()
	}
	if n.conn, err = connect(servers, n.address); err != nil {
		return nil, err
	}
	if n.store, err = jetstream.Open(ctx, n.conn, options); err != nil {
		n.conn.Close()
		return nil, err
	}
	return n, nil
}

// connect connects to the NATS servers.
func connect(servers, node string) (*nats.Conn, error) {
	conn, err := nats.Connect(servers, nats.Name("acp serve "+node), nats.MaxReconnects(-1), nats.ReconnectWait(natsTime/8),
		nats.PingInterval(natsTime), nats.ReconnectBufSize(-1))
	if _, unparsed := errors.AsType[*url.Error](err); unparsed { // which has the password
		return nil, &codeError{2, "an address of the NATS servers is not a URL: write what is not a letter or a digit in its password as %XX"}
	} else if err != nil {
		return nil, fmt.Errorf("the NATS servers are not reached: %w: is the address right, and do they run?", err)
	}
	return conn, nil
}

// leave lets the other nodes have the sessions.
func (n *node) leave(log *slog.Logger) {
	ctx, stop := context.WithTimeout(context.Background(), goodbye)
	defer stop()
	if err := n.store.Close(ctx); err != nil {
		log.Warn("other nodes wait for the sessions of this one", "error", err)
	}
	log.Info("what was done in NATS", "stats", n.store.Stats())
	n.conn.Close()
}

// reach is hub.Options.Reach. All who know the token of a client are one user, so there is no principal to name.
func (n *node) reach(ctx context.Context, holder, _ string) (stream.Stream, error) {
	address := "ws" + strings.TrimPrefix(holder, "http") + nodePath
	return remote.Dial(ctx, address, &remote.DialOptions{Header: func(context.Context) (http.Header, error) {
		return http.Header{"Authorization": {"Bearer " + n.token}}, nil
	}})
}

// handler serves the other nodes.
func (n *node) handler(h *hub.Hub, options remote.Options) *remote.Handler {
	u, _ := url.Parse(n.address) // join has parsed it
	options.AllowedHosts = append(options.AllowedHosts, u.Host)
	options.Authorize = remote.BearerToken(n.token)
	return remote.NewHandler(func(ctx context.Context, s stream.Stream) error { return h.ServeNode(ctx, s, "") }, &options)
}
