package talk

import (
	"errors"

	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/rpcerr"
)

// OnEnd arranges for f to be called each time a session has been closed or deleted.
func (b *Sessions[U]) OnEnd(f func(id string)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ends = append(b.ends, f)
}

// ended removes the state of a session and calls the functions given to OnEnd.
func (b *Sessions[U]) ended(v Version[U], id string) {
	v.Ended(id)
	b.mu.Lock()
	all := b.ends
	b.mu.Unlock()
	endpoint.CallAll(all, func(f func(string)) { f(id) })
}

// End records that the agent has closed or deleted a session, with or without a Session.
func (b *Sessions[U]) End(v Version[U], id string) {
	b.mu.Lock()
	s := b.attached[id]
	if b.opened(id) {
		delete(b.attached, id)
		b.plain.remove(id)
		b.closed.Add(id, recentAtMost)
	}
	b.mu.Unlock()
	if s != nil {
		s.forget()
	}
	b.ended(v, id)
}

// Leave removes a Session, but not another Session with the same id, because the agent does not
// know it, or cannot close it.
func (s *Session[U]) Leave() {
	s.book.detach(s)
	s.book.ended(s.version, s.id)
}

// Closed returns the error of closing or deleting a Session. It is none that the agent no longer
// knows the session.
func (s *Session[U]) Closed(err error) error {
	switch {
	case err == nil:
		s.book.detach(s) // the call itself calls End
	case errors.Is(err, rpcerr.ErrResourceNotFound):
		s.Leave()
		return nil
	}
	return err
}

func (b *Sessions[U]) detach(s *Session[U]) {
	b.mu.Lock()
	b.detachLocked(s)
	b.mu.Unlock()
	s.forget()
}

func (b *Sessions[U]) detachLocked(s *Session[U]) {
	if b.attached[s.id] == s {
		delete(b.attached, s.id)
		b.closed.Add(s.id, recentAtMost)
	}
}
