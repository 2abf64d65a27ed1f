package main

import (
	"errors"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
)

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
