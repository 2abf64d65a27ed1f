package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/acpkit/go-sdk/cmd/acp/internal/fixture"
	"github.com/acpkit/go-sdk/cmd/acp/internal/view"
)

// viewRecording shows a recording until Ctrl-C.
func viewRecording(args []string) error {
	flags := newFlags("view", "[-open] [-port N] [FILE]", "-text [FILE]")
	var opts view.Options
	flags.BoolVar(&opts.Text, "text", false, "print the messages and their faults instead of serving a page")
	flags.BoolVar(&opts.Open, "open", false, "open the page in the browser")
	flags.IntVar(&opts.Port, "port", 0, "the port of the page; 0 means any")
	_ = flags.Parse(args)
	if flags.NArg() > 1 {
		return &codeError{2, "view shows one recording: acp view [FILE]"}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return view.Run(ctx, flags.Arg(0), opts, os.Stdout, os.Stderr)
}

// writeFixture prints a recording as a Go test.
func writeFixture(args []string) error {
	flags := newFlags("fixture", "[-conn N] FILE")
	conn := flags.Int("conn", 0, "the connection to play; 0 means the first")
	_ = flags.Parse(args)
	if flags.NArg() != 1 {
		return &codeError{2, "fixture needs the file of a recording, which acp recordings lists: acp fixture FILE"}
	}
	text, err := fixture.Write(flags.Arg(0), *conn)
	if err != nil {
		return err
	}
	_, err = os.Stdout.WriteString(text)
	return err
}
