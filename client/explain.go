package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// Explain returns a text that explains err to the user, and names the next step if there
// is one: the agent is not installed, it exits before it responds, it requires the user to
// sign in, or it supports only another version of the protocol. err may be an error of
// [stream.Command], [Connect] or any call. c may be nil; if it is not, the text lists the
// methods to sign in that the agent offers.
//
//	stream: starting gemini: exec: "gemini": executable file not found in $PATH
//	The agent is not installed here. Install it, or give the path of its program.
//
// Like [rpcerr.Explain], the text contains the reason from the data of the agent's error.
// Show it on a screen and do not log it.
func Explain(c *Conn, err error) string {
	text := rpcerr.Explain(err)
	next := nextStep(c, err)
	if next == "" || text == "" {
		return text
	}
	return text + "\n" + next
}

func nextStep(c *Conn, err error) string {
	var (
		path    *fs.PathError
		exit    *stream.ExitError
		version *VersionError
	)
	switch {
	case errors.As(err, &path) && path.Op == "chdir":
		return "The agent cannot run in the folder " + path.Path + ". Choose another one."
	case errors.Is(err, exec.ErrNotFound), errors.As(err, &path) && path.Op == "fork/exec" && errors.Is(err, fs.ErrNotExist):
		return "The agent is not installed here. Install it, or give the path of its program."
	case errors.Is(err, fs.ErrPermission) && errors.As(err, &path) && path.Op == "fork/exec":
		return "The agent's program cannot be executed. Check its permissions."
	case errors.As(err, &version):
		return fmt.Sprintf("Look for a version of the agent that speaks version %d of the protocol.", acp.ProtocolVersion)
	case errors.Is(err, rpcerr.ErrAuthRequired):
		return signIn(c)
	case errors.As(err, &exit) && (c == nil || c.ProtocolVersion() == 0):
		return "The agent exited before it responded. Run its command by itself to see what it needs; many agents speak the protocol only with a flag such as --acp."
	case errors.Is(err, context.DeadlineExceeded) && c == nil:
		return "The agent has not responded. Run its command by itself to see what it is waiting for."
	}
	return ""
}
