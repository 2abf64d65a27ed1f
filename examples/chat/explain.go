package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/signin"
	"github.com/acpkit/go-sdk/rpcerr"
)

// explained is an error with a text for the user, which may have several lines.
type explained struct {
	text string
	err  error
}

func (e *explained) Error() string { return e.text }
func (e *explained) Unwrap() error { return e.err }

// explain adds the next step to an error, and what failed.
func (c *chat) explain(what string, err error) error {
	if _, done := errors.AsType[*explained](err); done || err == nil {
		return err
	}
	if _, restart := errors.AsType[*host.RestartError](err); restart {
		return err
	}
	if asked, ok := errors.AsType[*rpcerr.RequestError](err); ok && errors.Is(err, signin.ErrNoWay) {
		return &explained{client.Explain(c.conn, asked), err} // lists the ways to sign in
	}
	text := client.Explain(c.conn, err)
	said, _, _ := strings.Cut(rpcerr.Explain(err), ": error id ") // the id is for the log of the agent
	if strings.HasSuffix(said, "Internal error (-32603)") && !c.settings.verbose {
		text += "\nStart chat with -v to see what it logs."
	}
	if what != "" {
		text = what + ": " + text
	}
	return &explained{text, err}
}

func folder(name string) (string, error) {
	dir, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &explained{fmt.Sprintf("there is no folder %s\nMake it, or name another one with -dir.", dir), err}
	case err != nil:
		return "", fmt.Errorf("the folder cannot be used: %w", err)
	case !info.IsDir():
		return "", &explained{fmt.Sprintf("%s is not a folder\nName one with -dir.", dir), syscall.ENOTDIR}
	}
	return dir, nil
}
