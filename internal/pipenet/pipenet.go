// Package pipenet is a network in memory for tests of HTTP clients and servers. It
// works in a synctest bubble, where sockets do not.
package pipenet

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
)

// Listener is a net.Listener whose connections come from its DialContext.
type Listener struct {
	conns chan net.Conn
	done  chan struct{}
	close sync.Once
}

// Listen returns a Listener.
func Listen() *Listener {
	return &Listener{conns: make(chan net.Conn), done: make(chan struct{})}
}

// Serve serves h until the test ends, over HTTP/1.1 if protocols is nil. The client that it
// returns reaches h at every http URL.
func Serve(t testing.TB, h http.Handler, protocols *http.Protocols) *http.Client {
	listener := Listen()
	server := &http.Server{Handler: h, Protocols: protocols}
	go func() { _ = server.Serve(listener) }() // ends with the test
	transport := &http.Transport{DialContext: listener.DialContext, Protocols: protocols}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
	})
	return &http.Client{Transport: transport}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// DialContext connects to the listener, whatever the address. It fits http.Transport.
func (l *Listener) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close implements net.Listener.
func (l *Listener) Close() error {
	l.close.Do(func() { close(l.done) })
	return nil
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return &net.UnixAddr{Name: "pipenet", Net: "unix"} }
