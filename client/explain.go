package client

import (
	"errors"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/signin"
	"github.com/acpkit/go-sdk/internal/talk/explain"
)

// Explain returns a text that explains err to the user, and names the next step if there
// is one: the agent is not installed, it exits before it responds, no agent listens at its
// address, it requires the user to sign in, it stops early ([StopError]), it has failed, or it
// supports only another version of the protocol. err may be an error of [stream.Command],
// [Connect] or any call. c may be nil; if it is not, the text lists the methods to sign in that
// the agent offers. The names of the packages of this module are left out.
//
//	starting gemini: exec: "gemini": executable file not found in $PATH
//	The agent is not installed here. Install it, or give the path of its program.
//
// Like [rpcerr.Explain], the text contains the reason from the data of the agent's error.
// Show it on a screen and do not log it.
func Explain(c *Conn, err error) string {
	if c == nil {
		return explain.Text(err, nil, stopReason)
	}
	return explain.Text(err, &explain.Agent{Ready: c.ProtocolVersion() != 0, Ways: waysIn(c.AuthMethods())}, stopReason)
}

func stopReason(err error) string {
	if stop, ok := errors.AsType[*StopError](err); ok {
		return string(stop.Reason)
	}
	return ""
}

func waysIn(methods []acp.AuthMethod) (ways []explain.WayIn) {
	for _, w := range signin.Ways(methods) {
		ways = append(ways, explain.WayIn{ID: string(w.ID), Name: w.Name, Description: w.Description, Instruction: w.Instruction("the agent's command")})
	}
	return ways
}
