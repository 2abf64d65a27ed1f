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
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/terminals"
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

// job holds the flags.
type job struct {
	dir           string
	allow, writes list
	limit         time.Duration
	log           string
	prompt        string
	agent         []string
}

// shownOfLine is the number of bytes of a line about what was denied.
const shownOfLine = 4000

func main() {
	stream.EndOnSignal(nil) // a signal ends the agent too
	var j job
	flag.StringVar(&j.dir, "dir", ".", "`folder` to work in")
	flag.Var(&j.allow, "allow", "`command` that the agent may run, such as \"go test *\"; may be repeated")
	flag.Var(&j.writes, "write", "`files` that it may write, such as \"**/*.go\", below the folder; may be repeated")
	flag.DurationVar(&j.limit, "time", 10*time.Minute, "how long it may take")
	flag.StringVar(&j.log, "log", "", "write every message to this `file`, one JSON object a line")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: ci [FLAG ...] PROMPT AGENT [ARG ...]\n\nFlags:")
		flag.PrintDefaults()
	}
	if flag.Parse(); flag.NArg() < 2 {
		flag.Usage()
		os.Exit(exitUsage)
	}
	j.prompt, j.agent = flag.Arg(0), flag.Args()[1:]
	ctx, cancel := context.WithTimeout(context.Background(), j.limit)
	denied, err := j.run(ctx, os.Stdout)
	late := ctx.Err() != nil
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "ci:", client.Explain(nil, err))
	}
	os.Exit(status(err, denied, late))
}

func status(err error, denied, late bool) int {
	stop, stopped := errors.AsType[*client.StopError](err)
	switch {
	case late:
		return exitTime
	case stopped && (stop.Reason == acp.StopReasonMaxTokens || stop.Reason == acp.StopReasonMaxTurnRequests):
		return exitLimit
	case stopped:
		return exitRefused
	case err != nil:
		return exitFailed
	case denied:
		return exitDenied
	}
	return 0
}

// run runs the agent for one turn, and reports whether something was denied.
func (j *job) run(ctx context.Context, out io.Writer) (bool, error) {
	dir, err := filepath.Abs(j.dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir) // rules name files without symlinks
	}
	if err != nil {
		return false, err
	}
	var denied atomic.Bool
	h, err := host.New(&host.Options{
		Roots:     []string{dir},
		Terminals: &terminals.Options{},
		Permission: &permission.Options{
			Rules:   j.rules(dir),
			Extract: permission.ExtractKnown,
			Audit: func(r permission.Record) {
				if r.Outcome.Decision == permission.Deny {
					denied.Store(true)
					for _, line := range r.Question.Lines() {
						more := ""
						if n := len(line) - shownOfLine; n > 0 {
							more = fmt.Sprintf(" (%d bytes more)", n)
						}
						fmt.Fprintln(os.Stderr, "ci: denied:", safetext.OneLine(line, shownOfLine)+more)
					}
				}
			},
		},
	})
	if err != nil {
		return false, err
	}
	defer h.Close()
	process, err := stream.Command(exec.Command(j.agent[0], j.agent[1:]...), &stream.CommandOptions{OnStderr: func(line string) {
		fmt.Fprintln(os.Stderr, safetext.Lines(line, len(line)))
	}})
	if err != nil {
		return false, err
	}
	wire := stream.Stream(process)
	if j.log != "" {
		file, err := os.OpenFile(j.log, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err == nil {
			defer file.Close()
			err = file.Chmod(0o600) // others may be able to read one that existed
		}
		if err != nil {
			return false, errors.Join(err, process.Close())
		}
		wire = logged(wire, file)
	}
	conn, err := client.Connect(ctx, wire, h.Client, nil)
	if err != nil {
		return false, err
	}
	defer func() { conn.Close(); _ = conn.Wait() }() // the turn is over, with or without an error
	session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: dir})
	if err != nil {
		return false, err
	}
	text, err := session.Prompt(ctx, acp.Text(j.prompt)).Text()
	fmt.Fprintln(out, safetext.Lines(text, len(text)))
	return denied.Load(), err
}

// rules returns the rules that allow what the flags name. Everything else is denied, because nobody
// can be asked.
func (j *job) rules(dir string) []permission.Rule {
	var rules []permission.Rule
	if len(j.allow) > 0 {
		rules = append(rules, permission.Rule{Name: "-allow", Decision: permission.Allow, Commands: j.allow})
	}
	for _, pattern := range j.writes {
		rules = append(rules, permission.Rule{Name: "-write", Decision: permission.Allow, Paths: []string{filepath.ToSlash(dir) + "/" + pattern}})
	}
	return rules
}

func logged(s stream.Stream, out io.Writer) stream.Stream {
	enc := json.NewEncoder(out)
	var mu sync.Mutex // guards enc: reading and writing happen at the same time
	return stream.Tap(s, func(dir stream.Direction, msg []byte) {
		mu.Lock()
		defer mu.Unlock()
		enc.Encode(struct {
			Time      time.Time       `json:"time"`
			Direction string          `json:"direction"`
			Message   json.RawMessage `json:"message"`
		}{time.Now(), dir.String(), msg})
	})
}
