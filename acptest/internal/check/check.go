// Package check has what the checks of agents and of clients share: a check and its result, the
// end of a connection that a check plays by hand, and the runner.
//
// A check is a function that sends messages to the program that is checked, its peer, and reads
// what comes back. It ends with the first thing that is wrong. It must not depend on another
// check, and it says what it could not bring about.
package check

import (
	"fmt"
	"time"
)

// Tier says how serious a failure of a check is.
type Tier string

// The values of [Tier].
const (
	Must    Tier = "must"    // the protocol demands it
	Should  Tier = "should"  // the protocol recommends it, or users lose something without it
	Interop Tier = "interop" // other programs in use rely on it
)

// Verdict is the outcome of a check.
type Verdict string

// The values of [Verdict].
const (
	Pass         Verdict = "PASS"
	Fail         Verdict = "FAIL"
	Skip         Verdict = "SKIP"         // the peer does not offer what is checked
	Inconclusive Verdict = "INCONCLUSIVE" // nothing made it happen, or what comes before it failed
)

// Versions says in which versions of the protocol a check applies.
type Versions uint8

// The values of [Versions].
const (
	V1   Versions = 1 << 1
	V2   Versions = 1 << 2
	Both          = V1 | V2
)

// Has reports whether a version of the protocol is one of v.
func (v Versions) Has(version int) bool { return v&(1<<version) != 0 }

// Check is one check.
type Check struct {
	ID    string
	Title string // what holds for a peer that passes, in one sentence
	Tier  Tier
	Fact  string // the page of the specification that it follows from; see [Check.Page]
	In    Versions

	// Needs is the path of a capability, as the peer advertises it. Without it the check is skipped.
	// A path with " | " has one form for each version.
	Needs string
	// Prompts names the prompts of [Options] that the check sends to an agent, or makes a client send.
	// Without a text for one of them it is inconclusive; a client that sends none is skipped.
	Prompts []string
	// Over are the kinds of link that the check applies to; 0 means all.
	Over Kind
	// Passive names the rule of package passive that decides the check, or [FramesRule]. Every connection
	// of a run is judged by it, except for those of checks that are Rough.
	Passive string
	// Rough says that the check breaks the rules of the protocol itself, so that what the peer does
	// on its connections is judged by the check alone.
	Rough bool
	// First says that the check runs also if a connection cannot be begun.
	First bool

	Run func(*T)
}

// FramesRule is the rule that the messages of a WebSocket are text frames. It reads no messages.
const FramesRule = "frames"

// Page returns the address of the page of the specification that a check follows from, in a version.
func (c *Check) Page(version int) string {
	if !c.In.Has(version) {
		version = 1
		if c.In == V2 {
			version = 2
		}
	}
	return fmt.Sprintf("https://agentclientprotocol.com/protocol/v%d/%s", version, c.Fact)
}

// With returns the function of a check whose first step is one that many have in common, such as to
// open a session.
func With[S any](first func(*T) S, f func(*T, S)) func(*T) {
	return func(t *T) { f(t, first(t)) }
}

// Result is what one check has found.
type Result struct {
	*Check
	Verdict  Verdict
	Reason   string // one sentence; empty for PASS
	Expected string
	Sent     string // the message that provoked it, cut
	Read     string // the message that proves it, cut
	Last     Last   // of the peer
	Took     time.Duration
}
