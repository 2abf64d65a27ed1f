//go:build solaris || (!unix && !windows)

package stream

import "os"

// takeStdio replaces only the variables of package os, because these systems offer no more.
func takeStdio() (in, out *os.File, err error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, nil, err
	}
	in, out = os.Stdin, os.Stdout
	os.Stdin, os.Stdout = null, os.Stderr
	return in, out, nil
}
