//go:build !linux && !darwin && !windows

package main

import "os"

// isTerminal reports whether the file may be a terminal: here it is a character device.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && f.Name() != os.DevNull
}
