package terminals

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/internal/command"
)

// Pool runs the commands of agents. All methods are safe for concurrent use.
type Pool struct {
	folders *files.Folders
	opts    Options

	mu      sync.Mutex // guards the fields below, and those of the parts and their sessions
	closed  bool
	running map[*terminal]struct{} // from before the command starts until its group is empty
}

// New returns a Pool whose commands work in folders. It starts nothing.
func New(folders *files.Folders, opts *Options) *Pool {
	return &Pool{folders: folders, opts: opts.withDefaults(), running: map[*terminal]struct{}{}}
}

// Terminals returns the part of a client that runs commands. Conn is the connection to
// the agent; when a session of it or the connection itself ends, so do its commands. A
// nil check allows all commands but those with variables that are not in
// Options.AgentEnv.
func (p *Pool) Terminals(conn files.Sessions, check Check) *Terminals {
	t := &Terminals{pool: p, conn: conn, check: check, sessions: map[acp.SessionID]*session{}}
	if conn != nil {
		conn.OnSessionEnd(t.endSession)
		conn.OnEnd(t.end)
	}
	return t
}

// Close ends all commands. It returns nil when nothing is left of their process groups,
// whatever began to end them, and an error if something is left long after it was killed.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	return p.end(func(*terminal) bool { return true })
}

// end ends the commands for which match returns true, and waits for them.
func (p *Pool) end(match func(*terminal) bool) error {
	var all []*terminal
	p.mu.Lock()
	for term := range p.running {
		if match(term) {
			all = append(all, term)
		}
	}
	p.mu.Unlock()
	for _, term := range all {
		term.stop()
	}
	deadline := time.Now().Add(2*max(p.opts.Grace, 0) + 2*command.KillPatience)
	left := 0
	for _, term := range all {
		if !command.Within(time.Until(deadline), term.done) {
			left++
		}
	}
	switch left {
	case 0:
		return nil
	case 1:
		return errors.New("terminals: 1 command has not ended although it was killed")
	}
	return fmt.Errorf("terminals: %d commands have not ended although they were killed", left)
}
