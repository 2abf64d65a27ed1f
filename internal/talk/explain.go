package talk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"

	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// Agent is what an explanation of an error needs to know of the agent.
type Agent struct {
	Ready bool    // it has responded to initialize
	Ways  []WayIn // to sign in
}

// VersionOf returns what explains an error about the version of the protocol: its own text and the
// versions that this end supports. ok is false for other errors.
type VersionOf func(err error) (text string, own []int, ok bool)

// Explain returns a text that explains err to the user, and names the next step if there is one.
// agent is nil if there is no connection.
func Explain(err error, agent *Agent, version VersionOf) (text string) {
	if err == nil {
		return ""
	}
	failed := panics.Contained(func() {
		_ = err.Error() // rpcerr.Explain would show the text of a panic
		text = explain(err, agent, version)
	})
	if failed != nil {
		return fmt.Sprintf("an error of type %T whose methods fail", err)
	}
	return text
}

func explain(err error, agent *Agent, version VersionOf) string {
	text := withoutPackages(rpcerr.Explain(err), err)
	said, own, ok := version(err)
	if ok {
		text = withoutPackages(said, nil) // it has the code and the data
	}
	if next := nextStep(err, agent, own); next != "" {
		text += "\n" + next
	}
	return text
}

// packages matches the names of packages at the beginning of errors and of errors that they wrap.
var packages = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|: |; |\()((acp|agent|client|draft2/connect|draft2/serve|elicitation|files|host|permission|proxy|rpcerr|signin|stream|streamhttp|remote|supervise|terminals|thread|websocket): )+`)
})

// withoutPackages removes the names of packages from the text of err. Text from the peer does not
// change.
func withoutPackages(text string, err error) string {
	without := func(text string) string { return packages().ReplaceAllString(text, "$1") }
	if said, ok := errors.AsType[*rpcerr.RequestError](err); ok {
		if i := strings.Index(text, endpoint.Printable(said.Error())); i >= 0 { // the peer's text follows
			return without(text[:i]) + text[i:]
		}
	} else if exit, ok := errors.AsType[*stream.ExitError](err); ok {
		said := endpoint.Printable(exit.Error())
		if before, after, ok := strings.Cut(text, said); ok {
			return without(before) + said + without(after)
		}
	}
	return without(text)
}

// nextStep returns what the user can do. own is not nil for an error about the version.
func nextStep(err error, agent *Agent, own []int) string {
	var (
		path   *fs.PathError
		exit   *stream.ExitError
		status *stream.StatusError
	)
	switch {
	case errors.As(err, &path) && path.Op == "chdir":
		return "The agent cannot run in the folder " + path.Path + ". Choose another one."
	case errors.Is(err, exec.ErrNotFound), errors.As(err, &path) && path.Op == "fork/exec" && errors.Is(err, fs.ErrNotExist):
		return "The agent is not installed here. Install it, or give the path of its program."
	case errors.Is(err, fs.ErrPermission) && errors.As(err, &path) && path.Op == "fork/exec":
		return "The agent's program cannot be executed. Check its permissions."
	case own != nil:
		list := strings.ReplaceAll(strings.Trim(fmt.Sprint(own), "[]"), " ", " or ")
		return "Look for a version of the agent that speaks version " + list + " of the protocol."
	case errors.Is(err, syscall.ECONNREFUSED):
		return "No agent listens there."
	case errors.As(err, &status) && status.Code == 401:
		return "The agent wants a token: it got none, or not the one that it expects."
	case errors.Is(err, rpcerr.ErrAuthRequired):
		return signIn(agent)
	case errors.As(err, &exit) && (agent == nil || !agent.Ready):
		return "The agent exited before it responded. Run its command by itself to see what it needs; many agents speak the protocol only with a flag such as --acp."
	case errors.Is(err, context.DeadlineExceeded) && agent == nil:
		return "The agent has not responded. Run its command by itself to see what it is waiting for."
	}
	return ""
}

func signIn(agent *Agent) string {
	if agent == nil {
		return "Sign in to the agent first, with its own command."
	}
	if len(agent.Ways) == 0 {
		return "Sign in to the agent first. It offers no method to sign in over the protocol: use its own command."
	}
	var b strings.Builder
	b.WriteString("Sign in to the agent first.")
	for _, w := range agent.Ways {
		text := w.ID + ": " + w.Name
		if w.Description != "" {
			text += " (" + w.Description + ")"
		}
		if w.Instruction != "" {
			text += "; " + w.Instruction
		}
		b.WriteString("\n  " + endpoint.Printable(text)) // the whole text is the agent's
	}
	return b.String()
}
