// Package advice speaks about failures in terms of what to do next.
//
// A tool says it while it fails:
//
//	return advice.Transient("The search found nothing.").WithHint("Try broader terms.")
//	return advice.ContextRequired("Two people are called John.", "Which one: John Smith or John Doe?")
//	return advice.Upstream("The tracker refused the query.", resp.StatusCode).WithCause(err)
//
// and a caller hears it, whoever built the error and on whichever end:
//
//	switch a := advice.For(err); a.Action {
//	case advice.Wait:    // a.After, then call again; package retry does it
//	case advice.LogIn:   // authenticate, then call again
//	case advice.AskUser: // a.Hint says what
//	}
//
// The constructors return a [kind.Error]: refine it with its methods. WithDebug and
// WithAttrs take what is for developers and telemetry and never leaves the
// process; the kind says the rest to telemetry.
package advice
