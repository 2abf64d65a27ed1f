package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
)

func recordings(args []string) error {
	flags := newFlags("recordings", "[-rm]")
	remove := flags.Bool("rm", false, "remove all recordings but those that are being written")
	if err := parse(flags, args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return &codeError{2, "recordings takes no arguments: acp recordings [-rm]"}
	}
	dir, err := recording.Folder()
	if err != nil {
		return err
	}
	files, err := recording.List(dir)
	if err != nil {
		return err
	}
	if *remove {
		return removeAll(files)
	}
	if len(files) == 0 {
		fmt.Fprintf(os.Stderr, "acp: there are no recordings in %s; acp tap makes them\n", dir)
		return nil
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, f := range files {
		fmt.Fprintf(table, "%s\t%d KiB\t%s\t%s\n", f.Path, (f.Size+1023)>>10, state(f), about(f.Path))
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

func state(f recording.File) string {
	if f.Live {
		return "recording"
	}
	return f.Modified.Format("2006-01-02 15:04")
}

// about returns the command of a recording, or what is wrong with it.
func about(path string) string {
	r, err := recording.Open(path)
	if err != nil {
		return strings.TrimPrefix(err.Error(), path+": ")
	}
	defer r.Close()
	return fmt.Sprintf("%q", r.Head.Command)
}
