package endpoint

import "context"

// An agent of version 1 can be plugged into an endpoint of another version, which is the client of
// the agent then. This file has all that the two tell each other beside the messages of version 1.
// Neither names the other: agent/kit uses it without a package of that version, and the endpoint
// serves agents that do not use it.

// Plugged is implemented by agents of this module that other endpoints can ask. Other modules
// cannot implement it.
type Plugged interface {
	// PlugIn is called before the first request of the connection. The channel is closed when the
	// connection to the client of the other version begins to end, which is earlier than the
	// agent's own does.
	PlugIn(ending <-chan struct{}, _ Own)

	// RefusesPrompt returns the error of a prompt that can neither run nor wait, before the prompt
	// becomes part of the conversation. ctx is that of the handler of the other version, which
	// knows how many prompts are before this one.
	RefusesPrompt(ctx context.Context, _ Own) error
}

// PlugIn tells an agent, or the one that it wraps, where it is plugged in. It returns nil if the
// agent does not implement Plugged.
func PlugIn[T any](agent T, ending <-chan struct{}) Plugged {
	p, ok := any(Innermost(agent)).(Plugged)
	if !ok {
		return nil
	}
	p.PlugIn(ending, Own{})
	return p
}

type messageIDKey struct{}

// WithMessageID returns a ctx for the handler of a prompt that has an id in the other version.
func WithMessageID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, messageIDKey{}, id)
}

// MessageID returns the id that the prompt has in the other version. ok is false if there is none.
func MessageID(ctx context.Context) (id string, ok bool) {
	id, ok = ctx.Value(messageIDKey{}).(string)
	return id, ok
}
