package acptest

import (
	"os"

	"github.com/acpkit/go-sdk/acp/acptest/internal/check"
)

// ClientCommand checks a client that is started by a command, once for each connection. Each {agent}
// in args becomes the path of a program without arguments that the client must start as its agent: a
// copy of launcher, a program whose main calls [Launched] before anything else. The client starts in
// the folder of the sessions, for whose path {cwd} stands.
func ClientCommand(args []string, launcher string, env ...string) Target {
	return Target{check.StartClient(check.Command{Args: args, Env: append(os.Environ(), env...)}, launcher)}
}

// ClientOverNetwork is [ClientCommand] for a client that reaches its agent by WebSocket or HTTP: each
// {url} in args becomes the URL, whose scheme is ws or http.
func ClientOverNetwork(args []string, scheme string, env ...string) Target {
	kind := check.HTTP
	if scheme == "ws" {
		kind = check.WebSocket
	}
	return Target{check.ServeClient(check.Command{Args: args, Env: append(os.Environ(), env...)}, kind)}
}

// Launched connects a client with the check that has started it, if this program is a copy of the
// launcher of [ClientCommand], and reports whether it is.
func Launched() (bool, error) { return check.Launched() }
