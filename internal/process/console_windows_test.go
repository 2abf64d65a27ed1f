package process

import "testing"

// needConsole makes sure that this program has a console, which is needed to send events to
// processes.
func needConsole(t *testing.T) {
	t.Helper()
	_, _, _ = kernel32.NewProc("AllocConsole").Call() // fails if there is one already
}
