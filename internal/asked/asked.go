// Package asked lets the parts of a client know the sessions of a connection from the ctx of a
// handler. The clients of every version put it there, and a part needs none of them.
package asked

import "context"

// Conn is what a connection knows about its sessions. Each method reads the present state, so a
// part that has waited for a person asks again.
type Conn interface {
	// Roots returns the folders of a session, or nil if the connection has not opened it or has
	// closed it.
	Roots(session string) []string
	// Turn returns the number of the turn in progress, or 0.
	Turn(session string) uint64
	// Has reports whether the agent may name the session.
	Has(session string) bool
}

type key struct{}

// With returns the ctx that the handlers of c get.
func With(ctx context.Context, c Conn) context.Context { return context.WithValue(ctx, key{}, c) }

// Of returns the connection whose handler has got ctx, or one without sessions.
func Of(ctx context.Context) Conn {
	if c, ok := ctx.Value(key{}).(Conn); ok {
		return c
	}
	return none{}
}

type none struct{}

func (none) Roots(string) []string { return nil }
func (none) Turn(string) uint64    { return 0 }
func (none) Has(string) bool       { return false }
