// Command ci runs an agent for one prompt where no one can be asked, as in a pipeline:
//
//	go run ./examples/ci -allow "go test *" -write "**/*_test.go" "Repair the tests." gemini --acp
//
// The agent may read the folder, and do only what -allow and -write name. Its text goes to standard
// output, and -log writes every message as a line of JSON. The exit status tells how the turn
// ended; see the constants below.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// The exit statuses. 0 means that the agent has finished and nothing was denied.
const (
	exitFailed  = 1 // the agent did not start, or the turn failed
	exitUsage   = 2
	exitRefused = 3 // the agent refused to go on, or stopped for a reason of its own
	exitLimit   = 4 // it reached a limit of the model
	exitDenied  = 5 // it ended its turn, but something that it wanted was not allowed
	exitTime    = 6 // it took too long
)

// list is a flag that may be given several times.
type list []string

func (l *list) String() string     { return strings.Join(*l, ", ") }
func (l *list) Set(v string) error { *l = append(*l, v); return nil }

// shownOfLine is the number of bytes of a line about what was denied.
const shownOfLine = 4000

func main() {
	stream.EndOnSignal(nil) // a signal ends the agent too
	var allow, writes list
	dir := flag.String("dir", ".", "`folder` to work in")
	flag.Var(&allow, "allow", "`command` that the agent may run, such as \"go test *\"; may be repeated")
	flag.Var(&writes, "write", "`files` that it may write, such as \"**/*.go\", below the folder; may be repeated")
	limit := flag.Duration("time", 10*time.Minute, "how long it may take")
	silence := flag.Duration("silence", 0, "how long the agent may send nothing during its turn; 0 means no limit")
	log := flag.String("log", "", "write every message to this `file`, one JSON object a line")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: ci [FLAG ...] PROMPT AGENT [ARG ...]\n\nFlags:")
		flag.PrintDefaults()
	}
	if flag.Parse(); flag.NArg() < 2 {
		flag.Usage()
		os.Exit(exitUsage)
	}
	opts := &host.RunOptions{
		Dir: *dir, Denied: tell, Conn: &client.Options{IdleLimit: *silence},
		Process: &stream.CommandOptions{OnStderr: func(line string) { fmt.Fprintln(os.Stderr, safetext.Lines(line, len(line))) }},
	}
	var err error
	if opts.Rules, err = rules(*dir, allow, writes); err == nil && *log != "" {
		opts.Log, err = create(*log)
	}
	if err != nil {
		fail(err)
		os.Exit(exitFailed)
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), *limit, fmt.Errorf("the time of -time, %v, is over: %w", *limit, context.DeadlineExceeded))
	res, err := host.Run(ctx, exec.Command(flag.Arg(1), flag.Args()[2:]...), flag.Arg(0), opts)
	late := ctx.Err() != nil
	cancel()
	fmt.Println(safetext.Lines(res.Text, len(res.Text)))
	if err != nil {
		fail(err)
	}
	os.Exit(status(res, err, late))
}

func fail(err error) { fmt.Fprintln(os.Stderr, "ci:", client.Explain(nil, err)) }

func status(res *host.RunResult, err error, late bool) int {
	_, silent := errors.AsType[*acp.IdleError](err)
	switch {
	case late || silent:
		return exitTime
	case err != nil:
		return exitFailed
	case res.StopReason == acp.StopReasonMaxTokens, res.StopReason == acp.StopReasonMaxTurnRequests:
		return stopped(res, exitLimit)
	case res.StopReason != acp.StopReasonEndTurn:
		return stopped(res, exitRefused)
	case len(res.Denied) > 0:
		return exitDenied
	}
	return 0
}

func stopped(res *host.RunResult, status int) int {
	fail(&client.StopError{Reason: res.StopReason})
	return status
}

// tell says what was denied.
func tell(r permission.Record) {
	for _, line := range r.Question.Lines() {
		more := ""
		if n := len(line) - shownOfLine; n > 0 {
			more = fmt.Sprintf(" (%d bytes more)", n)
		}
		fmt.Fprintln(os.Stderr, "ci: denied:", safetext.OneLine(line, shownOfLine)+more)
	}
}

// rules returns the rules that allow what the flags name. Everything else is denied.
func rules(dir string, allow, writes []string) ([]permission.Rule, error) {
	var rules []permission.Rule
	if len(allow) > 0 {
		rules = append(rules, permission.Rule{Name: "-allow", Decision: permission.Allow, Commands: allow})
	}
	for _, pattern := range writes {
		within, err := permission.Within(dir, pattern)
		if err != nil {
			return nil, err
		}
		rules = append(rules, permission.Rule{Name: "-write", Decision: permission.Allow, Paths: []string{within}})
	}
	return rules, nil
}

// create creates the log, which only the user can read.
func create(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err == nil {
		err = file.Chmod(0o600) // others may be able to read one that existed
	}
	return file, err
}
