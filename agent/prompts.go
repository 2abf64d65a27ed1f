package agent

import (
	"context"
	"errors"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
)

// AwaitEarlier waits until the earlier prompts of the session have their responses. A handler of
// session/prompt that calls it first makes one turn of a session at a time, in the order in which the
// prompts arrived; ctx must be that of the handler.
//
// If the client cancels the turn meanwhile, which cancels all prompts of the session, AwaitEarlier
// still waits for the place of this one and returns nil: ctx is done then, and the handler can record the
// prompt before it returns. The error is that of ctx if the prompt is withdrawn or the connection ends.
func AwaitEarlier(ctx context.Context) error {
	defer rpc.Waits(ctx)()
	err := rpc.AwaitEarlier(ctx)
	if errors.Is(context.Cause(ctx), acp.ErrTurnCancelled) {
		err = rpc.AwaitEarlier(context.WithoutCancel(ctx))
	}
	return err
}

// Ahead returns the number of prompts of the session that were read before this one and have no response
// yet. A handler that lets only some prompts wait refuses others by it; ctx must be that of the handler.
func Ahead(ctx context.Context) int { return rpc.Ahead(ctx) }

// A PromptRefuser is an [acp.Agent] that refuses some prompts before they wait for their turn, such as
// those for which there is no room; see [Ahead]. In version 2 of the protocol a prompt becomes part of the
// conversation before its turn begins, so what serves an agent of version 1 to clients of version 2 asks
// first. In version 1 nothing asks: Prompt returns the same error.
type PromptRefuser interface {
	// RefusesPrompt returns the error for a prompt that can neither run nor wait, and otherwise nil. ctx is
	// that of the handler that has received the prompt.
	RefusesPrompt(ctx context.Context) error
}

type messageIDKey struct{}

// WithMessageID returns a copy of ctx for the handler of a prompt that has an id as a message of the user.
// What serves an agent of version 1 to clients of version 2 calls it in Options.Receiving.
func WithMessageID(ctx context.Context, id acp.MessageID) context.Context {
	return context.WithValue(ctx, messageIDKey{}, id)
}

// MessageID returns the id that the prompt has as a message of the user. ctx must be that of the handler of
// the prompt, or one derived from it; ok is false if the client speaks version 1, which has no such ids. An
// agent that stores its sessions stores the id with the prompt, and sends it when it replays the session,
// so that a client finds the message again.
func MessageID(ctx context.Context) (id acp.MessageID, ok bool) {
	id, ok = ctx.Value(messageIDKey{}).(acp.MessageID)
	return id, ok
}
