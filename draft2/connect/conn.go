package connect

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/thread"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	thread2 "github.com/acpkit/go-sdk/draft2/thread"
)

// Conn is a connection to an agent in either version. For what only one version has, use
// [Conn.V1] or [Conn.V2]. All methods are safe for concurrent use.
type Conn struct {
	version int
	v1      *client.Conn // either v1 or v2 is nil
	v2      *client2.Conn
	life    life // v1 or v2
	back    backend

	set1 *thread.Set
	set2 *thread2.Set

	mu       sync.Mutex          // guards the fields below
	sessions map[string]*Session // the sessions opened by this Conn
	folders  map[string]string   // the folders of those sessions
}

// life contains the methods of a connection that are the same in both versions.
type life interface {
	Close() error
	Wait() error
	OnEnd(f func())
	Done() <-chan struct{}
	Err() error
}

// backend contains what differs between the versions.
type backend interface {
	start(ctx context.Context, p *SessionParams) (session, error)
	load(ctx context.Context, id string, p *SessionParams) (session, error)
	resume(ctx context.Context, id string, p *SessionParams) (session, error)
	fork(ctx context.Context, id string, p *SessionParams) (session, error)
	options(ctx context.Context, id string, p *SessionParams) (*thread.Snapshot, error)
	list(ctx context.Context, cwd string) iter.Seq2[SessionInfo, error]
	delete(ctx context.Context, id string) error
	thread(id string) *thread.Thread
	forget(id string)
	features() Features
	info() (Info, bool)
	authMethods() []acp.AuthMethod
	authenticate(ctx context.Context, req *acp.AuthenticateRequest) (*acp.AuthenticateResponse, error)
}

func newConn(version int) *Conn {
	return &Conn{version: version, sessions: map[string]*Session{}, folders: map[string]string{}}
}

// optionsV1 adds the middleware that updates the threads. It is the innermost.
func (c *Conn) optionsV1(o *client.Options) *client.Options {
	with := *o
	with.Sending = append(slices.Clone(o.Sending), c.set1.Sending)
	return &with
}

func (c *Conn) optionsV2(o *client2.Options) *client2.Options {
	with := *o
	with.Sending = append(slices.Clone(o.Sending), c.set2.Sending)
	return &with
}

// ended ends the turns in the threads. In version 1 the end of the call of the prompt has done that.
func (c *Conn) ended() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.sessions {
		s.lost(c.Err())
	}
}

// ProtocolVersion returns the version of the connection, 1 or 2.
func (c *Conn) ProtocolVersion() int { return c.version }

// V1 returns the underlying connection if its version is 1, and nil otherwise.
func (c *Conn) V1() *client.Conn { return c.v1 }

// V2 returns the underlying connection if its version is 2, and nil otherwise.
func (c *Conn) V2() *client2.Conn { return c.v2 }

// Close ends the connection, like Close of [client.Conn].
func (c *Conn) Close() error { return c.life.Close() }

// Wait waits until the connection has ended and returns why, like Wait of [client.Conn].
func (c *Conn) Wait() error { return c.life.Wait() }

// OnEnd arranges for f to be called once when the connection has ended, like OnEnd of
// [client.Conn].
func (c *Conn) OnEnd(f func()) { c.life.OnEnd(f) }

// Done returns a channel that is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.life.Done() }

// Err returns nil until the connection has ended, and after that the reason why it ended.
func (c *Conn) Err() error { return c.life.Err() }

// Info is the name and version that an agent sends.
type Info struct{ Name, Title, Version string }

// Info returns the name and version that the agent sent, and reports whether it sent any.
func (c *Conn) Info() (Info, bool) { return c.back.info() }

// Features describes what an agent supports, in either version.
type Features struct {
	// Load, Resume, Fork, List, Close and Delete report whether the methods of these names are
	// supported.
	Load, Resume, Fork, List, Close, Delete bool
	// Image, Audio and Resource report whether a prompt may contain blocks of these types.
	// Text and links are always allowed.
	Image, Audio, Resource bool
	// Skill reports whether a prompt may begin with a block of [Skill], and SkillInline whether any number
	// of them may stand anywhere. An agent of version 1 has no skills.
	Skill, SkillInline bool
	// Stdio, HTTP and SSE report which transports to an MCP server are supported.
	Stdio, HTTP, SSE bool
	// SessionOptions reports whether [Conn.SessionOptions] and SessionParams.Options are supported.
	SessionOptions bool
	// AdditionalDirectories reports whether SessionParams.AdditionalDirectories is supported.
	AdditionalDirectories bool
	// Queue reports whether the agent accepts prompts during a turn. Otherwise they fail with
	// acp.ErrTurnRunning.
	Queue bool
}

// Features returns the features of the agent.
func (c *Conn) Features() Features { return c.back.features() }

// AuthMethods returns the methods to sign in that the agent offers, in the form of version 1. A
// Conn is a Conn of package signin.
func (c *Conn) AuthMethods() []acp.AuthMethod { return c.back.authMethods() }

// Authenticate signs the user in with a method that is a call. If the agent requires the user to
// sign in, other calls fail with rpcerr.ErrAuthRequired.
func (c *Conn) Authenticate(ctx context.Context, req *acp.AuthenticateRequest) (*acp.AuthenticateResponse, error) {
	return c.back.authenticate(ctx, req)
}

// SessionInfo describes one session in a list.
type SessionInfo struct {
	ID    string
	Cwd   string
	Title string
	// UpdatedAt is the time of the last activity, as RFC 3339 text.
	UpdatedAt             string
	AdditionalDirectories []string
	Meta                  thread.Meta
}

// Sessions returns an iterator over the stored sessions of the agent. Cwd selects those of
// one folder; if it is empty, all are selected. The next page is requested when the
// previous one has been iterated over. If a call fails, the last pair has the error.
func (c *Conn) Sessions(ctx context.Context, cwd string) iter.Seq2[SessionInfo, error] {
	return c.back.list(ctx, cwd)
}

// DeleteSession removes a stored session from the list.
func (c *Conn) DeleteSession(ctx context.Context, id string) error {
	err := c.back.delete(ctx, id)
	if err == nil {
		c.forget(id)
	}
	return err
}

func (c *Conn) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sessions, id)
	delete(c.folders, id)
	c.back.forget(id)
}

// setFolder sets the folder of a session, or removes it if cwd is empty. It returns the previous
// folder.
func (c *Conn) setFolder(id, cwd string) (before string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before = c.folders[id]
	if c.folders[id] = cwd; cwd == "" {
		delete(c.folders, id)
	}
	return before
}

// folder returns the folder of a session that was opened by this Conn.
func (c *Conn) folder(id string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.folders[id]
}

// Thread returns the thread of a session. The session may have been opened by the agent, or
// with methods of [Conn.V1] or [Conn.V2].
func (c *Conn) Thread(id string) *thread.Thread { return c.back.thread(id) }
