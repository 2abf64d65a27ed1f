package acp

import v1 "github.com/acpkit/go-sdk/acp"

// The errors of this end of a connection. They are the same as in version 1. Use errors.Is.
var (
	// ErrClosed means that the connection has ended; see [v1.ErrClosed].
	ErrClosed = v1.ErrClosed
	// ErrOverloaded means that more input was pending than the hard limit allows; see
	// [v1.ErrOverloaded].
	ErrOverloaded = v1.ErrOverloaded
	// ErrStalled means that the peer stopped reading; see [v1.ErrStalled].
	ErrStalled = v1.ErrStalled
	// ErrTurnCancelled is the cause with which the ctx of the work of a session is cancelled
	// when the client cancels or closes the session.
	ErrTurnCancelled = v1.ErrTurnCancelled
	// ErrTurnRunning means that a replay of a session cannot begin, because a turn of the
	// session is running.
	ErrTurnRunning = v1.ErrTurnRunning
	// ErrHandlerStuck means that a handler ignores its ctx after the end of the connection;
	// see [v1.ErrHandlerStuck].
	ErrHandlerStuck = v1.ErrHandlerStuck
)
