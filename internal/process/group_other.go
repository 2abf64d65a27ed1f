//go:build !unix && !windows

package process

import (
	"os"
	"os/exec"
	"time"
)

// Group is only the process on systems without groups.
type Group struct{ leader *os.Process }

func newGroup(*exec.Cmd) *Group { return &Group{} }
func (g *Group) release()       {}

func (g *Group) started(p *os.Process) error {
	g.leader = p
	return nil
}

// Terminate asks the process to end.
func (g *Group) Terminate() { _ = g.leader.Signal(os.Interrupt) }

// Kill ends the process at once.
func (g *Group) Kill() { _ = g.leader.Kill() }

// Reaped reports false: there is only the process.
func (g *Group) Reaped() bool { return false }

// Vanishes reports true.
func (g *Group) Vanishes(time.Time) bool { return true }

// SignalName returns "".
func SignalName(*os.ProcessState) string { return "" }
