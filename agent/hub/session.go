package hub

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/internal/fold"
	"github.com/acpkit/go-sdk/internal/history"
	"github.com/acpkit/go-sdk/internal/wire"
)

// session is an open session. It belongs to no connection.
type session struct {
	hub   *Hub
	id    acp.SessionID
	owner string
	cwd   string
	dirs  []string

	opening token                // held while the session is being opened at the agent
	side    atomic.Pointer[side] // nil while the session is not open at the agent
	summary atomic.Pointer[Info] // as it was last, but for updated
	updated atomic.Int64         // when something was stored, in microseconds

	// mu guards the fields below. It is held while an event is recorded and put into the queues of
	// the attachments, so all of them get the same events in the same order. The store may hang then: what concerns other
	// sessions too must not wait for it. Hub.mu may be locked while it is held, not the reverse.
	mu      sync.Mutex
	log     journal.Log
	closed  bool
	history history.History
	ids     ids
	title   string
	settings
	commands *acp.AvailableCommandsUpdate // nil if the agent has sent none
	servers  []acp.MCPServer              // for the agent; not stored, because they hold secrets
	system   *acp.SystemPrompt            // likewise
	agentID  acp.SessionID                // the id at the agent; empty if the agent never knew the session

	recorder recorder
	attached []*attachment

	running   *prompt
	waiting   []*prompt
	questions []*question

	unattended, idle *time.Timer // see schedule
}

// tell sends an update to the attached clients, except to one of them. The update is not stored. s.mu must be held.
func (s *session) tell(u acp.SessionUpdate, except *attachment) { s.push(u, sizeOf(u), except) }

// show stores an update as a part of the conversation, and sends it like tell. s.mu must be held.
func (s *session) show(u acp.SessionUpdate, except *attachment) {
	s.history.Add(u)
	s.push(u, s.recorder.event(u), except)
}

func (s *session) push(u acp.SessionUpdate, size int, except *attachment) {
	for _, a := range s.attached {
		if a != except {
			a.push(event{update: u, size: size})
		}
	}
}

// update handles an update of the agent. Updates of a session are handled one after the other, in
// the order in which the agent sent them.
func (s *session) update(u acp.SessionUpdate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.apply(u)
	}
}

// apply is update for callers that hold s.mu.
func (s *session) apply(u acp.SessionUpdate) {
	if role, id, content := fold.Chunk(u); role != "" {
		if role != "user" || s.running == nil || !s.running.echoed(content) {
			s.show(fold.Rechunk(u, s.ids.message(role, id), content), nil)
		}
		return
	}
	switch v := u.(type) {
	case *acp.ToolCall:
		call := new(*v)
		call.ToolCallID = s.ids.call(v.ToolCallID)
		s.ids.item()
		s.show(call, nil)
	case *acp.ToolCallUpdate:
		change := new(*v)
		change.ToolCallID = s.ids.call(v.ToolCallID)
		if s.history.ToolCall(change.ToolCallID) == nil {
			s.ids.item()
		}
		s.show(change, nil)
	case *acp.Plan, *acp.PlanUpdate, *acp.PlanRemoved, *acp.UsageUpdate:
		s.show(u, nil)
	case *acp.AvailableCommandsUpdate:
		s.commands = v
		s.tell(u, nil)
	case *acp.CurrentModeUpdate:
		s.setMode(v.CurrentModeID)
		s.tell(u, nil)
	case *acp.ConfigOptionUpdate:
		s.Options = v.ConfigOptions
		s.recorder.note(note{Settings: &s.settings})
		s.tell(u, nil)
	case *acp.SessionInfoUpdate:
		title := v.Title.Apply(s.title)
		if s.title = shortTitle(title); s.title != title { // what is shown now is what a later load shows
			v = new(*v)
			v.Title, u = acp.Some(s.title), v
		}
		_ = s.recorder.store() // it is tried again with the next record
		s.tell(u, nil)
		s.summarize()
	case *acp.PromptSuggestionsUpdate, *acp.SubagentUpdate, *acp.SessionMessage, *acp.SessionMessageChunk, *acp.CursorUpdate:
		s.tell(u, nil) // not part of the history, or of a session that the hub does not offer
	case *acp.UnknownSessionUpdate:
		s.hub.log.Debug("an update of an unknown kind is not passed on", "session", string(s.id))
	default:
		s.ids.item()
		s.show(u, nil)
	}
}

// maxTitle is how many bytes of a title the hub keeps, because it is in each entry of lists and stores.
const maxTitle = 4 << 10

// shortTitle returns the beginning of a title.
func shortTitle(title string) string {
	if len(title) <= maxTitle {
		return title
	}
	return strings.ToValidUTF8(title[:maxTitle-len("…")], "") + "…"
}

func (s *session) setMode(id acp.SessionModeID) {
	if s.Modes == nil || s.Modes.CurrentModeID == id {
		return
	}
	s.Modes = new(*s.Modes) // attachments may be sending the one before
	s.Modes.CurrentModeID = id
	s.recorder.note(note{Settings: &s.settings})
}

// say adds a message of the hub to the conversation. s.mu must be held.
func (s *session) say(text string) {
	s.ids.item()
	s.show(&acp.AgentMessageChunk{MessageID: s.ids.own(), Content: acp.Text(text)}, nil)
	s.ids.item()
}

// offer gives what a client offers with a load to a session that is not open at the agent. One that is keeps its own.
func (s *session) offer(req *acp.LoadSessionRequest, role Role) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.side.Load() == nil && role == Control {
		s.servers, s.system = req.MCPServers, req.SystemPrompt
	} else if len(req.MCPServers) > 0 || wire.TrimPath(req.Cwd) != s.cwd {
		s.hub.log.Info("a session keeps its folder and MCP servers, and not those of a client that loads it", "session", string(s.id))
	}
}

// info describes the session. It does not wait for the store.
func (s *session) info() Info {
	info := *s.summary.Load()
	info.Updated = time.UnixMicro(s.updated.Load())
	return info
}

// summarize notes what info tells. s.mu must be held.
func (s *session) summarize() {
	s.summary.Store(&Info{
		ID: s.id, Owner: s.owner, Cwd: s.cwd, AdditionalDirectories: s.dirs, Title: s.title,
		Attached: len(s.attached), Running: s.running != nil, Questions: len(s.questions),
	})
}

// review asks Options.Access again for the attachments of a principal.
func (s *session) review(ctx context.Context, principal string) {
	role := s.hub.role(ctx, principal, s.info())
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.attached {
		switch {
		case a.principal != principal || a.role == watching:
		case role == None:
			s.leave(a, nil)
		case a.role != role:
			a.role = role
			s.ask(a)
		}
	}
	if role != Control {
		s.cancelLocked("", func(p *prompt) bool { return p.from.principal == principal && (!p.runs() || !s.controlled()) })
		s.schedule()
	}
}

// controlled reports whether a client is attached that controls the session. s.mu must be held.
func (s *session) controlled() bool {
	return slices.ContainsFunc(s.attached, func(a *attachment) bool { return a.role == Control })
}

// schedule starts and stops the timers of a session that nobody controls, and of questions that nobody can answer. It is
// called when something has changed that they, or summarize, depend on. s.mu must be held.
func (s *session) schedule() {
	s.summarize()
	d := s.hub.opts.Detached
	controlled := s.controlled()
	for _, q := range s.questions {
		set(&q.timer, !s.answerable(q) && !s.closed, d.Question, func() { s.expire(q) })
	}
	set(&s.unattended, !controlled && s.running != nil && d.Turn > 0 && !s.closed, d.Turn, s.expireTurn)
	set(&s.idle, len(s.attached) == 0 && s.running == nil && !s.closed, d.Idle, s.rest)
}

// set starts a timer that should run and does not, and stops one that should not.
func set(t **time.Timer, run bool, d time.Duration, f func()) {
	switch {
	case run && *t == nil:
		*t = time.AfterFunc(d, f) // ends at once; f checks again whether it still applies
	case !run && *t != nil:
		(*t).Stop()
		*t = nil
	}
}

func (s *session) expireTurn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.controlled() && s.unattended != nil {
		s.cancelLocked("", (*prompt).runs)
	}
}

// rest closes a session that nobody uses. Its next client opens it again.
func (s *session) rest() {
	unused := func() bool { return len(s.attached) == 0 && s.running == nil && s.idle != nil }
	if err := s.shut(unused); err != nil {
		s.hub.log.Warn("a session could not be closed", "session", string(s.id), "error", err)
	}
}

// shut closes the session, at the agent too, if the condition holds, or is nil. Whoever is attached is detached.
// The condition is called with s.mu held.
func (s *session) shut(condition func() bool) error {
	s.mu.Lock()
	if s.closed || condition != nil && !condition() {
		s.mu.Unlock()
		return nil
	}
	finish := s.close(nil)
	s.mu.Unlock()
	return finish()
}

// close closes the session for those that are attached, why as in leave. It returns what else there is to do, without the lock.
// s.mu must be held.
func (s *session) close(why error) (finish func() error) {
	h := s.hub
	s.closed = true
	for _, a := range s.attached {
		s.leave(a, why)
	}
	s.recorder.open.End()
	err := s.recorder.store()
	s.schedule()
	h.mu.Lock()
	done := h.occupy(s.id)
	h.mu.Unlock()
	return func() error {
		s.closeAtAgent()
		err = errors.Join(err, s.log.Close())
		done(nil)
		return err
	}
}

// lost closes a session whose log the store has ended: another process has it, or has changed it. Its clients load it again
// wherever it is. s.mu must be held.
func (s *session) lost() {
	s.hub.log.Error("a session is not here any more, and its clients load it again", "session", string(s.id), "error", s.recorder.err)
	finish := s.close(ErrLost)
	s.cancelLocked("", (*prompt).runs)
	s.hub.do(func() { _ = finish() }) // ends with the session; why it could not be stored is logged
}

// full cancels the turn of a session that cannot be stored. s.mu must be held.
func (s *session) full() {
	if s.running != nil && !s.running.cancelled {
		s.hub.log.Error("a session cannot be stored, and its turn is cancelled", "session", string(s.id))
		s.cancelLocked("", (*prompt).runs)
	}
}

// awaitIdle waits until no turn runs and none waits.
func (s *session) awaitIdle(ctx context.Context) error {
	for {
		s.mu.Lock()
		p := s.running
		s.mu.Unlock()
		if p == nil {
			return nil
		}
		select {
		case <-p.over:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
