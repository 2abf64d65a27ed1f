package webguard

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// maxStrangers is how many network connections of a server may be without an allowed request.
	maxStrangers = 128
	// strangerTime is how long each of them is left alone when there are as many.
	strangerTime = 2 * time.Second
	// maxIdle is how many of them may be, or have been, idle: those that have asked and were refused,
	// and those of HTTP/2, which can ask for much at once.
	maxIdle = 16
)

// Strangers are the network connections of a server on which no request was allowed yet. If there
// are too many, further ones wait in the queue of the system until one leaves, and the oldest
// is closed when it had its time. So a peer that is refused, or says nothing, keeps nobody out for
// long, and many clients that return at once are served in turn.
type Strangers struct {
	mu   sync.Mutex // guards the fields below
	all  list.List  // of *stranger, the oldest first
	idle list.List  // those of all that are or were idle
	find map[net.Conn]*stranger
	left chan struct{} // gets an element when one leaves
}

type stranger struct {
	conn    net.Conn
	at      time.Time
	in      *list.Element // of all
	wasIdle *list.Element // of idle, or nil
}

// Watch makes a server count its strangers. It sets the hooks of the server.
func (s *Strangers) Watch(server *http.Server) {
	s.find, s.left = map[net.Conn]*stranger{}, make(chan struct{}, 1)
	server.ConnContext = s.arrive
	server.ConnState = func(c net.Conn, state http.ConnState) {
		switch state {
		case http.StateIdle: // also before the first request of HTTP/2
			s.rest(c)
		case http.StateClosed, http.StateHijacked:
			s.remove(c)
		}
	}
}

type strangerKey struct{}

// Allowed says that a request was allowed, so that its network connection belongs to no stranger. It
// does nothing if the server was not given to Watch.
func Allowed(r *http.Request) {
	if leave, ok := r.Context().Value(strangerKey{}).(func()); ok {
		leave()
	}
}

// arrive is called by the server before it serves a network connection, and before it accepts the
// next one.
func (s *Strangers) arrive(ctx context.Context, c net.Conn) context.Context {
	for !s.add(c) {
		s.awaitRoom()
	}
	return context.WithValue(ctx, strangerKey{}, func() { s.remove(c) })
}

func (s *Strangers) add(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all.Len() >= maxStrangers {
		return false
	}
	one := &stranger{conn: c, at: time.Now()}
	one.in = s.all.PushBack(one)
	s.find[c] = one
	return true
}

// awaitRoom returns when a stranger has left, or closes the oldest one when it had its time.
func (s *Strangers) awaitRoom() {
	s.mu.Lock()
	front := s.all.Front()
	s.mu.Unlock()
	if front == nil {
		return
	}
	oldest := front.Value.(*stranger)
	select {
	case <-s.left:
	case <-time.After(strangerTime - time.Since(oldest.at)):
		s.remove(oldest.conn)
		closeNow(oldest.conn)
	}
}

// rest is called when a network connection becomes idle.
func (s *Strangers) rest(c net.Conn) {
	s.mu.Lock()
	if one := s.find[c]; one != nil && one.wasIdle == nil {
		one.wasIdle = s.idle.PushBack(one)
	}
	var oldest *stranger
	if s.idle.Len() > maxIdle {
		oldest = s.idle.Front().Value.(*stranger)
	}
	s.mu.Unlock()
	if oldest != nil {
		s.remove(oldest.conn)
		closeNow(oldest.conn)
	}
}

func (s *Strangers) remove(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.find[c]
	if one == nil {
		return
	}
	delete(s.find, c)
	s.all.Remove(one.in)
	if one.wasIdle != nil {
		s.idle.Remove(one.wasIdle)
	}
	select {
	case s.left <- struct{}{}:
	default:
	}
}

// closeNow closes a network connection without the farewell of TLS, which could block.
func closeNow(c net.Conn) {
	if over, ok := c.(*tls.Conn); ok {
		c = over.NetConn()
	}
	_ = c.Close()
}
