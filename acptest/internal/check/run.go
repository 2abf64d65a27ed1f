package check

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acptest/passive"
)

// Options configure a run.
type Options struct {
	// Version is the version of the protocol to check; 0 means the newest that the peer speaks.
	Version int
	// Cwd is the folder in which sessions work. It must exist.
	Cwd string
	// Prompts are the texts that make an agent do something, by the names in [PromptNames]. For
	// text and stream there are defaults. An empty text says that the agent never does it.
	Prompts map[string]string
	// Auth is the id of the method by which the agent is signed in; empty means none.
	Auth string
	// Only are the ids of the checks to run; none means all.
	Only []string
	// Skip are the ids of checks to leave out, each with the reason.
	Skip map[string]string
	// AtOnce is how many checks run at the same time. 0 means 16 for a peer in this program, with
	// which checks mostly wait. For others it means 4, or the number of processors if that is less.
	AtOnce int
	// Wait is how long a check waits for what the peer must send; 0 means 10 s.
	Wait time.Duration
	// Quiet is how long a check waits for what the peer must not send; 0 means 300 ms.
	Quiet time.Duration
	// Few makes floods and large messages small, for tests of the checks.
	Few bool
	// Progress is called with each result, by one goroutine at a time. Nil is fine.
	Progress func(Result)
}

// PromptNames says what each prompt makes the agent do.
var PromptNames = map[string]string{
	"text":   "reply with text",
	"stream": "count from 1 to 200",
	"slow":   "work until it is cancelled",
	"tool":   "call a tool",
	"ask":    "ask for permission",
	"read":   "read a file by the client",
	"write":  "write a file by the client",
	"run":    "run a command by the client",
}

// The texts that work with any agent.
var defaultPrompts = map[string]string{
	"text":   "Reply with one word.",
	"stream": "Count from 1 to 200, one number a line.",
}

// limit is how long one check may take, in units of [Options.Wait]: a peer that goes on sending is not
// silent, and must end some time.
const limit = 60

// Suite is the set of checks of one role.
type Suite struct {
	Role   Role
	Checks []Check
	// Hello begins a connection and sets Version, Caps, Init, Probe and Blocked. What it states is the
	// verdict of the run if it does not succeed.
	Hello func(*T)
	// Control opens a connection, and states a verdict if the peer does not answer there.
	Control func(*T)
}

// Report is the outcome of a run.
type Report struct {
	Role    Role
	Version int
	Init    json.RawMessage // what the peer has sent in initialize
	Results []Result
	// Unreachable says why no connection could be opened, if that is so.
	Unreachable error
	// Blocked says why no connection could be begun, or no session started, and what to pass, if that is so.
	Blocked string
}

// Prompting returns how many prompts a run sends at most.
func (s Suite) Prompting(opts *Options) int {
	n := 0
	for i := range s.Checks {
		r := &run{suite: s, opts: opts, version: opts.Version}
		if c := &s.Checks[i]; r.wanted(c) && !slices.ContainsFunc(c.Prompts, func(name string) bool {
			return opts.Prompts[name] == "" && defaultPrompts[name] == ""
		}) {
			n += len(c.Prompts)
		}
	}
	return n
}

// Peer returns the name and the version by which the peer calls itself, or "".
func (r *Report) Peer() string {
	for _, member := range []string{"agentInfo", "clientInfo", "info"} {
		m := Message{Result: r.Init}
		if name := m.Text(member, "name"); name != "" {
			return strings.TrimSpace(name + " " + m.Text(member, "version"))
		}
	}
	return ""
}

// Run checks a program. The results are in the order of the suite.
func (s Suite) Run(ctx context.Context, target Target, opts *Options) *Report {
	o := *opts
	atOnce := min(4, runtime.NumCPU())
	if target.Kind == Memory {
		atOnce = 16
	}
	o.Wait, o.Quiet, o.AtOnce = cmp.Or(o.Wait, 10*time.Second), cmp.Or(o.Quiet, 300*time.Millisecond), cmp.Or(o.AtOnce, atOnce)
	o.Prompts = maps.Clone(defaultPrompts)
	maps.Copy(o.Prompts, opts.Prompts)
	r := &run{suite: s, target: target, opts: &o, faults: map[string][]fault{}, pace: &pace{}}
	if err := r.hello(ctx); err != nil {
		return &Report{Role: s.Role, Unreachable: err}
	}
	results := make([]Result, len(s.Checks))
	slots := make(chan struct{}, o.AtOnce)
	var all sync.WaitGroup
	for i := range s.Checks {
		c := &s.Checks[i]
		if c.Passive != "" || !r.wanted(c) {
			continue
		}
		slots <- struct{}{} // given back by a check, which has a limit
		all.Go(func() {     // ends with the check
			defer func() { <-slots }()
			results[i] = r.check(ctx, c)
			r.progress(results[i])
		})
	}
	all.Wait()
	for i := range s.Checks {
		if c := &s.Checks[i]; c.Passive != "" && r.wanted(c) {
			results[i] = r.passive(c)
			r.progress(results[i])
		}
	}
	results = slices.DeleteFunc(results, func(one Result) bool { return one.Check == nil || !r.selected(one.ID) })
	return &Report{Role: s.Role, Version: r.version, Init: r.init, Results: results, Blocked: r.blocked}
}

// run is one run of a suite.
type run struct {
	suite  Suite
	target Target
	opts   *Options

	version int
	prompts bool
	caps    json.RawMessage
	init    json.RawMessage
	probe   Probe
	blocked string
	failed  string // why initialize failed
	pace    *pace

	mu     sync.Mutex
	faults map[string][]fault // of each rule, one of each kind
	told   []string           // kinds of faults whose message a check has shown: it has told them
	judged int                // connections
}

// fault is a fault with the message that shows it.
type fault struct {
	passive.Fault
	message string
}

func (r *run) selected(id string) bool {
	return len(r.opts.Only) == 0 || slices.Contains(r.opts.Only, id)
}

// wanted reports whether a check runs: also to make the traffic that a selected check judges.
func (r *run) wanted(c *Check) bool {
	if r.version != 0 && !c.In.Has(r.version) || !c.Over.Has(r.target.Kind) {
		return false
	}
	return r.selected(c.ID) || !c.Rough && slices.ContainsFunc(r.suite.Checks, func(other Check) bool {
		return other.Passive != "" && r.selected(other.ID) && len(r.opts.Only) > 0
	})
}

func (r *run) progress(one Result) {
	if r.opts.Progress != nil && r.selected(one.ID) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.opts.Progress(one)
	}
}

func (r *run) new(ctx context.Context, c *Check) *T {
	return &T{ctx: ctx, check: c, role: r.suite.Role, Target: &r.target, Opts: r.opts, Wait: r.opts.Wait,
		Version: r.version, Caps: r.caps, Init: r.init, Prompts: r.prompts, Probe: r.probe, Blocked: r.blocked,
		run: r, suite: &r.suite, pace: r.pace, bugs: make(chan string, 1)}
}

// hello learns what the peer speaks and offers.
func (r *run) hello(ctx context.Context) error {
	t := r.new(ctx, &Check{})
	t.Version = r.opts.Version
	var gone *Peer // it has ended and has not responded
	r.play(t, func(t *T) {
		defer func() {
			if n := len(t.peers); n > 0 && r.suite.Role == AgentRole && t.peers[n-1].endedUnheard() {
				gone = t.peers[n-1]
			}
		}()
		r.suite.Hello(t)
	})
	r.judgeFrames(t)
	if gone != nil && ctx.Err() == nil {
		if err := gone.unreached(); err != nil {
			return err
		}
	}
	r.version, r.caps, r.init, r.prompts, r.probe, r.blocked = t.Version, t.Caps, t.Init, t.Prompts, t.Probe, t.Blocked
	if t.verdict != "" {
		r.failed, r.version = t.reason, r.opts.Version
		r.blocked = "No connection could be begun, so next to nothing was checked. " + t.reason
	}
	return t.unreachable
}

// play runs a function to its end and closes its connections.
func (r *run) play(t *T, f func(*T)) time.Duration {
	ctx, cancel := context.WithTimeout(t.ctx, limit*r.opts.Wait)
	defer cancel()
	t.ctx = ctx
	start := time.Now()
	func() {
		defer func() {
			if e := recover(); e != nil {
				if _, ok := e.(stop); !ok {
					panic(e)
				}
			}
		}()
		t.guard(func() { f(t) })
	}()
	select {
	case bug := <-t.bugs:
		t.verdict, t.reason = Inconclusive, bug
	default:
	}
	took := time.Since(start)
	if n := len(t.peers); n > 0 && (t.verdict == Fail || t.verdict == Inconclusive) {
		p := t.peers[n-1]
		if p.Closed() { // its process ends soon after its output
			p.Ends(graceOfEnd)
		}
		t.last = p.link.Last()
	}
	for _, p := range t.peers {
		_ = p.link.Close() // how a peer ends is the subject of checks
		<-p.finished
	}
	for _, f := range t.cleanups {
		f()
	}
	return took
}

func (r *run) check(ctx context.Context, c *Check) Result {
	t := r.new(ctx, c)
	if reason, ok := r.opts.Skip[c.ID]; ok {
		t.verdict, t.reason = Skip, reason
		return t.result(0)
	}
	if r.failed != "" && !c.First {
		t.verdict, t.reason = Inconclusive, "The connection cannot be begun: "+r.failed
		return t.result(0)
	}
	took := r.play(t, func(t *T) {
		if c.Needs != "" && !t.Has(c.Needs) {
			t.Skip("The %s does not advertise %s.", t.role, c.Needs)
		}
		for _, name := range c.Prompts {
			t.Prompt(name)
		}
		c.Run(t)
	})
	if ctx.Err() != nil {
		t.verdict, t.reason = Inconclusive, "The run was interrupted."
	} else if !c.Rough {
		r.judge(t)
	}
	return t.result(took)
}

// judgeFrames keeps whether a peer has sent binary frames.
func (r *run) judgeFrames(t *T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.faults[FramesRule] == nil && slices.ContainsFunc(t.peers, (*Peer).sentBinary) {
		text := fmt.Sprintf("The %s has sent a binary frame, which no other end reads.", t.role)
		r.faults[FramesRule] = []fault{{Fault: passive.Fault{Text: text, Kind: FramesRule}}}
	}
}

// judge keeps what the rules of package passive have found.
func (r *run) judge(t *T) {
	r.judgeFrames(t)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range t.peers {
		r.judged++
		p.mu.Lock()
		for _, f := range p.faults {
			if !slices.ContainsFunc(r.faults[f.Rule], func(other fault) bool { return other.Kind == f.Kind }) {
				r.faults[f.Rule] = append(r.faults[f.Rule], fault{f, excerpt(p.log[f.Seq].Raw)})
			}
			if t.verdict == Fail && r.selected(t.check.ID) && t.proof != nil && int64(t.proof.Seq) == f.Seq && p == t.peers[len(t.peers)-1] {
				r.told = append(r.told, f.Kind)
			}
		}
		p.mu.Unlock()
	}
}

// passive returns the verdict of a rule. A fault that another check has told is not told again.
func (r *run) passive(c *Check) Result {
	one := Result{Check: c, Verdict: Pass}
	found := slices.DeleteFunc(slices.Clone(r.faults[c.Passive]), func(f fault) bool { return slices.Contains(r.told, f.Kind) })
	switch reason, ok := r.opts.Skip[c.ID]; {
	case ok:
		one.Verdict, one.Reason = Skip, reason
	case len(found) > 0:
		one.Verdict, one.Reason, one.Read, one.Expected = Fail, found[0].Text, found[0].message, c.Title
		for _, f := range found[1:min(len(found), 1+otherFaults)] {
			one.Reason += " Another: " + f.Text
		}
	case r.judged == 0 || r.failed != "":
		one.Verdict, one.Reason = Inconclusive, fmt.Sprintf("No connection could be judged. %s", r.failed)
	}
	return one
}

// otherFaults is how many faults of one rule are told besides the first.
const otherFaults = 4
