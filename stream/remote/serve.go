package remote

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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

// ownAnswers is how long a response may take that net/http writes by itself, because a request is
// malformed or its headers are too long. Over HTTP/2 a peer can keep it from leaving.
const ownAnswers = 10 * time.Second

// NewServer returns a server with limits for headers, idle connections and peers that are not
// authorized, which speaks HTTP/1.1, HTTP/2, and HTTP/2 without TLS. It has no limit for the time
// of a whole request or response, since event streams stay open. A network connection has at most
// 128 requests at a time over HTTP/2.
//
// At most 128 network connections may be without a request that a [Handler] has authorized. Further
// ones wait until they are accepted, and the oldest of these is closed when it is older than 2 s.
//
// ErrorLog writes at most 20 lines in a minute, to the Logger of a [Handler] together with its
// refusals, or to slog.Default() if the handler is another one. Do not replace ConnContext and
// ConnState, which count the network connections.
func NewServer(addr string, handler http.Handler) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	refusals, logger := new(webguard.Refusals), slog.Default()
	if h, ok := handler.(*Handler); ok {
		refusals, logger = &h.refusals, h.log
	}
	if handler == nil {
		handler = http.DefaultServeMux
	}
	server := &http.Server{
		Addr: addr, Protocols: protocols,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // WriteTimeout is for what does not come here
			handler.ServeHTTP(w, r)
		}),
		ErrorLog:          refusals.ErrorLog(logger),
		ReadHeaderTimeout: 10 * time.Second,
		WriteTimeout:      ownAnswers,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: 128,         // clients open another network connection for more
			WriteByteTimeout:     time.Minute, // a client that does not read would block all its requests
		},
	}
	new(webguard.Strangers).Watch(server)
	return server
}
