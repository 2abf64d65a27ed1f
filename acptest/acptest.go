// Package acptest checks whether an agent or a client is right: that it does what the protocol
// demands, and what users and other programs rely on. Experimental: it may change in any release.
// As a test of an agent:
//
//	func TestAgent(t *testing.T) {
//		acptest.Agent(t, acptest.InMemory(myAgent.Serve), nil)
//	}
//
// Each check is a subtest with the id under which docs/checks.md describes it. A failure shows
// what was sent, what was read and what is expected. The command acp check runs the same checks
// on any program.
//
// # What is checked how
//
// A check plays the other end of the connection by hand. It has a connection of its own, for
// which a program is started anew, and depends on no other check; some run at the same time. What
// needs the agent to do something, such as to call a tool, is checked if Options.Prompts has a
// text that makes it do so.
//
// A check passes, fails, is skipped because the peer does not offer what it is about, or is
// inconclusive because nothing made it happen or what comes before its subject failed.
package acptest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acpkit/go-sdk/acptest/internal/agents"
	"github.com/acpkit/go-sdk/acptest/internal/check"
	"github.com/acpkit/go-sdk/acptest/internal/clients"
	"github.com/acpkit/go-sdk/acptest/internal/models"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// Tier says how serious the failure of a check is.
type Tier string

// The values of [Tier].
const (
	Must    Tier = "must"    // the protocol demands it
	Should  Tier = "should"  // the protocol recommends it, or users lose something without it
	Interop Tier = "interop" // programs in use rely on it
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

// Target is the program that is checked.
type Target struct{ t check.Target }

// InMemory checks an agent, or a client, in this program. Serve is called for each connection, and
// must return when its stream or ctx ends. A client that is checked starts a session in Options.Cwd
// and sends a prompt.
func InMemory(serve func(context.Context, stream.Stream) error) Target {
	return Target{check.InMemory(serve)}
}

// Command checks an agent that is started by a command, once for each connection. Variables of the
// form NAME=VALUE are added to the environment of this program.
func Command(args []string, env ...string) Target {
	return Target{check.Start(check.Command{Args: args, Env: append(os.Environ(), env...)})}
}

// ClientCommand checks a client that is started by a command, once for each connection. Each {agent}
// in args becomes the path of a program without arguments that the client must start as its agent: a
// copy of launcher, a program whose main calls [Launched] before anything else. The client starts in
// the folder of the sessions, for whose path {cwd} stands.
func ClientCommand(args []string, launcher string, env ...string) Target {
	return Target{check.StartClient(check.Command{Args: args, Env: append(os.Environ(), env...)}, launcher)}
}

// ClientOverNetwork is [ClientCommand] for a client that reaches its agent by WebSocket or HTTP: each
// {url} in args becomes the URL, whose scheme is ws or http.
func ClientOverNetwork(args []string, scheme string, env ...string) Target {
	kind := check.HTTP
	if scheme == "ws" {
		kind = check.WebSocket
	}
	return Target{check.ServeClient(check.Command{Args: args, Env: append(os.Environ(), env...)}, kind)}
}

// Launched connects a client with the check that has started it, if this program is a copy of the
// launcher of [ClientCommand], and reports whether it is.
func Launched() (bool, error) { return check.Launched() }

// URL checks an agent in the network, which is reached by WebSocket or HTTP. The opts may be nil.
func URL(url string, opts *remote.DialOptions) Target {
	return Target{check.Dial(url, opts)}
}

// Options configure a run. The zero value selects the defaults, and nil is equivalent to it.
type Options struct {
	// Version is the version of the protocol to check; 0 means the newest one that both ends speak.
	Version int
	// Cwd is the folder in which sessions work. Empty means a new folder, removed after the run.
	Cwd string
	// Prompts are texts that make an agent do something, by the names in [PromptNames]. The
	// checks that need one which is missing are inconclusive, and those of an empty one, which says
	// that the agent never does it, are skipped. There are defaults for text and stream.
	Prompts map[string]string
	// Drive makes a client send a prompt with the text. Nil means that the client does so by itself;
	// if it does not, the checks that need a prompt are skipped.
	Drive func(ctx context.Context, text string) error
	// Auth is the id of the method by which sessions are signed in. Empty means that they need not be.
	Auth string
	// Only are the ids of the checks to run; none means all.
	Only []string
	// Skip are the ids of checks to leave out, each with the reason.
	Skip map[string]string
	// Wait is how long a peer may be silent before a check believes that nothing comes; 0 means 10 s. A
	// peer that has been slow may be silent for longer.
	Wait time.Duration
	// AtOnce is how many checks run at the same time; 0 means 16 for a peer in this program, and else 4, or
	// the number of processors if that is less. More help with a peer that is slow and has little to compute.
	AtOnce int
	// Progress is called with each result when it is there, by one goroutine at a time.
	Progress func(Result)
}

// PromptNames are the names of [Options] Prompts, each with what its text makes the agent do.
func PromptNames() map[string]string { return maps.Clone(check.PromptNames) }

// Model is a scripted language model, a server on the loopback interface. With it the checks make an
// agent call tools, ask for permission, and work until it is cancelled, without a key.
type Model struct {
	// Env are the variables, as NAME=VALUE, by which agents in use reach the model, for [Command].
	// The home folder of the agent is a temporary one.
	Env []string
	// Prompts are the texts for [Options] Prompts.
	Prompts map[string]string

	server *models.Server
}

// StartModel starts a model. The kind is the protocol that the agent speaks with its model:
// anthropic (messages), openai (chat completions) or responses.
func StartModel(kind string) (*Model, error) {
	server, err := models.Start(kind)
	if err != nil {
		return nil, fmt.Errorf("acptest: %w", err)
	}
	return &Model{Env: server.Env, Prompts: maps.Clone(models.Prompts), server: server}, nil
}

// Close ends the model and removes the home folder.
func (m *Model) Close() error { return m.server.Close() }

// Result is what one check has found.
type Result struct {
	ID       string        `json:"id"`
	Title    string        `json:"title"` // what holds for a peer that passes
	Tier     Tier          `json:"tier"`
	Page     string        `json:"specification"` // the page of the specification that it follows from
	Verdict  Verdict       `json:"verdict"`
	Reason   string        `json:"reason,omitempty"`   // one sentence; empty for [Pass]
	Expected string        `json:"expected,omitempty"` // what the check waited for, if it did
	Sent     string        `json:"sent,omitempty"`     // the message that provoked it, cut at 2 000 bytes
	Read     string        `json:"read,omitempty"`     // the message that proves it, cut at 2 000 bytes
	Change   string        `json:"change,omitempty"`   // what to change, if it fails
	End                    // of the process of the peer, unless the check passes
	Took     time.Duration `json:"-"`
}

// End is what the process of a peer has said and done besides its messages until a check was over. It
// is empty for a peer that was not started by [Command] or its like.
type End struct {
	Exit   string `json:"exit,omitempty"`   // how it had ended, such as "exit status 1"; empty if it ran
	Stderr string `json:"stderr,omitempty"` // the last lines of its standard error, with credentials masked
}

// String returns a line for each of the two, if it is not empty.
func (e End) String() string {
	return row("exit", e.Exit) + row("stderr", strings.ReplaceAll(e.Stderr, "\n", "\n           "))
}

// row returns a line of a result, or nothing.
func row(name, text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("\n  %-8s %s", name, text)
}

// result makes the texts of a peer safe to print.
func result(r check.Result, version int) Result {
	clean := func(text string) string { return safetext.OneLine(text, shownOfLine) }
	one := Result{ID: r.ID, Title: r.Title, Tier: Tier(r.Tier), Page: r.Page(version), Verdict: Verdict(r.Verdict),
		Reason: clean(r.Reason), Expected: clean(r.Expected), Sent: clean(r.Sent), Read: clean(r.Read),
		End: End{r.Last.Exit, r.Last.Stderr}, Took: r.Took}
	if one.Verdict == Fail {
		one.Change = r.Advice()
	}
	return one
}

// Report is the outcome of a run.
type Report struct {
	Role    string // "agent" or "client"
	Version int    // of the protocol; 0 if the peer could not be reached
	// Peer is the name and the version by which the peer calls itself.
	Peer    string
	Results []Result
	// Blocked says why no connection could be begun, or no session started, and what to pass, if that is so:
	// what needs one was not checked.
	Blocked string
}

// CheckAgent runs the checks of agents. The error says why nothing could be checked.
func CheckAgent(ctx context.Context, target Target, opts *Options) (*Report, error) {
	return run(ctx, agents.Suite(), target, opts)
}

// CheckClient runs the checks of clients. The error says why nothing could be checked.
func CheckClient(ctx context.Context, target Target, opts *Options) (*Report, error) {
	if opts != nil {
		target.t.Drive = opts.Drive
	}
	return run(ctx, clients.Suite(), target, opts)
}

// Prompting returns how many prompts [CheckAgent] sends at most with opts.
func Prompting(opts *Options) int { return agents.Suite().Prompting(options(opts)) }

func options(opts *Options) *check.Options {
	if opts == nil {
		opts = &Options{}
	}
	return &check.Options{Version: opts.Version, Cwd: opts.Cwd, Prompts: opts.Prompts, Auth: opts.Auth,
		Only: opts.Only, Skip: opts.Skip, Wait: opts.Wait, AtOnce: opts.AtOnce,
		Progress: func(r check.Result) {
			if opts.Progress != nil {
				opts.Progress(result(r, opts.Version))
			}
		}}
}

func run(ctx context.Context, suite check.Suite, target Target, opts *Options) (_ *Report, err error) {
	o := options(opts)
	if err := known(suite, o); err != nil {
		return nil, err
	}
	if o.Cwd == "" {
		if o.Cwd, err = os.MkdirTemp("", "acptest-"); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(o.Cwd)) }()
	}
	if o.Cwd, err = filepath.EvalSymlinks(o.Cwd); err != nil {
		return nil, err
	}
	if o.Cwd, err = filepath.Abs(o.Cwd); err != nil {
		return nil, err
	}
	r := suite.Run(ctx, target.t, o)
	if r.Unreachable != nil {
		return nil, fmt.Errorf("acptest: the %s cannot be reached: %w", r.Role, r.Unreachable)
	}
	report := &Report{Role: string(r.Role), Version: r.Version, Peer: safetext.OneLine(r.Peer(), shownOfLine), Blocked: safetext.OneLine(r.Blocked, shownOfLine)}
	for _, one := range r.Results {
		report.Results = append(report.Results, result(one, r.Version))
	}
	return report, ctx.Err()
}

// known refuses ids and names that do not exist.
func known(suite check.Suite, o *check.Options) error {
	ids := slices.Clone(o.Only)
	for id := range o.Skip {
		ids = append(ids, id)
	}
	for _, id := range ids {
		if !slices.ContainsFunc(suite.Checks, func(c check.Check) bool { return c.ID == id }) {
			return fmt.Errorf("acptest: there is no check %q of %ss", id, suite.Role)
		}
	}
	for name := range o.Prompts {
		if _, ok := check.PromptNames[name]; !ok {
			return fmt.Errorf("acptest: there is no prompt %q", name)
		}
	}
	if o.AtOnce < 0 {
		return fmt.Errorf("acptest: %d checks cannot run at the same time", o.AtOnce)
	}
	if o.Version < 0 || o.Version > 2 {
		return fmt.Errorf("acptest: version %d of the protocol is not checked: the versions are 1 and 2", o.Version)
	}
	return nil
}

// Agent checks an agent. Each check is a subtest; one that fails in [Must] or [Should]
// fails the test. A check that is skipped or inconclusive is a skipped subtest with its reason.
func Agent(t *testing.T, target Target, opts *Options) {
	t.Helper()
	report, err := CheckAgent(t.Context(), target, opts)
	show(t, report, err)
}

// Client checks a client, as [Agent] does an agent.
func Client(t *testing.T, target Target, opts *Options) {
	t.Helper()
	report, err := CheckClient(t.Context(), target, opts)
	show(t, report, err)
}

func show(t *testing.T, report *Report, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if report.Blocked != "" {
		t.Error(report.Blocked)
	}
	for _, r := range report.Results {
		t.Run(r.ID, func(t *testing.T) {
			switch {
			case r.Verdict == Fail && r.Tier != Interop:
				t.Error(r)
			case r.Verdict != Pass:
				t.Skip(r)
			}
		})
	}
}

// shownOfLine is the number of bytes of a text in a line of a result.
const shownOfLine = 4000

// String returns a result in several lines: what is wrong, what is expected, what was sent, what was
// read, and how the peer ended.
func (r Result) String() string {
	return fmt.Sprintf("%s %s (%s)", r.Verdict, r.ID, r.Tier) + row("rule", r.Title) + row("", r.Page) + row("because", r.Reason) +
		row("expected", r.Expected) + row("sent", r.Sent) + row("read", r.Read) + r.End.String() + row("change", r.Change)
}
