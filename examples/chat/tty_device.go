//go:build !linux && !darwin && !windows

package main

import "os"

// isTerminal reports whether the file may be a terminal: here it is a character device.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && f.Name() != os.DevNull
}

// discardInput does nothing: there is no way that all these systems have. What was typed before chat
// began to read is taken for an answer here.
func discardInput(*os.File) {}

// showTyped does nothing, for the same reason: a secret is shown while it is typed.
func showTyped(*os.File, bool) {}
