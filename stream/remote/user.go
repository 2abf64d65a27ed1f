package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// TokenVariable names the environment variable with the token that the programs of this module
// require of clients and send to servers. A flag would show it to everyone who lists processes.
const TokenVariable = "ACP_TOKEN"

// TokenHeader returns an Authorization header with the token in the environment variable ACP_TOKEN,
// and none if it is not set. It is a function for [DialOptions].Header.
func TokenHeader(context.Context) (http.Header, error) {
	token := os.Getenv(TokenVariable)
	if token == "" {
		return nil, nil
	}
	return http.Header{"Authorization": {"Bearer " + token}}, nil
}

// AuthorizeUser returns what a program needs for Options.Authorize that serves the user who has
// started it, and nobody else on this machine: a loopback address can be reached by every user.
//
//   - If the environment variable ACP_TOKEN is set, clients must send it.
//   - If the listener is a Unix socket in a folder that nobody else may enter, the function is nil,
//     and no token is needed. On Windows this is not known of any folder.
//   - Otherwise a token is made and written to terminal, which is os.Stderr in most programs. If
//     that is no terminal, there is an error, because the token would end up in a log.
func AuthorizeUser(l net.Listener, terminal *os.File) (func(*http.Request) (*Principal, error), error) {
	if token := os.Getenv(TokenVariable); token != "" {
		return BearerToken(token), nil
	}
	if socket, ok := l.Addr().(*net.UnixAddr); ok && isPrivate(filepath.Dir(socket.Name)) {
		return nil, nil
	}
	if !isTerminal(terminal) {
		return nil, fmt.Errorf("%v can be reached by other users, and a token that is made here would end up in a log: set %s to one that clients must send", l.Addr(), TokenVariable)
	}
	token := rand.Text()
	if _, err := fmt.Fprintf(terminal, "Clients must send this token, which is not shown again:\n%s=%s\n", TokenVariable, token); err != nil {
		return nil, err
	}
	return BearerToken(token), nil
}

// Listen listens at an address: HOST:PORT, or unix:PATH for a Unix socket. A socket that a program
// has left behind is replaced. [AuthorizeUser] says who may use it.
func Listen(address string) (net.Listener, error) {
	path, ok := strings.CutPrefix(address, unixScheme)
	if !ok {
		return net.Listen("tcp", address)
	}
	l, err := net.Listen("unix", path)
	if errors.Is(err, syscall.EADDRINUSE) && isLeftBehind(path) {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
		l, err = net.Listen("unix", path)
	}
	return l, err
}

// unixScheme is the beginning of the address of a Unix socket.
const unixScheme = "unix:"

// isLeftBehind reports whether nobody listens at a socket.
func isLeftBehind(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Type() != fs.ModeSocket {
		return false
	}
	c, err := net.Dial("unix", path)
	if err == nil {
		_ = c.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}
