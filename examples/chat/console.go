package main

import (
	"io"
	"os"
)

// console is where the user sits: a terminal, or what stands in for it.
type console struct {
	in       io.Reader
	out, err io.Writer
	tty      *tty // nil if there is no terminal
	color    bool
	edit     bool // chat edits the lines itself; otherwise the terminal does

	interrupts interrupts // what Ctrl-C ends
}

func openConsole() *console {
	c := &console{in: os.Stdin, out: os.Stdout, err: os.Stderr, color: os.Getenv("FORCE_COLOR") != ""}
	if out := openTTY(os.Stdout); out != nil {
		c.tty = openTTY(os.Stdin)
		dumb := os.Getenv("TERM") == "dumb"
		c.color = c.color || !dumb
		c.edit = c.tty.keys() && !dumb
	}
	if os.Getenv("NO_COLOR") != "" {
		c.color = false
	}
	c.interrupts.end = c.tty.restore
	return c
}
