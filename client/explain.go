// Copied to draft2/client by go generate.

package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"regexp"
	"strings"
	"syscall"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// Explain returns a text that explains err to the user, and names the next step if there
// is one: the agent is not installed, it exits before it responds, no agent listens at its
// address, it requires the user to sign in, or it supports only another version of the
// protocol. err may be an error of [stream.Command], [Connect] or any call. c may be nil; if
// it is not, the text lists the methods to sign in that the agent offers. The names of the
// packages of this module are left out.
//
//	starting gemini: exec: "gemini": executable file not found in $PATH
//	The agent is not installed here. Install it, or give the path of its program.
//
// Like [rpcerr.Explain], the text contains the reason from the data of the agent's error.
// Show it on a screen and do not log it.
func Explain(c *Conn, err error) (text string) {
	if err == nil {
		return ""
	}
	failed := panics.Contained(func() {
		_ = err.Error() // rpcerr.Explain would show the text of a panic
		text = explain(c, err)
	})
	if failed != nil {
		return fmt.Sprintf("an error of type %T whose methods fail", err)
	}
	return text
}

func explain(c *Conn, err error) string {
	text := withoutPackages(rpcerr.Explain(err), err)
	if version, ok := errors.AsType[*acp.VersionError](err); ok {
		text = withoutPackages(version.Error(), nil) // its text has the code and the data
	}
	if next := nextStep(c, err); next != "" {
		text += "\n" + next
	}
	return text
}

// packages matches the names of packages at the beginning of errors and of errors that they wrap.
var packages = regexp.MustCompile(`(^|: |; |\()((acp|agent|client|draft2/connect|draft2/serve|elicitation|files|host|permission|proxy|rpcerr|signin|stream|streamhttp|remote|supervise|terminals|thread|websocket): )+`)

// withoutPackages removes the names of packages from the text of err. Text from the peer does not
// change.
func withoutPackages(text string, err error) string {
	if said, ok := errors.AsType[*rpcerr.RequestError](err); ok {
		if i := strings.Index(text, endpoint.Printable(said.Error())); i >= 0 { // the peer's text follows
			return packages.ReplaceAllString(text[:i], "$1") + text[i:]
		}
	} else if exit, ok := errors.AsType[*stream.ExitError](err); ok {
		said := endpoint.Printable(exit.Error())
		if before, after, ok := strings.Cut(text, said); ok {
			return packages.ReplaceAllString(before, "$1") + said + packages.ReplaceAllString(after, "$1")
		}
	}
	return packages.ReplaceAllString(text, "$1")
}

func nextStep(c *Conn, err error) string {
	var (
		path    *fs.PathError
		exit    *stream.ExitError
		version *acp.VersionError
		status  *stream.StatusError
	)
	switch {
	case errors.As(err, &path) && path.Op == "chdir":
		return "The agent cannot run in the folder " + path.Path + ". Choose another one."
	case errors.Is(err, exec.ErrNotFound), errors.As(err, &path) && path.Op == "fork/exec" && errors.Is(err, fs.ErrNotExist):
		return "The agent is not installed here. Install it, or give the path of its program."
	case errors.Is(err, fs.ErrPermission) && errors.As(err, &path) && path.Op == "fork/exec":
		return "The agent's program cannot be executed. Check its permissions."
	case errors.As(err, &version):
		own := strings.ReplaceAll(strings.Trim(fmt.Sprint(version.Own), "[]"), " ", " or ")
		return "Look for a version of the agent that speaks version " + own + " of the protocol."
	case errors.Is(err, syscall.ECONNREFUSED):
		return "No agent listens there."
	case errors.As(err, &status) && status.Code == 401:
		return "The agent wants a token: it got none, or not the one that it expects."
	case errors.Is(err, rpcerr.ErrAuthRequired):
		return signIn(c)
	case errors.As(err, &exit) && (c == nil || c.ProtocolVersion() == 0):
		return "The agent exited before it responded. Run its command by itself to see what it needs; many agents speak the protocol only with a flag such as --acp."
	case errors.Is(err, context.DeadlineExceeded) && c == nil:
		return "The agent has not responded. Run its command by itself to see what it is waiting for."
	}
	return ""
}

func signIn(c *Conn) string {
	if c == nil {
		return "Sign in to the agent first, with its own command."
	}
	ways := waysIn(c.AuthMethods())
	if len(ways) == 0 {
		return "Sign in to the agent first. It offers no method to sign in over the protocol: use its own command."
	}
	var b strings.Builder
	b.WriteString("Sign in to the agent first.")
	for _, w := range ways {
		text := w.id + ": " + w.name
		if w.description != "" {
			text += " (" + w.description + ")"
		}
		if w.instruction != "" {
			text += "; " + w.instruction
		}
		b.WriteString("\n  " + endpoint.Printable(text)) // the whole text is the agent's
	}
	return b.String()
}

// wayIn is a method to sign in, with what the user must do if it is not a call.
type wayIn struct{ id, name, description, instruction string }
