package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/talk"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// nextStep returns what the user can do.
func nextStep(err error, agent *Agent, stopped string) string {
	var (
		path   *fs.PathError
		exit   *stream.ExitError
		status *stream.StatusError
		silent *endpoint.SilentError
		large  *stream.TooLargeError

		version *acp.VersionError
		invalid *acp.InvalidError
		idle    *acp.IdleError
	)
	switch {
	case errors.As(err, &path) && path.Op == "chdir":
		return "The agent cannot run in the folder " + path.Path + ". Choose another one."
	case errors.Is(err, exec.ErrNotFound):
		return notInstalled
	case errors.As(err, &path) && path.Op == "fork/exec":
		if next := notStarted(path); next != "" {
			return next
		}
	case errors.As(err, &version):
		list := strings.ReplaceAll(strings.Trim(fmt.Sprint(version.Own), "[]"), " ", " or ")
		return "Look for a version of the agent that speaks version " + list + " of the protocol."
	case errors.As(err, &status):
		return refused(status)
	case errors.As(err, &silent) && silent.Network:
		return silentServer
	case errors.As(err, &silent):
		return "The agent has not responded. Run its command by itself to see what it is waiting for."
	case errors.Is(err, rpcerr.ErrAuthRequired):
		return signIn(agent)
	case errors.As(err, &exit):
		return exited(err, exit, agent)
	case stopped != "":
		return afterStop(stopped)
	case errors.As(err, &invalid) && strings.HasSuffix(invalid.Where, " result"):
		return "The agent has answered with what the protocol does not allow. A newer version of it may be right."
	case errors.As(err, &invalid):
		return "Nothing was sent. Correct what is named, and try again."
	case errors.As(err, &idle):
		return "It may be waiting for its model, or hang. Prompt again, or allow it more time."
	case errors.Is(err, wire.ErrTurnRunning):
		return "Wait for the end of that turn, or cancel it."
	case errors.Is(err, talk.ErrSessionClosed):
		return "Open the session again."
	case errors.Is(err, wire.ErrStalled):
		return "The agent has stopped reading. Start it again."
	case errors.Is(err, wire.ErrOverloaded):
		return "The agent has sent more than this program can keep. Start it again; if this returns, it is a fault of the agent."
	case errors.As(err, &large):
		return "Send or ask for less at once, or let this program take longer messages."
	}
	if next := cmp.Or(unreached(err), responded(err)); next != "" {
		return next
	}
	endsWith := func(cause error) bool {
		return errors.Is(err, cause) && strings.HasSuffix(err.Error(), cause.Error())
	}
	switch {
	case endsWith(context.DeadlineExceeded):
		return "The time that was set for this is over. That the agent has failed is not known."
	case endsWith(context.Canceled):
		return cancelled
	case errors.Is(err, wire.ErrClosed):
		return "The connection is closed. Connect to the agent again."
	}
	return ""
}

// afterStop returns what to do after a turn that has ended early for a reason.
func afterStop(reason string) string {
	switch reason {
	case "refusal":
		return "The agent does not take this prompt, and will not remember it. Say it in another way, or ask for something else."
	case "max_tokens":
		return "The model has reached its limit of tokens. Ask the agent to go on, or for less."
	case "max_turn_requests":
		return "The agent has reached its limit of requests to its model. Ask it to go on."
	case "cancelled":
		return "What it has done stays done. Prompt again to go on."
	}
	return "This is a reason of the agent's own: look into its documentation, or prompt again to go on."
}

const cancelled = "It was cancelled. Ask again if it is still needed."

// responded returns what to do after an error that the agent has sent, unless that says it.
func responded(err error) string {
	code, _ := rpcerr.CodeOf(err)
	if code == rpcerr.CodeMethodNotFound { // sent, or of a call that it would not take
		return "The agent cannot do this. A newer version of it may."
	}
	of, ok := errors.AsType[*rpcerr.RequestError](err)
	if !ok || !rpcerr.FromPeer(err) {
		return ""
	}
	var data struct {
		Recovery  struct{ Hint string } `json:"recovery"`
		Retryable bool                  `json:"retryable"`
		Reason    any                   `json:"reason"`
		ErrorID   string                `json:"errorId"`
	}
	_ = of.DecodeData(&data) // it may be anything
	switch {
	case data.Recovery.Hint != "" || data.Retryable: // rpcerr.Explain shows it
		return ""
	case data.Reason == "path_escape":
		return "The path leads out of the folders of the session. Name one inside of them."
	case code == rpcerr.CodeInternalError && data.ErrorID != "":
		return "The agent has failed. Its log says why, beside this id."
	case code == rpcerr.CodeInternalError:
		return "The agent has failed. If its words do not say what it needs, look into its log."
	case code == rpcerr.CodeInvalidParams, code == rpcerr.CodeInvalidRequest:
		return "The agent does not take this as it is. Change what it names."
	case code == rpcerr.CodeResourceNotFound:
		return "This is not there, or not any more. Check its name, or choose another one."
	case code == rpcerr.CodeRequestCancelled:
		return cancelled
	}
	return "The agent does not say what to do. Look into its documentation, or its log."
}

const notInstalled = "The agent is not installed here. Install it, or give the path of its program."

// notStarted returns what to do if the system did not start a program.
func notStarted(err *fs.PathError) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		interpreter := interpreterOf(err.Path)
		if interpreter == "" {
			return notInstalled
		}
		return "The program is there, and what runs it, " + interpreter + ", is not. Install that."
	case errors.Is(err, fs.ErrPermission):
		return "The agent's program cannot be executed. Check its permissions."
	case errors.Is(err, syscall.ENOEXEC):
		return "The file is no program for this system. Install the agent for this system, or begin a script with #! and its interpreter."
	}
	return ""
}

// interpreterOf returns the interpreter that the first line of a script names. It is empty if there is no
// such file; for a program that is no script it is its loader.
func interpreterOf(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	begin := make([]byte, 256)
	n, _ := io.ReadFull(f, begin) // what there is
	line, script := strings.CutPrefix(string(begin[:n]), "#!")
	if !script {
		return "the loader of the system for which it was made"
	}
	line, _, _ = strings.Cut(line, "\n")
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return "the interpreter in its first line"
	}
	return endpoint.Printable(fields[0])
}

// exited returns what to do if the process of the agent has exited.
func exited(err error, exit *stream.ExitError, agent *Agent) string {
	unready := agent != nil && !agent.Ready
	if agent == nil {
		_, unready = errors.AsType[*endpoint.UnreadyError](err)
	}
	switch {
	case !unready:
		return "The agent has ended while it was in use. What it has done stays done. Start it again, open the session again, and repeat the prompt if that does no harm."
	case exit.Status == 127:
		return "A program that the agent's command needs is not installed. Install what the text above names."
	case exit.Status == 126:
		return "A program that the agent's command needs cannot be executed. Check the permissions of what the text above names."
	}
	return "The agent exited before it responded. Run its command by itself to see what it needs; many agents speak the protocol only with a flag such as --acp."
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
