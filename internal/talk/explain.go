package talk

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

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

// Own is what can be read of an error whose type belongs to a version of the protocol. It is zero for
// other errors.
type Own struct {
	Text     string // of an error about the version, with its code and data
	Versions []int  // those that this end supports, if Text is not empty
	Stopped  string // the reason of a turn that has ended early
	Invalid  string // the value that breaks a rule of the protocol
	Silent   bool   // the turn was cancelled because the agent was silent
}

// Explain returns a text that explains err to the user, and names the next step if there is one.
// agent is nil if there is no connection.
func Explain(err error, agent *Agent, read func(error) Own) (text string) {
	if err == nil {
		return ""
	}
	failed := panics.Contained(func() {
		_ = err.Error() // rpcerr.Explain would show the text of a panic
		text = explain(err, agent, read(err))
	})
	if failed != nil {
		return fmt.Sprintf("an error of type %T whose methods fail", err)
	}
	return text
}

func explain(err error, agent *Agent, own Own) string {
	text := withoutPackages(rpcerr.Explain(err), err)
	if own.Text != "" {
		text = withoutPackages(own.Text, nil)
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
