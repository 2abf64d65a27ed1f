package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/acpkit/go-sdk/acptest"
	"github.com/acpkit/go-sdk/stream/remote"
)

// checkOptions are the flags of check.
type checkOptions struct {
	options     acptest.Options
	protocol    string
	only        string
	model       string
	drive       string
	transport   string
	skip        pairs
	prompts     pairs
	env         pairs
	json, junit bool
	strict      bool

	args []string // the command line from the role on, for the commands that the report shows
}

// pairs are the values of a flag NAME=VALUE that may be repeated.
type pairs struct {
	form   string
	values map[string]string
	all    []string
}

func (p *pairs) String() string { return "" }

func (p *pairs) Set(s string) error {
	name, value, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return fmt.Errorf("it must have the form %s", p.form)
	}
	if p.values == nil {
		p.values = map[string]string{}
	}
	p.values[name], p.all = value, append(p.all, s)
	return nil
}

// checkUsage is how a peer of each role is named.
var checkUsage = map[string]string{
	"agent":  "agent [flags] -- AGENT [ARG ...]",
	"client": "client [flags] -- CLIENT [ARG ...] {agent} [ARG ...]",
}

func checkPeer(args []string) (err error) {
	usage := len(args) == 0 || isHelp(args[0])
	if usage {
		args = []string{"agent"}
	}
	role, args := args[0], args[1:]
	if checkUsage[role] == "" {
		return &codeError{2, fmt.Sprintf("check checks an agent or a client, not %q: acp check %s", role, checkUsage["agent"])}
	}
	o := checkOptions{skip: pairs{form: "ID=REASON"}, prompts: pairs{form: "NAME=TEXT"}, env: pairs{form: "NAME=VALUE"}}
	flags := newFlags("check", checkUsage["agent"], "agent [flags] URL", checkUsage["client"])
	flags.StringVar(&o.protocol, "protocol", "newest", "the version of the protocol: 1, 2 or newest")
	flags.StringVar(&o.only, "only", "", "run these checks alone: ids, separated by commas")
	flags.Var(&o.skip, "skip", "leave out a check: `ID=REASON`; may be repeated")
	flags.Var(&o.prompts, "prompt", "a text that makes the agent do something: `NAME=TEXT`; may be repeated. The names are "+promptNames())
	flags.Var(&o.env, "env", "a variable of the environment of the agent, or the client: `NAME=VALUE`; may be repeated")
	flags.StringVar(&o.transport, "transport", "ws", "the scheme of {url} in the command of a client: ws or http")
	flags.StringVar(&o.drive, "drive", "", "a `COMMAND` of the shell that makes the client send the prompt in $ACP_PROMPT")
	flags.StringVar(&o.model, "model", "", "play the model of the agent: `anthropic`, openai or responses, the protocol that the agent speaks with it")
	flags.StringVar(&o.options.Cwd, "cwd", "", "the folder in which sessions work (a temporary one)")
	flags.StringVar(&o.options.Auth, "auth", "", "the id of the method by which sessions are signed in")
	flags.DurationVar(&o.options.Wait, "wait", 10*time.Second, "how long to wait for an answer")
	flags.IntVar(&o.options.AtOnce, "at-once", 0, "how many checks run at the same time: `N` (4, or the number of processors if that is less)")
	flags.BoolVar(&o.strict, "strict", false, "fail also if a check is inconclusive")
	flags.BoolVar(&o.json, "json", false, "print the report as JSON")
	flags.BoolVar(&o.junit, "junit", false, "print the report as JUnit XML")
	if usage {
		flags.Usage()
		return &codeError{code: 2}
	}
	_ = flags.Parse(args)
	o.args = append([]string{role}, args...)
	o.options.Prompts = map[string]string{}
	if o.model != "" {
		model, failed := acptest.StartModel(o.model)
		if failed != nil {
			return &codeError{2, strings.TrimPrefix(failed.Error(), "acptest: ")}
		}
		defer func() { err = errors.Join(err, model.Close()) }()
		o.env.all = append(model.Env, o.env.all...)
		o.options.Prompts = model.Prompts
	}
	maps.Copy(o.options.Prompts, o.prompts.values)
	target, err := o.target(role, flags.Args())
	if err != nil {
		return err
	}
	return o.run(target)
}

func promptNames() string {
	var b strings.Builder
	for _, name := range []string{"text", "stream", "slow", "tool", "ask", "read", "write", "run"} {
		fmt.Fprintf(&b, "\n%s (%s)", name, acptest.PromptNames()[name])
	}
	return b.String()
}

// target returns what the arguments after the flags name.
func (o *checkOptions) target(role string, args []string) (acptest.Target, error) {
	switch {
	case o.json && o.junit:
		return acptest.Target{}, &codeError{2, "the report is printed in one form: leave out -json or -junit"}
	case len(args) == 0:
		return acptest.Target{}, &codeError{2, "check needs the command of the " + role + ", or the URL of an agent: acp check " + checkUsage[role]}
	case role == "agent" && strings.Contains(args[0], "://"):
		if len(args) > 1 || len(o.env.all) > 0 {
			return acptest.Target{}, &codeError{2, "a URL stands alone: it takes no arguments, and -env is for commands"}
		}
		return acptest.URL(args[0], &remote.DialOptions{Header: remote.TokenHeader}), nil
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		return acptest.Target{}, startError(args[0], err)
	}
	if role == "client" {
		return o.client(args)
	}
	return acptest.Command(args, o.env.all...), nil
}

// client returns the client that a command starts.
func (o *checkOptions) client(args []string) (acptest.Target, error) {
	has := func(word string) bool {
		return slices.ContainsFunc(args, func(arg string) bool { return strings.Contains(arg, word) })
	}
	switch {
	case !has("{agent}") && !has("{url}"):
		return acptest.Target{}, &codeError{2, "the command of a client has {agent} where the path of its agent belongs, or {url}: acp check " + checkUsage["client"]}
	case o.transport != "ws" && o.transport != "http":
		return acptest.Target{}, &codeError{2, fmt.Sprintf("there is no transport %q: -transport is ws or http", o.transport)}
	}
	self, err := os.Executable()
	if err == nil && filepath.Base(args[0]) != args[0] {
		args[0], err = filepath.Abs(args[0]) // the client is started in another folder
	}
	if err != nil {
		return acptest.Target{}, err
	}
	target := acptest.ClientCommand(args, self, o.env.all...)
	if has("{url}") {
		target = acptest.ClientOverNetwork(args, o.transport, o.env.all...)
	}
	if o.drive != "" {
		o.options.Drive = func(ctx context.Context, prompt string) error {
			shell := []string{"sh", "-c"}
			if runtime.GOOS == "windows" {
				shell = []string{"cmd", "/c"}
			}
			cmd := exec.CommandContext(ctx, shell[0], shell[1], o.drive)
			cmd.Env, cmd.Stderr = append(os.Environ(), "ACP_PROMPT="+prompt), os.Stderr
			return cmd.Run()
		}
	}
	return target, nil
}

func (o *checkOptions) run(target acptest.Target) error {
	switch o.protocol {
	case "newest":
	case "1", "2":
		o.options.Version = int(o.protocol[0] - '0')
	default:
		return &codeError{2, fmt.Sprintf("there is no version %q to check: -protocol is 1, 2 or newest", o.protocol)}
	}
	if o.only != "" {
		o.options.Only = list(o.only)
	}
	o.options.Skip = o.skip.values
	o.options.Progress = func(r acptest.Result) {
		fmt.Fprintf(os.Stderr, "%-12s %-20s %s\n", r.Verdict, r.ID, r.Title)
	}
	checked := acptest.CheckAgent
	if o.args[0] == "client" {
		checked = acptest.CheckClient
	} else if n := acptest.Prompting(&o.options); n > 0 {
		fmt.Fprintf(os.Stderr, "acp: the checks send up to %d prompts\n", n)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	report, err := checked(ctx, target, &o.options)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return &codeError{130, "the run was interrupted"}
		}
		return &codeError{2, strings.TrimPrefix(err.Error(), "acptest: ")}
	}
	if err := o.print(report); err != nil {
		return err
	}
	return verdictCode(report, o.strict)
}

// verdictCode returns the error with the exit code of a report: 1 if a check of the tier must has
// failed, 2 if what needs a connection or a session could not be checked, and 3 if only others have
// failed, or with strict are inconclusive.
func verdictCode(report *acptest.Report, strict bool) error {
	code, checked, open := 0, false, false
	for _, r := range report.Results {
		failed := r.Verdict == acptest.Fail || strict && r.Verdict == acptest.Inconclusive
		checked = checked || r.Verdict != acptest.Inconclusive
		open = open || r.Verdict == acptest.Inconclusive
		switch {
		case r.Verdict == acptest.Fail && r.Tier == acptest.Must:
			code = 1
		case failed && code == 0:
			code = 3
		}
	}
	switch {
	case code != 1 && open && report.Blocked != "", code != 1 && !checked:
		return &codeError{2, report.Blocked}
	case code != 0:
		return &codeError{code, report.Blocked}
	}
	return nil
}
