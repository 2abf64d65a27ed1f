//go:build !linux && !darwin

package main

// someTTY stands for a terminal whose mode cannot be changed.
func someTTY() *tty { return &tty{} }
