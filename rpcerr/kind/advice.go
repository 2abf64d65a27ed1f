package kind

import (
	"cmp"
	"time"

	"github.com/acpkit/go-sdk/rpcerr"
)

// Action is what a caller should do after an error.
type Action int

// The actions. ActionNone belongs to a nil error.
const (
	ActionNone     Action = iota
	ActionRetry           // call again, with growing pauses
	ActionWait            // call again after Advice.After
	ActionLogIn           // authenticate, then call again
	ActionAskUser         // ask a person to decide or to say more
	ActionFixInput        // change the input, then call again
	ActionGiveUp          // report the error
)

// String returns the action in words.
func (a Action) String() string {
	names := [...]string{"none", "retry", "wait", "log in", "ask the user", "fix the input", "give up"}
	if a < 0 || int(a) >= len(names) {
		return "unknown action"
	}
	return names[a]
}

// Advice is what a caller should do after an error.
type Advice struct {
	Action Action
	After  time.Duration // with ActionWait, how long to wait; it may be zero
	Hint   string        // in words; may be empty
}

// AdviceFor returns the advice for err. The fields Retryable and RetryAfter of the error
// take precedence over its kind.
//
// The advice is to log in only for code -32000, and to ask the user if another service refused
// its credentials. It is to give up if err carries no kind; call classify.Error first.
func AdviceFor(err error) Advice {
	if err == nil {
		return Advice{}
	}
	e, ok := From(err)
	if !ok {
		return Advice{Action: ActionGiveUp}
	}
	switch {
	case e.Retryable && (e.RetryAfter > 0 || e.NoDelay):
		return Advice{ActionWait, e.RetryAfter, e.Hint}
	case e.Retryable:
		return Advice{Action: ActionRetry, Hint: e.Hint}
	}
	return Advice{Action: e.suggested(), Hint: e.Hint}
}

func (e *Error) suggested() Action {
	switch e.Kind {
	case Unauthorized:
		if cmp.Or(e.Number, e.Kind.Code()) == rpcerr.CodeAuthRequired {
			return ActionLogIn
		}
		return ActionAskUser
	case ContextRequired, Forbidden:
		return ActionAskUser
	case NotFound, Validation, InvalidParams, InvalidRequest, ParseError, Conflict, ContextTooLarge:
		return ActionFixInput
	}
	return ActionGiveUp
}
