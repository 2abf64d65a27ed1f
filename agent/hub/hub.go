package hub

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/supervise"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// ErrSlow is wrapped by the error of Serve if the client did not read what happened in a session
// fast enough.
var ErrSlow = errors.New("hub: the client reads too slowly")

// Options configure a Hub. Agent.Dial is required.
type Options struct {
	// Agent starts the agent, or connects to it. Its Client and OnReturn are set by the hub: what the agent asks
	// goes to the clients of the session. Its Handshake is 10 seconds if it is zero, because clients wait for it;
	// a command that may have to fetch the agent needs more. An agent in this process is one end of a stream.Pipe.
	Agent supervise.Options

	// Store stores what the person saw. Nil means a journal.Memory, whose sessions end with the hub.
	Store journal.Store

	// Host returns the client whose files and terminals the agent may use. They are those of this
	// machine, because the clients of a session may have different ones. Nil means that the agent is
	// offered none.
	Host func(c *client.Conn) acp.Client

	// Principal returns who the client of a connection is. ctx is that of a handler of the connection.
	// Nil means that all clients are the one local user.
	Principal func(ctx context.Context) (string, error)

	// Access returns what a principal may do with a session. It is called when a client attaches, and
	// for each prompt, cancel, change and answer, so a principal can be revoked at any time; see
	// Hub.Revoke. Nil means that the creator of a session controls it and that it does not exist for others.
	Access func(ctx context.Context, principal string, s Info) Role

	// Reach connects to the hub that holds a session, when several hubs share a Store. The holder is that of the
	// *journal.HeldError, and the other hub serves the stream with ServeNode as a client of the principal.
	// Nil means that there is one hub.
	Reach func(ctx context.Context, holder, principal string) (stream.Stream, error)

	// Detached limits how long a session waits when no client is attached that controls it.
	Detached Detached

	// Limits bound what clients may make the hub hold.
	Limits Limits

	// Logger receives what cannot be returned to a client. If it is nil, slog.Default() is used.
	Logger *slog.Logger
}

// Detached limits how long a session waits when no client is attached that controls it.
type Detached struct {
	// Question is how long a question of the agent waits when no attached client may still answer it. Then a
	// permission is answered with its option that rejects once, and otherwise the turn is cancelled. Zero means
	// 30 minutes. The hub allows nothing by itself.
	Question time.Duration
	// Turn is how long a turn may run until it is cancelled. Zero means no limit.
	Turn time.Duration
	// Idle is how long a session without a turn and without a client stays open. Zero means 30
	// minutes. Its next client opens it again.
	Idle time.Duration
}

// Limits bound what clients may make the hub hold. The zero value of a field means its default.
type Limits struct {
	Sessions    int // open sessions; the default is 256
	Agents      int // sessions that are open at the agent; the default is 32
	Attachments int // clients of a session; the default is 32
	Connection  int // sessions that a connection is attached to; the default is 64
	Waiting     int // prompts that wait for the turn of their session; the default is 5
	Questions   int // open questions of a session; the default is 64
}

// Role is what a principal may do with a session.
type Role int

const (
	// None means that the session does not exist for the principal.
	None Role = iota
	// Observe means that the principal sees the session, and is asked nothing.
	Observe
	// Control means that the principal prompts, cancels, changes settings and answers questions.
	Control

	watching Role = -1 // of a Watch: it sees the questions too, and answers none
)

// Info describes an open session.
type Info struct {
	ID                    acp.SessionID `json:"sessionId"`
	Owner                 string        `json:"owner,omitempty"` // the principal that created it
	Cwd                   string        `json:"cwd"`
	AdditionalDirectories []string      `json:"additionalDirectories,omitempty"`
	Title                 string        `json:"title,omitempty"`
	Updated               time.Time     `json:"updated"`
	Attached              int           `json:"attached"`  // clients
	Running               bool          `json:"running"`   // a turn
	Questions             int           `json:"questions"` // that are open
}

// Hub shares the sessions of one agent between clients. All methods are safe for concurrent use.
type Hub struct {
	opts Options
	log  *slog.Logger
	ctx  context.Context // of turns and of the agent; ended by Shutdown
	end  context.CancelFunc
	work sync.WaitGroup // turns, questions and timers that have fired

	starting token // held while the agent is being started

	mu       sync.Mutex
	agent    *supervise.Supervisor // the last one that was started; nil if there was none
	closing  bool                  // Shutdown was called
	conns    map[*conn]struct{}
	sessions map[acp.SessionID]*session      // open, by the ids of the hub
	busy     map[acp.SessionID]chan struct{} // being opened or closed; closed afterwards

	below atomic.Pointer[downstream] // of the newest connection to the agent; nil if there was none
}

// New returns a Hub. It starts nothing: the agent is started for the first client.
func New(opts *Options) *Hub {
	h := &Hub{
		opts: endpoint.ValueOf(opts), starting: make(token, 1),
		conns: make(map[*conn]struct{}), sessions: make(map[acp.SessionID]*session), busy: make(map[acp.SessionID]chan struct{}),
	}
	h.ctx, h.end = context.WithCancel(context.Background())
	o := &h.opts
	h.log = cmp.Or(o.Logger, slog.Default())
	if o.Store == nil {
		o.Store = new(journal.Memory)
	}
	d, l := &o.Detached, &o.Limits
	d.Question, d.Idle = cmp.Or(d.Question, 30*time.Minute), cmp.Or(d.Idle, 30*time.Minute)
	l.Sessions, l.Agents, l.Attachments = cmp.Or(l.Sessions, 256), cmp.Or(l.Agents, 32), cmp.Or(l.Attachments, 32)
	l.Connection, l.Waiting, l.Questions = cmp.Or(l.Connection, 64), cmp.Or(l.Waiting, 5), cmp.Or(l.Questions, 64)
	return h
}

// Serve serves one client of version 1 over s until its connection ends or ctx is done. It fits
// remote.NewHandler, and a loop that accepts connections of a socket.
func (h *Hub) Serve(ctx context.Context, s stream.Stream) error { return h.serve(ctx, s, nil) }

func (h *Hub) serve(ctx context.Context, s stream.Stream, as *string) error {
	var c *conn
	err := agent.Serve(ctx, s, func(a *agent.Conn) acp.Agent {
		c = h.connect(a, as)
		return c
	}, &agent.Options{Logger: h.log, Limits: acp.Limits{SendQueue: maxBytes}})
	if c == nil { // without a stream there is no client
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.why, err)
}

// Agent returns the agent of a connection to a client, for agent.New and for packages that serve
// clients of other versions of the protocol, such as draft2/serve.
func (h *Hub) Agent(c *agent.Conn) acp.Agent { return h.connect(c, nil) }

// Sessions returns an iterator over the open sessions, those that changed last first.
func (h *Hub) Sessions() iter.Seq[Info] {
	var infos []Info
	for _, s := range h.open() {
		infos = append(infos, s.info())
	}
	slices.SortFunc(infos, func(a, b Info) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.ID, b.ID))
	})
	return slices.Values(infos)
}

// Revoke makes the hub call Options.Access again for the clients of a principal: they lose the
// sessions and questions that are no longer theirs. Without a call a client that is revoked still
// sees what happens in the sessions to which it is attached.
func (h *Hub) Revoke(ctx context.Context, principal string) {
	var all sync.WaitGroup
	for _, s := range h.open() {
		all.Go(func() { s.review(ctx, principal) }) // ends at once, or when the store of the session goes on
	}
	all.Wait()
}

func (h *Hub) open() []*session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.sessions))
}

// Shutdown ends the hub. It refuses new sessions and prompts and waits for the turns that run. When ctx
// is done it cancels them. Then it closes the connections, the agent and the logs, so that another
// process can open the sessions at once. It returns when all that the hub started has ended.
func (h *Hub) Shutdown(ctx context.Context) error {
	h.mu.Lock()
	h.closing = true
	h.mu.Unlock()
	err := h.quiet(ctx)
	if err != nil {
		for _, s := range h.open() {
			s.cancel("", everyPrompt)
		}
		grace, stop := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
		_ = h.quiet(grace) // what still runs then is ended with the agent
		stop()
	}
	h.mu.Lock()
	conns, running := maps.Clone(h.conns), h.agent
	h.mu.Unlock()
	for c := range conns {
		_ = c.conn.Close()
	}
	h.end()
	if running != nil {
		_ = running.Close()
		_ = running.Wait()
	}
	for _, s := range h.open() {
		err = errors.Join(err, s.shut(nil))
	}
	for c := range conns {
		_ = c.conn.Wait()
	}
	h.work.Wait()
	return err
}

// shutdownGrace is how long a turn may take to end after Shutdown has cancelled it.
const shutdownGrace = 5 * time.Second

// quiet waits until no turn runs.
func (h *Hub) quiet(ctx context.Context) error {
	for _, s := range h.open() {
		if err := s.awaitIdle(ctx); err != nil {
			return err
		}
	}
	return nil
}

// role returns what a principal may do with a session.
func (h *Hub) role(ctx context.Context, principal string, s Info) Role {
	if h.opts.Access != nil {
		return h.opts.Access(ctx, principal, s)
	}
	if principal == s.Owner {
		return Control
	}
	return None
}

var errShutdown = rpcerr.InternalError(nil).WithDetail("the hub is shutting down")

// notFound is the error for a session that does not exist, or not for the principal.
func notFound(id acp.SessionID) error { return rpcerr.SessionNotFound(string(id)) }

func refused(text string) *rpcerr.RequestError { return rpcerr.InvalidRequest(nil).WithDetail(text) }
