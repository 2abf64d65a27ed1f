package check

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"

	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// ServeClient returns a target whose client is started by a command, once for each connection, and
// reaches its agent by WebSocket or HTTP: each [URLWord] in the command becomes the URL.
func ServeClient(c Command, kind Kind) Target {
	return Target{Kind: kind, Open: func(ctx context.Context, cwd string) (Link, error) {
		return serveClient(ctx, Command{Args: c.Args, Env: c.Env, Dir: cwd}, kind)
	}}
}

// servedLink is a [Link] to a client that is a child process and has connected to a server of its own.
type servedLink struct {
	*processLink
	s   stream.Stream
	end func()
}

func serveClient(ctx context.Context, c Command, kind Kind) (Link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	var known atomic.Bool
	met := make(chan stream.Stream, 1)
	handler := remote.NewHandler(func(ctx context.Context, s stream.Stream) error {
		if known.CompareAndSwap(false, true) { // a second connection finds no agent
			met <- s
			select {
			case <-ctx.Done():
			case <-serving.Done():
			}
		}
		return s.Close()
	}, &remote.Options{Logger: slog.New(slog.DiscardHandler), Resume: true})
	served := make(chan struct{})
	go func() { // ends with serving
		defer close(served)
		_ = handler.Serve(serving, listener)
	}()
	stop := func() { end(); <-served }
	scheme := map[Kind]string{WebSocket: "ws", HTTP: "http"}[kind]
	p, err := startWith(c, URLWord, scheme+"://"+listener.Addr().String()+"/acp")
	if err != nil {
		stop()
		return nil, err
	}
	select {
	case s := <-met:
		return &servedLink{p, s, stop}, nil
	case <-ctx.Done():
	case <-p.done:
	}
	stop()
	return nil, errors.Join(fmt.Errorf("the client has not connected\n%s", p.Stderr()), p.Close())
}

func (l *servedLink) Read() ([]byte, error) { return l.s.Read() }
func (l *servedLink) Write(b []byte) error  { return l.s.Write(b) }
func (l *servedLink) CloseInput() error     { return l.s.Close() }

func (l *servedLink) Close() error {
	_ = l.s.Close() // it may have ended
	l.end()
	return l.processLink.Close()
}
