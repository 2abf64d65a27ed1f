package advice

import (
	"time"

	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Action is what a caller does next.
type Action int

// The actions. None comes with a nil error only.
const (
	None     Action = iota
	Retry           // call again, with growing pauses
	Wait            // call again after Advice.After
	LogIn           // authenticate, then call again
	AskUser         // a person has to decide or to say more
	FixInput        // change the input, then call again
	GiveUp          // report it
)

var actionNames = [...]string{"none", "retry", "wait", "log in", "ask the user", "fix the input", "give up"}

// String returns the action in words.
func (a Action) String() string {
	if a < 0 || int(a) >= len(actionNames) {
		return "unknown action"
	}
	return actionNames[a]
}

// Advice is what an error tells its caller.
type Advice struct {
	Action Action
	After  time.Duration // with Wait, how long
	Hint   string        // what would help, in words; may be empty
}

// For returns what err advises. What the error says itself, that it is retryable
// and when, comes before what its kind suggests. An error that carries no
// kind, such as a ctx error or a connection that ended, advises to give up;
// classify.Error makes more of such an error where that is right.
func For(err error) Advice {
	if err == nil {
		return Advice{}
	}
	e, ok := kind.From(err)
	if !ok {
		return Advice{Action: GiveUp}
	}
	a := Advice{Action: GiveUp, Hint: e.Hint}
	switch {
	case e.Retryable && e.RetryAfter > 0:
		a.Action, a.After = Wait, e.RetryAfter
	case e.Retryable:
		a.Action = Retry
	default:
		a.Action = suggested(e.Kind)
	}
	return a
}

func suggested(k kind.Kind) Action {
	switch k {
	case kind.Unauthorized:
		return LogIn
	case kind.ContextRequired, kind.Forbidden:
		return AskUser
	case kind.NotFound, kind.Validation, kind.InvalidParams, kind.InvalidRequest, kind.ParseError, kind.Conflict:
		return FixInput
	}
	return GiveUp
}
