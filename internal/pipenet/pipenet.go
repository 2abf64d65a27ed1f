// Package pipenet is a network in memory for tests of HTTP clients and servers. It
// works in a synctest bubble, where sockets do not.
package pipenet

import (
	"context"
	"net"
	"sync"
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
