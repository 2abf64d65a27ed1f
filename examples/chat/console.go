package main

import (
	"context"
	"io"
	"os"
	"sync"
	"time"
)

// console is the terminal of the user, or the files and pipes in place of one.
type console struct {
	in       io.Reader
	out, err io.Writer
	tty      *tty  // nil if there is no terminal
	typed    input // what is typed on a terminal; nil if in is a file or a pipe
	color    bool
	edit     bool // chat edits the lines itself; otherwise the terminal does

	interrupts interrupts // what Ctrl-C ends
}

// ttyMode is the mode in which a terminal passes on input.
type ttyMode int

const (
	// modeSilent does not show what is typed.
	modeSilent ttyMode = iota
	// modeKeys passes on each key and shows none. Ctrl-C and Ctrl-Z stay signals.
	modeKeys
)

func openConsole() *console {
	c := &console{in: os.Stdin, out: os.Stdout, err: os.Stderr, color: os.Getenv("FORCE_COLOR") != ""}
	in := openTTY(os.Stdin)
	if in != nil {
		c.typed = in.input()
	}
	if out := openTTY(os.Stdout); out != nil {
		c.tty = in
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

// twice is the time within which a second Ctrl-C ends the program.
const twice = 2 * time.Second

// interrupts decides what Ctrl-C ends: the turn, or the program.
type interrupts struct {
	end func() // is called before the program ends; may be nil

	mu     sync.Mutex         // guards all below
	cancel context.CancelFunc // cancels the turn; nil if there is none
	last   time.Time          // when Ctrl-C last cancelled a turn
}

// handle cancels the turn. It reports false if the program should end.
func (i *interrupts) handle() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.cancel == nil || time.Since(i.last) < twice {
		if i.end != nil {
			i.end()
		}
		return false
	}
	i.cancel()
	i.last = time.Now()
	return true
}

// turn returns the ctx of a turn, and the function to call after the turn.
func (i *interrupts) turn(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	i.set(cancel)
	return ctx, func() { i.set(nil); cancel() }
}

func (i *interrupts) set(cancel context.CancelFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.cancel = cancel
}
