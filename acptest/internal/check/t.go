package check

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/acptest/passive"
)

// Role is the end of a connection that is checked.
type Role string

// The values of [Role].
const (
	AgentRole  Role = "agent"
	ClientRole Role = "client"
)

func (r Role) end() passive.End { return passive.End(r) }

func (r Role) peer() Role {
	if r == AgentRole {
		return ClientRole
	}
	return AgentRole
}

// T is one run of a check. Its methods that state a verdict end the check. They must be called on
// the goroutine of the check.
type T struct {
	ctx   context.Context
	check *Check
	role  Role

	// Target is the peer, and Opts are those of the run.
	Target *Target
	Opts   *Options
	// Wait is how long the check waits for what the peer must send.
	Wait time.Duration
	// Version is the version of the protocol that is checked.
	Version int
	// Caps are the capabilities that the peer has advertised in that version, as JSON.
	Caps json.RawMessage
	// Init are the params of initialize, or its result, whichever the peer has sent.
	Init json.RawMessage
	// Prompts reports whether the peer is a client that sends prompts.
	Prompts bool
	// Probe is a request that the peer answers.
	Probe Probe
	// Blocked says what must be passed for sessions to be started; empty if they can be.
	Blocked string

	run         *run
	suite       *Suite
	pace        *pace
	bugs        chan string // what went wrong in the check itself
	peers       []*Peer
	verdict     Verdict
	reason      string
	expect      string
	proof       *Message
	unreachable error
	sent, read  string // what Show was given
	last        Last   // of its last peer, when the check ended
	cleanups    []func()
}

// stop is what ends a check before its function returns.
type stop struct{}

// issues is where a fault of a check is told.
const issues = "https://github.com/acpkit/go-sdk/issues"

// guard runs a part of a check that is not to end the program: what it panics with is a fault of the
// check, which makes it inconclusive.
func (t *T) guard(f func()) {
	defer func() {
		if e := recover(); e != nil {
			if e, ok := e.(stop); ok {
				panic(e)
			}
			select {
			case t.bugs <- fmt.Sprintf("The check itself is wrong, and says nothing of the %s: %v, at %s. Please tell it at %s, with the messages below.", t.role, e, place(), issues):
			default: // the first one is enough
			}
		}
	}()
	f()
}

// place returns where the function that panics was, as a file and a line.
func place() string {
	for _, line := range strings.Split(string(debug.Stack()), "\n") {
		if line = strings.TrimSpace(line); strings.Contains(line, "acptest/") && strings.Contains(line, ".go:") && !strings.Contains(line, "check/t.go") {
			line, _, _ = strings.Cut(line[strings.LastIndex(line, "acptest/"):], " ")
			return line
		}
	}
	return "an unknown place"
}

func (t *T) end(v Verdict, format string, args []any) {
	t.verdict, t.reason = v, sentence(fmt.Sprintf(format, args...))
	panic(stop{})
}

// reasonBytes is how long a reason may be: errors of a peer may have whole logs.
const reasonBytes = 500

// sentence makes a text one line, and cuts it.
func sentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > reasonBytes {
		return strings.ToValidUTF8(text[:reasonBytes], "") + "…"
	}
	return text
}

// Fail states that the peer is wrong, in a sentence.
func (t *T) Fail(format string, args ...any) { t.end(Fail, format, args) }

// FailAt is Fail with the message that proves it.
func (t *T) FailAt(m Message, format string, args ...any) {
	t.proof = &m
	t.end(Fail, format, args)
}

// FailIf is Fail if something is wrong.
func (t *T) FailIf(wrong bool, format string, args ...any) {
	if wrong {
		t.end(Fail, format, args)
	}
}

// FailAtIf is FailAt if something is wrong.
func (t *T) FailAtIf(wrong bool, m Message, format string, args ...any) {
	if wrong {
		t.proof = &m
		t.end(Fail, format, args)
	}
}

// Skip states that the peer does not offer what is checked.
func (t *T) Skip(format string, args ...any) { t.end(Skip, format, args) }

// SkipIf is Skip if something is missing.
func (t *T) SkipIf(missing bool, format string, args ...any) {
	if missing {
		t.end(Skip, format, args)
	}
}

// Inconclusive states that nothing made it happen, or that something before it failed.
func (t *T) Inconclusive(format string, args ...any) { t.end(Inconclusive, format, args) }

// Show says what was sent and read by other means than a [Peer], for the result.
func (t *T) Show(sent, read string) { t.sent, t.read = sent, read }

// Expect says what the check waits for, for the result.
func (t *T) Expect(text string) { t.expect = text }

// Context ends with the time of the check.
func (t *T) Context() context.Context { return t.ctx }

// Cleanup adds what is called when the check has ended and its peers are gone.
func (t *T) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }

// Drive makes a client send a prompt, if something is known that does.
func (t *T) Drive() {
	if t.Target.Drive != nil {
		_ = t.Target.Drive(t.ctx, t.Opts.Prompts["text"]) // that no prompt comes is noticed
	}
}

// Amount returns how many messages, or bytes, there are to be: fewer if [Options.Few] is set.
func (t *T) Amount(many, few int) int {
	if t.Opts.Few {
		return few
	}
	return many
}

// Prompt returns the text that makes the peer do something; see [Options.Prompts].
func (t *T) Prompt(name string) string {
	if t.role == ClientRole && !t.Prompts {
		t.Skip("The client sends no prompt by itself: set -drive.")
	}
	text, ok := t.Opts.Prompts[name]
	switch {
	case ok && text == "":
		t.Skip("This agent does not %s.", PromptNames[name])
	case !ok:
		t.Inconclusive("Nothing is known that makes the agent %s: give a text by -prompt %s=TEXT, or by Options.Prompts in a Go test.", PromptNames[name], name)
	}
	return text
}

// Has reports whether the peer has advertised a capability.
func (t *T) Has(path string) bool {
	for form := range strings.SplitSeq(path, " | ") {
		raw := t.Caps
		for name := range strings.SplitSeq(form, ".") {
			raw = At(raw, name)
		}
		if string(raw) == "true" || len(raw) > 0 && raw[0] == '{' {
			return true
		}
	}
	return false
}

// Requires makes the check inconclusive if what comes before its own subject does not work.
func (t *T) Requires(ok bool, format string, args ...any) {
	if !ok {
		t.Inconclusive(format, args...)
	}
}

// Works runs what comes before the subject of the check. If it fails, the check is inconclusive.
func (t *T) Works(f func()) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(stop); ok && t.verdict == Fail {
				t.verdict = Inconclusive
			}
			panic(r)
		}
	}()
	f()
}

// result returns the outcome after the check has ended.
func (t *T) result(took time.Duration) Result {
	r := Result{Check: t.check, Took: took, Verdict: cmp.Or(t.verdict, Pass), Reason: t.reason}
	if r.Verdict == Pass || r.Verdict == Skip {
		return r
	}
	r.Expected, r.Sent, r.Read, r.Last = t.expect, excerpt([]byte(t.sent)), excerpt([]byte(t.read)), t.last
	if len(t.peers) > 0 {
		p := t.peers[len(t.peers)-1]
		p.mu.Lock()
		defer p.mu.Unlock()
		end := len(p.log)
		if t.proof != nil {
			r.Read = excerpt(t.proof.Raw)
			end = min(end, t.proof.Seq)
		}
		for i := end - 1; i >= 0; i-- {
			switch m := &p.log[i]; {
			case m.lost != nil:
			case p.fences[string(m.ID)]: // a probe and its response prove nothing by themselves
			case m.Sent && r.Sent == "":
				r.Sent = excerpt(m.Raw)
			case !m.Sent && r.Read == "":
				r.Read = excerpt(m.Raw)
			}
		}
	}
	return r
}

// excerptBytes is how much of a message a result has.
const excerptBytes = 2000

func excerpt(raw []byte) string {
	if len(raw) > excerptBytes {
		return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(string(raw[:excerptBytes]), ""), len(raw))
	}
	return strings.ToValidUTF8(string(raw), "\uFFFD")
}
