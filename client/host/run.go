package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/stream"
)

// RunOptions configure [Run]. With the zero value the agent may read its folder through this client, and nothing
// else; what its process does by itself is not seen, as SECURITY.md says.
type RunOptions struct {
	// Dir is the folder of the session; empty means that of the command, or the current one. The
	// agent may read it.
	Dir string
	// Rules say what else the agent may do. Everything that they do not allow is denied, because no
	// one can be asked. A rule with Paths or Commands decides about what this client does for the agent, and about
	// questions of the agents that permission.ExtractKnown knows. For the questions of another agent, add a rule with
	// the names of its Tools; what it then does is decided by Paths and Commands as before.
	Rules []permission.Rule

	// Updates is called once with the updates of the turn as they arrive; when they end with an
	// error, it is that of Run. Nil drops them.
	Updates func(iter.Seq2[acp.SessionUpdate, error])
	// Denied, if not nil, is called when something is denied, in the order of the decisions. The result has it, too.
	Denied func(permission.Record)
	// Log receives every message as a line of JSON, with the members time, direction ("received" or
	// "sent") and message.
	Log io.Writer

	// Conn are the options of the connection. Its Handshake and IdleLimit limit a silent agent. Its
	// CancelGrace is 2 s if it is zero.
	Conn *client.Options
	// Process are the options of the process.
	Process *stream.CommandOptions
}

// RunResult is what a run has led to.
type RunResult struct {
	// StopReason is empty if the turn did not end.
	StopReason acp.StopReason
	// Text is the text of the agent's messages, as far as it came.
	Text string
	// Denied is what the agent wanted and must not do, at most the first 1000.
	Denied []permission.Record
	// Usage is nil if the agent did not report it.
	Usage *acp.Usage
}

// deniedAtMost is how many records of what was denied are kept.
const deniedAtMost = 1000

// endPatience is how long an agent may take to exit when the time of a run is over.
const endPatience = time.Second

// Run runs the agent cmd for one prompt where no one can be asked, as in a pipeline, and ends it: it
// starts the process, opens a session, and sends the prompt. cmd must not have been started.
//
// When ctx is done, the turn is cancelled at the agent, which has the CancelGrace of opts to end it, and
// then a second to exit. The error of Run is then that of ctx, also if the agent ends the turn in time with
// the stop reason cancelled. A turn that ends with any other stop reason is no error, also if ctx is done.
//
// The result is not nil. With an error it has what was known by then; show the error with
// client.Explain. The error is acp.ErrClosed if the agent has died, an *exec.Error or another one of os/exec if it could
// not be started, an *acp.IdleError if it was silent for too long, and an *rpcerr.RequestError if it has answered with one.
func Run(ctx context.Context, cmd *exec.Cmd, prompt string, opts *RunOptions) (*RunResult, error) {
	r := &run{RunOptions: *cmp.Or(opts, new(RunOptions))}
	err := r.do(ctx, cmd, prompt)
	return r.result(), err
}

// run is one call of Run.
type run struct {
	RunOptions
	stopReason acp.StopReason
	usage      *acp.Usage
	text       strings.Builder

	mu     sync.Mutex // guards denied, which handlers write
	denied []permission.Record
}

func (r *run) result() *RunResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &RunResult{StopReason: r.stopReason, Text: r.text.String(), Denied: r.denied, Usage: r.usage}
}

func (r *run) do(ctx context.Context, cmd *exec.Cmd, prompt string) error {
	if cmd == nil {
		return errors.New("host: Run was given no command: pass the result of exec.Command")
	}
	dir, err := filepath.Abs(cmp.Or(r.Dir, cmd.Dir, "."))
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir) // rules name files without symlinks
	}
	if err != nil {
		return fmt.Errorf("host: the folder of the session: %w", err)
	}
	h, err := Open(&Options{
		Roots: []string{dir}, Terminals: &terminals.Options{},
		Rules: r.Rules, Permission: &permission.Options{Extract: permission.ExtractKnown, Audit: r.audit},
	})
	if err != nil {
		return err
	}
	defer h.Close()
	process, err := stream.Command(cmd, r.Process)
	if err != nil {
		return err
	}
	defer func() { process.Close(); _ = process.Wait() }() // the turn is over, with or without an error
	over := context.AfterFunc(ctx, func() {
		// ends when the process has; the turn, if there is one, has its grace before
		late := time.NewTimer(r.grace() + endPatience)
		defer late.Stop()
		select {
		case <-late.C:
			_ = cmd.Process.Kill() // it has exited, or ends now
		case <-process.Done():
		}
	})
	defer over()
	conn, err := client.Connect(ctx, r.logged(process), h.Client, r.conn())
	if err != nil {
		return unopened(ctx, err)
	}
	defer func() { conn.Close(); _ = conn.Wait() }() // the turn is over
	session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: dir})
	if err != nil {
		return unopened(ctx, err)
	}
	turn := session.Prompt(ctx, acp.Text(prompt))
	updates := r.read(turn)
	if r.Updates != nil {
		r.Updates(updates)
	}
	for range updates { // what is left
	}
	res, err := turn.Wait()
	if err == nil {
		r.stopReason, r.usage = res.StopReason, res.Usage
	}
	return r.late(ctx, err)
}

// unopened returns the error of a run that has no session yet, so that nothing could be cancelled.
func unopened(ctx context.Context, err error) error {
	const text = "host: the agent has not opened a session in time: %w"
	switch {
	case ctx.Err() == nil:
		return err
	case errors.Is(err, ctx.Err()):
		return fmt.Errorf(text, context.Cause(ctx))
	}
	return fmt.Errorf(text+": %w", context.Cause(ctx), err)
}

// late returns the error of a run whose ctx may have ended. An agent that ends its turn by then has
// not failed.
func (r *run) late(ctx context.Context, err error) error {
	switch {
	case ctx.Err() == nil, err == nil && r.stopReason != acp.StopReasonCancelled:
		return err
	case err == nil:
		return fmt.Errorf("host: the agent was cancelled, and has ended its turn: %w", context.Cause(ctx))
	case errors.Is(err, ctx.Err()):
		return fmt.Errorf("host: the agent was cancelled, and has not ended in time: %w", context.Cause(ctx))
	}
	return fmt.Errorf("host: the agent was cancelled: %w: %w", context.Cause(ctx), err)
}

func (r *run) grace() time.Duration { return cmp.Or(r.conn().CancelGrace, 2*time.Second) }

func (r *run) conn() *client.Options {
	o := *cmp.Or(r.Conn, new(client.Options))
	o.CancelGrace = cmp.Or(o.CancelGrace, 2*time.Second)
	return &o
}

// read returns the updates of a turn, and collects the text, of which nothing is lost if the caller
// stops early.
func (r *run) read(turn *client.Turn) iter.Seq2[acp.SessionUpdate, error] {
	return func(yield func(acp.SessionUpdate, error) bool) {
		wanted := true
		for u, err := range turn.Updates() {
			if chunk, ok := u.(*acp.AgentMessageChunk); ok {
				r.text.WriteString(acp.PlainText(chunk.Content))
			}
			wanted = wanted && yield(u, err)
		}
	}
}

func (r *run) audit(rec permission.Record) {
	if rec.Outcome.Decision != permission.Deny {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.denied) < deniedAtMost {
		r.denied = append(r.denied, rec)
	}
	if r.Denied != nil {
		r.Denied(rec)
	}
}

// logged returns a stream that writes each message to the log.
func (r *run) logged(s stream.Stream) stream.Stream {
	if r.Log == nil {
		return s
	}
	enc := json.NewEncoder(r.Log)
	enc.SetEscapeHTML(false)
	var mu sync.Mutex // guards enc: reading and writing happen at the same time
	return stream.Tap(s, func(dir stream.Direction, msg []byte) {
		mu.Lock()
		defer mu.Unlock()
		_ = enc.Encode(struct { // a log that cannot be written does not end the run
			Time      time.Time       `json:"time"`
			Direction string          `json:"direction"`
			Message   json.RawMessage `json:"message"`
		}{time.Now(), dir.String(), msg})
	})
}
