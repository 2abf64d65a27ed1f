// Package explain says what an error of a connection means to the user, in clients of every version: the errors of
// package acp are those of all versions.
package explain

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/acpkit/go-sdk/acp"
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

// WayIn is a method to sign in, with what the user must do if it is not a call.
type WayIn struct{ ID, Name, Description, Instruction string }

// Text returns a text that explains err to the user, and names the next step if there is one.
// agent is nil if there is no connection. stopped returns the reason that err has for a turn that has
// ended early, because each version has an error of its own for it; it is empty for other errors.
func Text(err error, agent *Agent, stopped func(error) string) (text string) {
	if err == nil {
		return ""
	}
	failed := panics.Contained(func() {
		_ = err.Error() // rpcerr.Explain would show the text of a panic
		text = explain(err, agent, stopped(err))
	})
	if failed != nil {
		return fmt.Sprintf("an error of type %T whose methods fail", err)
	}
	return text
}

func explain(err error, agent *Agent, stopped string) string {
	text := withoutPackages(rpcerr.Explain(err), err)
	if version, ok := errors.AsType[*acp.VersionError](err); ok {
		text = withoutPackages(version.Error(), nil)
	}
	if next := nextStep(err, agent, stopped); next != "" {
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
