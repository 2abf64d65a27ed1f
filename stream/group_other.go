//go:build !unix && !windows

package stream

import (
	"os"
	"os/exec"
	"time"
)

// group is the process alone on systems without groups.
type group struct{ leader *os.Process }

func newGroup(*exec.Cmd) *group          { return &group{} }
func (g *group) started(p *os.Process)   { g.leader = p }
func (g *group) terminate()              { _ = g.leader.Signal(os.Interrupt) }
func (g *group) kill()                   { _ = g.leader.Kill() }
func (g *group) reaped() bool            { return false }
func (g *group) vanishes(time.Time) bool { return true }
func (g *group) close()                  {}

func signalName(*os.ProcessState) string { return "" }
