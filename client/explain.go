package client

import (
	"errors"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/signin"
	"github.com/acpkit/go-sdk/internal/talk"
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
		return talk.Explain(err, nil, readError)
	}
	return talk.Explain(err, &talk.Agent{Ready: c.ProtocolVersion() != 0, Ways: waysIn(c.AuthMethods())}, readError)
}

func readError(err error) (own talk.Own) {
	if version, ok := errors.AsType[*acp.VersionError](err); ok {
		own.Text, own.Versions = version.Error(), version.Own
	}
	if stop, ok := errors.AsType[*StopError](err); ok {
		own.Stopped = string(stop.Reason)
	}
	if invalid, ok := errors.AsType[*acp.InvalidError](err); ok {
		own.Invalid = invalid.Where
	}
	_, own.Silent = errors.AsType[*acp.IdleError](err)
	return own
}

func waysIn(methods []acp.AuthMethod) (ways []talk.WayIn) {
	for _, w := range signin.Ways(methods) {
		ways = append(ways, talk.WayIn{ID: string(w.ID), Name: w.Name, Description: w.Description, Instruction: w.Instruction("the agent's command")})
	}
	return ways
}
