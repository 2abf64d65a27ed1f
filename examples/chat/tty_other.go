//go:build !linux && !darwin

package main

import "os"

// tty is a terminal whose mode cannot be changed here.
type tty struct{}

// openTTY returns nil if the file is not a terminal.
func openTTY(f *os.File) *tty {
	if !isTerminal(f) {
		return nil
	}
	return &tty{}
}

func (t *tty) keys() bool { return false }

func (t *tty) set(ttyMode) {}

func (t *tty) restore() {}

func (t *tty) width() int { return 80 }

func (t *tty) follow(func()) {}
