package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/supervise"
	"github.com/acpkit/go-sdk/cmd/acp/internal/live"
	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
	v2 "github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

const (
	agentPath = "/acp" // of the agent; the page has the others

	// goodbye is how long turns may go on after a signal.
	goodbye = 30 * time.Second
)

// serveOptions are those of acp serve.
type serveOptions struct {
	listen, socket, store string
	hosts, nats, node     string
	command               []string
}

// serve serves an agent to several clients, and a page for a person.
func serve(args []string) error {
	var o serveOptions
	flags := newFlags("serve", "[-listen ADDRESS | -socket PATH] [-store DIR | -nats URL -node URL] [-hosts NAMES] -- AGENT [ARG ...]")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:7777", "serve at this `address`")
	flags.StringVar(&o.socket, "socket", "", "serve at this Unix socket instead, in a folder that only you may enter: it needs no token, and has no page")
	flags.StringVar(&o.store, "store", "", "keep the sessions in this `folder` (default: a folder of yours)")
	flags.StringVar(&o.hosts, "hosts", "", "`names` under which clients and browsers reach the address, separated by commas, such as https://agent.example.com")
	flags.StringVar(&o.nats, "nats", "", "share the sessions with other nodes in NATS JetStream at this `URL`, or several separated by commas (default: NATS_URL)")
	flags.StringVar(&o.node, "node", "", "the `address` at which the other nodes reach this one, with the token in "+nodeTokenVariable)
	_ = flags.Parse(args) // ends the program if it fails
	if o.command = flags.Args(); len(o.command) == 0 {
		flags.Usage()
		return &codeError{2, "name the command of the agent after --"}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	return o.run(ctx, os.Stdout)
}

// run serves until ctx ends. It prints the address of the page, which holds the token.
func (o *serveOptions) run(ctx context.Context, out io.Writer) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	options := &hub.Options{
		Agent: supervise.Options{
			Dial:      stream.CommandDial(func() *exec.Cmd { return exec.Command(o.command[0], o.command[1:]...) }, nil),
			Handshake: time.Minute, // npx and its like may have to fetch the agent first
		},
		Logger: log,
	}
	var nodes *node
	var err error
	if o.nats != "" || o.node != "" {
		if nodes, err = o.join(ctx, log); err != nil {
			return err
		}
		defer nodes.leave(log) // after the hub, which closes its logs
		options.Store, options.Reach = nodes.store, nodes.reach
	} else if options.Store, err = o.files(log); err != nil {
		return err
	}
	h := hub.New(options)
	defer func() {
		last, stop := context.WithTimeout(context.Background(), goodbye)
		defer stop()
		if err := h.Shutdown(last); err != nil {
			log.Warn("some turns were cancelled", "error", err)
		}
	}()
	if err := h.Start(ctx); err != nil {
		return &codeError{1, client.Explain(nil, err)}
	}
	listener, token, err := o.open()
	if err != nil {
		return err
	}
	if nodes != nil && token == nodes.token {
		return errors.Join(&codeError{2, "ACP_TOKEN and " + nodeTokenVariable + " are the same: clients must not have the token of the nodes"}, listener.Close())
	}
	network := remote.Options{AllowedHosts: list(o.hosts), Logger: log}
	if token != "" {
		network.Authorize = remote.BearerToken(token)
	}
	handler := remote.NewHandler(func(ctx context.Context, s stream.Stream) error {
		return v2.Serve(ctx, s, h.Agent, &v2.Options{Logger: log})
	}, &network)
	if token == "" {
		_, _ = fmt.Fprintf(out, "acp attach unix:%s\n", o.socket)
		return handler.Serve(ctx, listener)
	}
	_, _ = fmt.Fprintf(out, "http://%s/#%s\n", listener.Addr(), token)
	here, _ := os.Getwd() // the page proposes it as the folder of a new session
	page := live.New(h, here, token, network)
	mux := http.NewServeMux()
	mux.Handle(agentPath, handler)
	if nodes != nil {
		mux.Handle(nodePath, nodes.handler(h, network))
	}
	mux.Handle("/", page)
	server := remote.NewServer("", mux)
	done := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer done()
	err = server.Serve(listener)
	last, stop := context.WithTimeout(context.Background(), goodbye)
	defer stop()
	err = errors.Join(handler.Shutdown(last), page.Shutdown(last), err)
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// files returns the store of one machine.
func (o *serveOptions) files(log *slog.Logger) (*journal.Files, error) {
	dir := o.store
	if dir == "" {
		recordings, err := recording.Folder()
		if err != nil {
			return nil, fmt.Errorf("there is no folder for sessions: %w: name one with -store", err)
		}
		dir = filepath.Join(filepath.Dir(recordings), "sessions")
	}
	store, err := journal.OpenFiles(dir, &journal.FilesOptions{Logger: log})
	if err != nil {
		return nil, fmt.Errorf("the sessions cannot be stored: %w: name another folder with -store", err)
	}
	return store, nil
}

// open listens. The token is empty for a Unix socket that nobody else can reach.
func (o *serveOptions) open() (net.Listener, string, error) {
	address := o.listen
	if o.socket != "" {
		address = "unix:" + o.socket
	}
	listener, err := remote.Listen(address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, "", fmt.Errorf("another program listens on %s: end it, or choose another address with -listen", address)
	case err != nil:
		return nil, "", fmt.Errorf("cannot listen on %s: %w", address, err)
	}
	if o.socket != "" {
		authorize, err := remote.AuthorizeUser(listener, nil)
		if err == nil && authorize != nil {
			err = errors.New("its folder is open to other users of this machine, or ACP_TOKEN is set: use -listen")
		}
		if err != nil {
			return nil, "", errors.Join(fmt.Errorf("the socket cannot be served without a token: %w", err), listener.Close())
		}
		return listener, "", nil
	}
	token := os.Getenv(remote.TokenVariable)
	if token == "" {
		token = rand.Text()
	}
	return listener, token, nil
}

// agentAddress returns the address of the agent below that of a page.
func agentAddress(page string) (string, error) {
	if strings.HasPrefix(page, "unix:") {
		return page, nil
	}
	u, err := url.Parse(page)
	if err != nil || u.Host == "" {
		return "", &codeError{2, fmt.Sprintf("%q is no address of acp serve: it is like http://127.0.0.1:7777", page)}
	}
	if u.Fragment != "" {
		return "", &codeError{2, "do not pass the token as an argument, which every user of this machine can read: put it into " + remote.TokenVariable}
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = agentPath
	}
	return u.String(), nil
}
