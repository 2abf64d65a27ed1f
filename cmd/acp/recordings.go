package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"

	"github.com/acpkit/go-sdk/cmd/acp/internal/fixture"
	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
	"github.com/acpkit/go-sdk/cmd/acp/internal/view"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// shownOfCommand is the number of bytes of a command in the list of recordings.
const shownOfCommand = 1000

func recordings(args []string) error {
	flags := newFlags("recordings", "[-rm]")
	remove := flags.Bool("rm", false, "remove all recordings but those that are being written")
	_ = flags.Parse(args)
	if flags.NArg() > 0 {
		return &codeError{2, "recordings takes no arguments: acp recordings [-rm]"}
	}
	dir, err := recording.Folder()
	if err != nil {
		return err
	}
	files, err := recording.List(dir)
	switch {
	case err != nil:
		return err
	case *remove:
		return removeAll(files)
	case len(files) == 0:
		fmt.Fprintf(os.Stderr, "acp: there are no recordings in %s; acp tap makes them\n", dir)
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, f := range files {
		when := f.Modified.Format("2006-01-02 15:04")
		if f.Live {
			when = "recording"
		}
		r, err := recording.Open(f.Path)
		about := fmt.Sprint(err)
		if err == nil {
			about = fmt.Sprintf("%q", r.Head.Command)
			_ = r.Close()
		} else if errors.Is(err, recording.ErrNotRecording) {
			about = "no recording"
		}
		about = safetext.OneLine(about, shownOfCommand)
		fmt.Fprintf(table, "%s\t%d KiB\t%s\t%s\n", f.Path, (f.Size+1023)>>10, when, about)
	}
	return table.Flush()
}

func removeAll(files []recording.File) error {
	var errs []error
	removed := 0
	for _, f := range files {
		if f.Live {
			continue
		}
		err := os.Remove(f.Path)
		if err == nil {
			removed++
		}
		errs = append(errs, err)
	}
	fmt.Fprintf(os.Stderr, "acp: removed %d of %d recordings\n", removed, len(files))
	return errors.Join(errs...)
}

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
