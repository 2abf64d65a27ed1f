//go:build !unix && !windows

package command

import "os/exec"

func setLine(*exec.Cmd, string) {}
