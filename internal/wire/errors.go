package wire

import "errors"

// The sentinels that the engine and the vocabulary share. Package acp exports
// them; they live here because neither package may import the other.
var (
	ErrClosed        = errors.New("acp: connection closed")
	ErrOverloaded    = errors.New("acp: too much unhandled input")
	ErrStalled       = errors.New("acp: peer does not read")
	ErrTurnCancelled = errors.New("acp: turn cancelled")
	ErrTurnRunning   = errors.New("acp: a turn is already running in this session")
	ErrHandlerStuck  = errors.New("acp: handler did not return")
)
