// Package process starts commands in process groups of their own, keeps the end of what they
// print, and ends whole groups: the command with everything that it started and that stayed in
// its group. A group is a process group on Unix and a job object on Windows; on other systems it
// is the process alone.
//
// The package keeps a list of the groups of this program, so that a program that was
// asked to end can end them first; see [EndAll].
package process

import (
	"errors"
	"maps"
	"os/exec"
	"sync"
	"time"
)

// killPatience is how long EndAll waits for groups that were killed.
const killPatience = 5 * time.Second

// ErrEnding is the error of [Start] after [EndAll] was called.
var ErrEnding = errors.New("the program is shutting down and starts no more processes")

// registry holds the groups that are not closed.
type registry struct {
	starting sync.RWMutex // locked for reading while a process starts

	mu     sync.Mutex // guards the fields below; locked after starting
	ending bool
	groups map[*Group]chan struct{} // each channel is closed by Group.Close
}

var groups = registry{groups: map[*Group]chan struct{}{}}

// Start starts cmd as the leader of a group of its own. If cmd.SysProcAttr asks for
// another group, only the process itself is in the returned Group. The caller must wait
// for the command and then end the group with Reaped, Vanishes and Close.
func Start(cmd *exec.Cmd) (*Group, error) { return groups.start(cmd) }

func (r *registry) start(cmd *exec.Cmd) (*Group, error) {
	r.starting.RLock()
	defer r.starting.RUnlock()
	if r.isEnding() {
		return nil, ErrEnding
	}
	g := newGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if err := g.started(cmd.Process); err != nil {
		_ = cmd.Wait() // it was killed
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.groups[g] = make(chan struct{})
	return g, nil
}

func (r *registry) isEnding() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ending
}

// Close removes the group from the registry and frees its resources. It is called once the group is
// empty. Further calls do nothing.
func (g *Group) Close() {
	g.release()
	groups.remove(g)
}

func (r *registry) remove(g *Group) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if closed := r.groups[g]; closed != nil {
		delete(r.groups, g)
		close(closed)
	}
}

// EndAll ends all groups of this program. It asks them to end, and kills the rest after grace or
// when hurry is closed. It returns when all groups are closed, or after a bounded time. After that,
// [Start] fails. EndAll is for a program that is about to exit.
func EndAll(grace time.Duration, hurry <-chan struct{}) { groups.endAll(grace, hurry) }

func (r *registry) endAll(grace time.Duration, hurry <-chan struct{}) {
	r.starting.Lock()
	r.mu.Lock()
	r.ending = true
	left := make(map[*Group]chan struct{}, len(r.groups))
	maps.Copy(left, r.groups)
	r.mu.Unlock()
	r.starting.Unlock()

	for g := range left {
		g.Terminate()
	}
	if awaitClosed(left, grace, hurry) {
		return
	}
	for g := range left {
		g.Kill()
	}
	awaitClosed(left, killPatience, nil)
}

// awaitClosed waits for the groups in left and removes those that are closed. It reports whether
// none is left.
func awaitClosed(left map[*Group]chan struct{}, d time.Duration, hurry <-chan struct{}) bool {
	timer := time.NewTimer(max(d, 0))
	defer timer.Stop()
	for g, closed := range left {
		select {
		case <-closed:
			delete(left, g)
		case <-hurry:
			return false
		case <-timer.C:
			return false
		}
	}
	return true
}

// Ending reports whether [EndAll] was called.
func Ending() bool { return groups.isEnding() }

// Hold never returns after [EndAll] was called, and otherwise returns at once. It is called
// before the end of a process is reported: a program that learns of that end might exit before its
// other processes have ended.
func Hold() {
	if Ending() {
		select {} // until the program exits
	}
}

// Poll waits until alive returns false. It returns false if that is not so at the deadline. It
// polls because the system does not report the end of a grandchild.
func Poll(alive func() bool, deadline time.Time) bool {
	for pause := time.Millisecond; alive(); pause = min(2*pause, 50*time.Millisecond) {
		left := time.Until(deadline)
		if left <= 0 {
			return false
		}
		time.Sleep(min(pause, left))
	}
	return true
}
