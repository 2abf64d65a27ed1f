//go:build !windows

package process

import "testing"

func needConsole(*testing.T) {}
