package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
	"github.com/acpkit/go-sdk/stream/remote"
)

// catchUp is how long the disk may write nothing, when the recording catches up after the end of the
// traffic.
const catchUp = 5 * time.Second

// tapOptions are the flags of tap.
type tapOptions struct {
	raw            bool
	listen, to     string
	hosts, origins string
	open           bool // to every user of this machine

	authorize func(*http.Request) (*remote.Principal, error) // of the clients of listen; nil means all
}

func tap(args []string) error {
	var o tapOptions
	flags := newFlags("tap", "[-raw] -- AGENT [ARG ...]", "[-raw] -listen ADDRESS -to URL [-hosts NAMES] [-origins ORIGINS] [-no-token]")
	flags.BoolVar(&o.raw, "raw", false, "do not mask credentials in the recording")
	flags.StringVar(&o.listen, "listen", "", "serve clients over WebSocket and HTTP at this address, such as 127.0.0.1:7000 or unix:PATH")
	flags.StringVar(&o.to, "to", "", "the URL of the agent for the clients of -listen (ws, wss, http, https)")
	flags.StringVar(&o.hosts, "hosts", "", "names under which clients may reach -listen, separated by commas")
	flags.StringVar(&o.origins, "origins", "", "origins of web pages that may use -listen, separated by commas")
	flags.BoolVar(&o.open, "no-token", false, "serve every user of this machine, with the Authorization that they send to the agent")
	_ = flags.Parse(args)
	network := o.listen != "" || o.to != "" || o.hosts != "" || o.origins != "" || o.open
	switch {
	case network && flags.NArg() > 0:
		return &codeError{2, "tap starts an agent or serves the network, not both: leave out the command, or the flags -listen and -to"}
	case network && (o.listen == "" || o.to == ""):
		return &codeError{2, "tap needs both -listen ADDRESS and -to URL for an agent in the network"}
	case network:
		return tapNetwork(&o)
	case flags.NArg() == 0:
		return &codeError{2, "tap needs the command of the agent: acp tap -- AGENT [ARG ...]"}
	}
	return tapCommand(flags.Args(), &o)
}

// record begins a recording and prints where it is. It returns nil if there can be none: the
// traffic is worth more.
func (o *tapOptions) record(command []string) *recording.Recorder {
	dir, err := recording.Folder()
	var rec *recording.Recorder
	if err == nil {
		head := recording.Head{Version: version(), Command: command}
		rec, err = recording.Create(dir, head, o.raw, func(err error) {
			fmt.Fprintf(os.Stderr, "acp: the recording ends here, and the traffic goes on: %v\n", err)
		})
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "acp: there is no recording, and the traffic passes without: %v\n", err)
		return nil
	}
	fmt.Fprintf(os.Stderr, "acp: recording to %s (see it with: acp view)\n", rec.Path)
	return rec
}

// finish ends a recording, and says what is missing in it.
func finish(rec *recording.Recorder) {
	switch loss := rec.Close(catchUp); {
	case loss.Messages > 0:
		fmt.Fprintf(os.Stderr, "acp: the recording is not whole: %d messages of %d bytes are missing in it\n", loss.Messages, loss.Bytes)
	case loss.Cut > 0:
		fmt.Fprintf(os.Stderr, "acp: the recording is not whole: of %d messages it has only the beginning\n", loss.Cut)
	}
}

// startError returns the error for an agent that cannot be started, with the code that a shell
// would give.
func startError(program string, err error) error {
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return &codeError{127, fmt.Sprintf("the agent %q was not found: install it, or give its path", program)}
	case errors.Is(err, os.ErrPermission):
		return &codeError{126, fmt.Sprintf("the agent %q cannot be run: is it a program, and may you run it?", program)}
	}
	return &codeError{126, fmt.Sprintf("the agent %q cannot be started: %v", program, err)}
}

// list splits a list of names.
func list(names string) []string {
	return slices.DeleteFunc(strings.Split(names, ","), func(name string) bool { return name == "" })
}
