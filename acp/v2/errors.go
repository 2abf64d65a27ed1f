package acp

import v1 "github.com/acpkit/go-sdk/acp"

// The errors of this end of a connection are those of version 1. Use errors.Is.
var (
	// ErrClosed is [v1.ErrClosed].
	ErrClosed = v1.ErrClosed
	// ErrOverloaded is [v1.ErrOverloaded].
	ErrOverloaded = v1.ErrOverloaded
	// ErrStalled is [v1.ErrStalled].
	ErrStalled = v1.ErrStalled
	// ErrTurnCancelled is the cause with which the ctx of the work of a session is cancelled
	// when the client cancels or closes the session.
	ErrTurnCancelled = v1.ErrTurnCancelled
	// ErrTurnRunning means that a replay of a session cannot begin, because a turn of the
	// session is running.
	ErrTurnRunning = v1.ErrTurnRunning
	// ErrHandlerStuck is [v1.ErrHandlerStuck].
	ErrHandlerStuck = v1.ErrHandlerStuck
)
