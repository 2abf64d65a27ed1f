package live

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/cmd/acp/internal/conversation"
)

const (
	// frame is the time between two states of the page, and look that between two looks at the sessions of the hub.
	frame = 100 * time.Millisecond
	look  = time.Second
)

var shape = conversation.Shape{Text: 256 << 10, Bytes: 2 << 20, Markdown: true}

// shown is the session that a page shows.
type shown struct {
	id     acp.SessionID
	folder string
	thread *thread.Thread
	end    context.CancelFunc // of the states
	from   int                // the first item that the page has; tab.mu guards it
}

var errNoSession = errors.New("no session is open")

func (t *tab) now() (*shown, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shown == nil {
		return nil, errNoSession
	}
	return t.shown, nil
}

// folder returns the folder of the session if the page shows it.
func (t *tab) folder(id acp.SessionID) (string, bool) {
	s, err := t.now()
	if err != nil || s.id != id {
		return "", false
	}
	return s.folder, true
}

func (t *tab) list(ctx context.Context, a *action) error {
	res, err := t.conn.ListSessions(ctx, &acp.ListSessionsRequest{Cursor: a.Cursor})
	if err != nil {
		return err
	}
	return t.tell("list", map[string]any{"sessions": res.Sessions, "next": res.NextCursor})
}

// watchSessions tells the page what has changed in the open sessions.
func (t *tab) watchSessions(ctx context.Context) {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	var before []hub.Info
	for {
		now := slices.Collect(t.site.hub.Sessions())
		if !slices.EqualFunc(now, before, equalInfo) {
			if t.tell("sessions", now) != nil {
				return
			}
			before = now
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// equalInfo reports whether the page shows the same of two sessions.
func equalInfo(a, b hub.Info) bool {
	return a.ID == b.ID && a.Title == b.Title && a.Running == b.Running && a.Questions == b.Questions
}

// leave closes the session that is shown. It goes on without the page.
func (t *tab) leave(ctx context.Context) error {
	t.mu.Lock()
	s := t.shown
	t.shown = nil
	t.mu.Unlock()
	if s == nil {
		return nil
	}
	s.end()
	_, err := t.conn.CloseSession(ctx, &acp.CloseSessionRequest{SessionID: s.id})
	t.threads.Forget(s.id)
	t.scope.EndSession(string(s.id))
	return err
}

func (t *tab) open(ctx context.Context, a *action) error {
	t.opening.Lock()
	defer t.opening.Unlock()
	if err := t.leave(ctx); err != nil {
		return err
	}
	watching := t.show(ctx, a.Session, a.Folder)
	if _, err := t.conn.LoadSession(ctx, &acp.LoadSessionRequest{SessionID: a.Session, Cwd: a.Folder, MCPServers: []acp.MCPServer{}}); err != nil {
		return errors.Join(err, t.tell("left", nil), t.leave(ctx))
	}
	return t.follow(watching)
}

func (t *tab) begin(ctx context.Context, a *action) error {
	t.opening.Lock()
	defer t.opening.Unlock()
	if err := t.leave(ctx); err != nil {
		return err
	}
	res, err := t.conn.NewSession(ctx, &acp.NewSessionRequest{Cwd: a.Folder, MCPServers: []acp.MCPServer{}})
	if err != nil {
		return errors.Join(err, t.tell("left", nil))
	}
	return t.follow(t.show(ctx, res.SessionID, a.Folder))
}

// show makes a session the one that is shown. The ctx ends when the page leaves it.
func (t *tab) show(ctx context.Context, id acp.SessionID, folder string) context.Context {
	ctx, end := context.WithCancel(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shown = &shown{id: id, folder: folder, thread: t.threads.Thread(id), end: end}
	return ctx
}

// follow sends the page the session that is shown, and all that changes in it until ctx ends.
func (t *tab) follow(ctx context.Context) error {
	s, err := t.now()
	if err != nil {
		return err
	}
	if err := t.tell("opened", map[string]any{"session": s.id, "folder": s.folder}); err != nil {
		return err
	}
	t.work.Go(func() { // ends with ctx
		for snapshot, changes := range s.thread.Watch(ctx) {
			t.mu.Lock()
			state := shape.Changed(snapshot, changes, s.from)
			if state.Whole {
				s.from = state.Total - len(state.Items)
			}
			t.mu.Unlock()
			if t.tell("state", state) != nil {
				return
			}
			select {
			case <-time.After(frame): // changes of this time are one
			case <-ctx.Done():
			}
		}
	})
	return nil
}

// earlier sends items before those that the page has.
func (t *tab) earlier(_ context.Context, a *action) error {
	s, err := t.now()
	if err != nil {
		return err
	}
	t.mu.Lock()
	state := shape.Before(s.thread.Snapshot(), a.Before, conversation.Items)
	s.from = max(0, a.Before-len(state.Items))
	t.mu.Unlock()
	return t.tell("state", state)
}

// prompt sends a prompt. The turn goes on when the page is closed, so the ctx of the prompt does not end
// then. If it fails, the thread says why; if it ends early, the page says what the person can do.
func (t *tab) prompt(ctx context.Context, a *action) error {
	s, err := t.now()
	if err != nil {
		return err
	}
	res, err := t.conn.Prompt(context.WithoutCancel(ctx), &acp.PromptRequest{SessionID: s.id, Prompt: []acp.ContentBlock{acp.Text(a.Text)}})
	if err != nil {
		return nil // the thread has it
	}
	switch res.StopReason {
	case "", acp.StopReasonEndTurn, acp.StopReasonCancelled: // which a person has done
		return nil
	}
	return &client.StopError{Reason: res.StopReason}
}

func (t *tab) cancel(ctx context.Context, _ *action) error {
	s, err := t.now()
	if err != nil {
		return err
	}
	return t.conn.Cancel(ctx, &acp.CancelNotification{SessionID: s.id})
}

// answer answers a question. That another client has answered it before is no error: it has left the page.
func (t *tab) answer(_ context.Context, a *action) error {
	s, err := t.now()
	if err != nil {
		return err
	}
	if err := s.thread.Answer(a.Key, a.Option); !errors.Is(err, thread.ErrNotPending) {
		return err
	}
	return nil
}

func (t *tab) mode(ctx context.Context, a *action) error {
	s, err := t.now()
	if err != nil {
		return err
	}
	_, err = t.conn.SetSessionMode(ctx, &acp.SetSessionModeRequest{SessionID: s.id, ModeID: acp.SessionModeID(a.Value)})
	return err
}

func (t *tab) set(ctx context.Context, a *action) error {
	s, err := t.now()
	if err != nil {
		return err
	}
	if a.On != nil {
		return t.conn.Session(s.id).SetConfigOptionBool(ctx, acp.SessionConfigID(a.Option), *a.On)
	}
	return t.conn.Session(s.id).SetConfigOption(ctx, acp.SessionConfigID(a.Option), acp.SessionConfigValueID(a.Value))
}
