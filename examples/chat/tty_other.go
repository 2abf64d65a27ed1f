//go:build !linux && !darwin

package main

import "os"

// tty is a terminal whose mode cannot be changed here.
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

func (t *tty) set(ttyMode) {}

func (t *tty) restore() {}

func (t *tty) width() int { return 80 }

func (t *tty) follow(func()) {}
