package terminals

import (
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/files"
)

// Pool runs the commands of agents. All methods are safe for concurrent use.
type Pool struct {
	folders *files.Folders
	opts    Options

	mu     sync.Mutex // guards all below
	closed bool
	parts  map[*Terminals]struct{} // that are not over
}

// New returns a Pool whose commands work in folders. It starts nothing.
func New(folders *files.Folders, opts *Options) *Pool {
	return &Pool{folders: folders, opts: opts.withDefaults(), parts: map[*Terminals]struct{}{}}
}

// Terminals returns the part of a client that runs commands. Conn is the connection to
// the agent; when a session of it or the connection itself ends, so do its commands. A
// nil check allows all commands but those with variables that are not in
// Options.AgentEnv.
func (p *Pool) Terminals(conn files.Sessions, check Check) *Terminals {
	t := &Terminals{pool: p, conn: conn, check: check, sessions: map[acp.SessionID]*session{}}
	p.mu.Lock()
	t.over = p.closed
	if !p.closed {
		p.parts[t] = struct{}{}
	}
	p.mu.Unlock()
	if conn != nil {
		conn.OnSessionEnd(t.endSession)
		conn.OnEnd(func() {
			p.mu.Lock()
			delete(p.parts, t)
			p.mu.Unlock()
			t.end()
		})
	}
	return t
}

// Close ends all commands. It returns when nothing is left of their process groups, or
// after a bounded time.
func (p *Pool) Close() error {
	p.mu.Lock()
	parts := p.parts
	p.closed, p.parts = true, nil
	p.mu.Unlock()
	var all sync.WaitGroup
	for t := range parts {
		all.Go(t.end)
	}
	all.Wait()
	return nil
}
