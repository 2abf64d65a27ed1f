package workspace

import "testing"

// SetShell makes a test run its commands with another shell.
func SetShell(t *testing.T, path string) {
	before := shell
	t.Cleanup(func() { shell = before })
	shell = []string{path, "-c"}
}
