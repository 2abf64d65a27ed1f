package hub

import (
	"context"
	"errors"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/fold"
	"github.com/acpkit/go-sdk/internal/history"
)

// maxBytes is how much an attachment holds for a client that does not read, beside the longest update as the agent
// sent it: what follows a long message must not end the connection of a client that reads. Beyond it, chunks of a
// message are joined and updates of a tool call are folded; if that does not halve it, the connection ends. What
// the history holds as well counts as eventSize, however long it is: a picture or a prompt must not end a connection.
const maxBytes = 1 << 20

// attachment is a client of a session.
type attachment struct {
	session   *session
	principal string
	client    receiver
	ctx       context.Context // ends with the attachment
	end       context.CancelFunc
	sending   token            // held while something is sent
	plan      history.OnlyPlan // of a client without plans by id, in its order of sending

	// session.mu guards the fields below.
	role    Role
	events  []event
	size    int // of events, in bytes
	left    bool
	pumping bool // pump runs, or start will run it
}

var errClosing = errors.New("hub: the session is being closed") // it can be opened again soon

// attach attaches a client. What it returns is the state at one moment. The commands, the open questions and what happens from then
// on are put into the queue of the attachment, which pump sends.
func (s *session) attach(principal string, role Role, to receiver) (*attachment, *state, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, errClosing
	}
	defer s.schedule() // also if it fails: nobody else may come
	sending := make(token, 1)
	for _, a := range s.attached {
		if a.client == to { // it loads the session again: what is being sent comes before the history
			sending = a.sending
			s.leave(a, nil)
			break
		}
	}
	if len(s.attached) >= s.hub.opts.Limits.Attachments {
		return nil, nil, refused("too many clients are attached to this session")
	}
	a := &attachment{session: s, principal: principal, role: role, client: to, sending: sending, pumping: true}
	if err := to.entered(a); err != nil {
		return nil, nil, err
	}
	a.ctx, a.end = context.WithCancel(s.hub.ctx)
	s.attached = append(s.attached, a)
	if s.commands != nil {
		a.push(event{update: s.commands, size: eventSize})
	}
	s.ask(a)
	return a, &state{s.history.Items(), s.title, s.settings}, nil
}

// attach attaches a receiver to a session, which it opens if it is only stored.
func (h *Hub) attach(ctx context.Context, id acp.SessionID, principal string, role Role, to receiver) (*attachment, *state, error) {
	for {
		s, err := h.get(ctx, id, h.reopen)
		if err != nil {
			return nil, nil, err
		}
		a, now, err := s.attach(principal, role, to)
		if errors.Is(err, errClosing) {
			continue
		}
		if err == nil {
			s.review(ctx, principal) // it may have been revoked since its role was asked
			if a.ctx.Err() != nil {
				err = notFound(id)
			}
		}
		return a, now, err
	}
}

// state is what a client that attaches is told.
type state struct {
	items []history.Item
	title string
	settings
}

// events returns what a client is sent of it: all, or what is still open.
func (x *state) events(all bool) (events []event) {
	for _, it := range x.items {
		if u := it.Update(); all || isOpen(u) {
			events = append(events, event{update: u})
		}
	}
	if x.title != "" {
		events = append(events, event{update: &acp.SessionInfoUpdate{Title: acp.Some(x.title)}})
	}
	return events
}

func isOpen(u acp.SessionUpdate) bool {
	switch v := u.(type) {
	case *acp.ToolCall:
		return !fold.Final(v.Status)
	case *acp.Plan, *acp.PlanUpdate, *acp.UsageUpdate:
		return true
	}
	return false
}

// push adds an event. session.mu must be held.
func (a *attachment) push(e event) {
	if a.left {
		release([]event{e})
		return
	}
	if n := len(a.events); n > 0 && a.events[n-1].joinText(e) {
		e.size -= eventSize
	} else {
		a.events = append(a.events, e)
	}
	a.size += e.size
	if a.size > maxBytes && a.size-longest(a.events) > maxBytes {
		a.events, a.size = a.session.shorten(a.events)
		if a.size-longest(a.events) > maxBytes/2 {
			a.session.leave(a, ErrSlow)
			return
		}
	}
	if !a.pumping {
		a.pumping = a.session.hub.do(a.pump) // ends like that of start
	}
}

// start begins to send what is in the queue.
func (a *attachment) start(context.Context) { a.session.hub.do(a.pump) } // ends when nothing waits, or the attachment or its connection has ended

// pump sends events until none waits. An attachment that is idle has no goroutine, and no memory for events.
func (a *attachment) pump() {
	s := a.session
	var spent []event
	for {
		s.mu.Lock()
		events := a.events
		if a.pumping = len(events) > 0; !a.pumping {
			spent = nil
		}
		a.events, a.size = spent, 0
		s.mu.Unlock()
		if len(events) == 0 {
			return
		}
		a.send(a.ctx, events)
		clear(events)
		spent = events[:0]
	}
}

// send sends events in their order until the attachment ends. If ctx is done before, the attachment ends.
func (a *attachment) send(ctx context.Context, events []event) {
	if a.sending.take(ctx) != nil {
		a.session.detach(a)
		release(events)
		return
	}
	defer a.sending.give()
	for i, e := range events {
		switch {
		case a.ctx.Err() != nil:
			release(events[i:])
			return
		case e.then != nil:
			e.then()
		case e.question != nil:
			a.client.ask(a.ctx, a, e.question)
		case a.client.update(ctx, a, e.whole()) != nil:
			a.session.detach(a)
		}
	}
}

// release calls the functions of events that are not sent any more.
func release(events []event) {
	for _, e := range events {
		if e.then != nil {
			e.then()
		}
	}
}

// detach ends an attachment.
func (s *session) detach(a *attachment) {
	s.mu.Lock()
	s.leave(a, nil)
	s.mu.Unlock()
}

// leave is detach for callers that hold s.mu, and may be going through s.attached. why is that of receiver.left.
func (s *session) leave(a *attachment, why error) {
	if a.left {
		return
	}
	a.left = true
	release(a.events)
	a.events, a.size = nil, 0
	a.end()
	s.attached = slices.DeleteFunc(slices.Clone(s.attached), func(b *attachment) bool { return a == b })
	for _, q := range s.questions {
		q.withdrawFrom(a)
	}
	s.schedule()
	a.client.left(a, why)
}
