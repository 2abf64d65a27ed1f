//go:build linux || darwin

package main

import "os"

// someTTY stands for a terminal whose mode cannot be changed.
func someTTY() *tty { return &tty{file: os.Stdin} }
