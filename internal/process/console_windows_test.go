package process

import "testing"

// needConsole makes sure that there is a console, which sends events to processes.
func needConsole(t *testing.T) {
	t.Helper()
	_, _, _ = kernel32.NewProc("AllocConsole").Call() // fails if there is one
}
