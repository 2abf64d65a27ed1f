//go:build !linux && !darwin

package main

import "os"

// tty is a terminal that edits the lines itself. A nil tty does nothing.
type tty struct{ file *os.File }

// openTTY returns nil if the file is not a terminal.
func openTTY(f *os.File) *tty {
	if !isTerminal(f) {
		return nil
	}
	return &tty{f}
}

func (t *tty) input() input {
	return &blockingInput{r: t.file, discard: func() { discardInput(t.file) }}
}

func (t *tty) keys() bool { return false }

func (t *tty) set(m ttyMode) {
	if t != nil && m == modeSilent {
		showTyped(t.file, false)
	}
}

func (t *tty) restore() {
	if t != nil {
		showTyped(t.file, true)
	}
}

func (t *tty) width() int { return 80 }

func (t *tty) follow(func()) {}
