//go:build !unix

package signin

import "os/exec"

// start starts a command, which receives Ctrl-C of the console like this program.
func start(cmd *exec.Cmd) (ended func(), err error) { return func() {}, cmd.Start() }
