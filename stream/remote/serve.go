package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/acpkit/go-sdk/internal/webguard"
)

// shutdownGrace is how long Serve waits for turns in flight after its ctx has ended.
const shutdownGrace = 10 * time.Second

// lastWrites is how long Serve then waits for responses whose handlers have just returned.
const lastWrites = time.Second

// Serve accepts connections on a listener until ctx ends, with the limits of
// [NewServer], at every path. It then lets running turns end, for up to 10 s, and
// returns nil. It closes the listener. A listener that is not on the loopback interface
// is refused if Options.Authorize is not set.
func (h *Handler) Serve(ctx context.Context, listener net.Listener) error {
	if h.serve == nil {
		_ = listener.Close()
		return errNoServe
	}
	if h.opts.Authorize == nil && !isLoopback(listener.Addr()) {
		_ = listener.Close()
		return fmt.Errorf("remote: %v can be reached from other machines: set Options.Authorize to serve there", listener.Addr())
	}
	if _, err := webguard.ConnectionID(h.opts.Instance); err != nil {
		_ = listener.Close()
		return fmt.Errorf("remote: Options.Instance cannot be used: %w", err)
	}
	server := NewServer("", h)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }() // ends with Close
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
		_ = h.Shutdown(grace) // cancels what has not ended by then
		last, end := context.WithTimeout(grace, lastWrites)
		_ = server.Shutdown(last)
		end()
		cancel()
		_ = server.Close()
		err = <-served
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func isLoopback(a net.Addr) bool {
	switch a := a.(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return false
}

// NewServer returns a server with limits for headers and idle connections, which speaks
// HTTP/1.1, HTTP/2, and HTTP/2 without TLS. It has no limit for the time of a whole
// request or response, since event streams stay open.
func NewServer(addr string, handler http.Handler) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Addr: addr, Handler: handler, Protocols: protocols,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: 2048,
			WriteByteTimeout:     time.Minute, // a client that does not read would block all its requests
		},
	}
}
