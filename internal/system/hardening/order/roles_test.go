package order_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
)

// side runs scripts for one end.
type side struct {
	w *world
	e *end
	// one does an act other than a sleep. top: not in a handler.
	one func(ctx context.Context, a act, top bool) error
	// excused reports whether an act may fail so; nil: none may.
	excused func(a act, err error) bool
	// later reports whether what an act has sent may follow the response of its handler; nil: nothing may.
	later func(ctx context.Context, a act) bool
}

// run does acts until ctx ends, and returns what was sent.
func (s *side) run(ctx context.Context, do []act, top bool) (sent []int) {
	for _, a := range do {
		if ctx.Err() != nil {
			return sent
		}
		if a.Kind == "sleep" {
			select {
			case <-time.After(time.Duration(a.Millis) * time.Millisecond):
			case <-ctx.Done():
			}
			continue
		}
		inner, cancel := ctx, context.CancelFunc(func() {})
		if a.Timeout > 0 {
			inner, cancel = context.WithTimeout(ctx, time.Duration(a.Timeout)*time.Millisecond)
		}
		err := s.one(inner, a, top)
		switch {
		case err == nil && s.later != nil && s.later(ctx, a):
		case err == nil:
			sent = append(sent, a.UID)
		case s.excused != nil && s.excused(a, err):
		case inner.Err() == nil && !errors.Is(err, acp.ErrTurnRunning):
			s.w.fail("%s %d: %w", a.Kind, a.UID, err)
		}
		cancel()
	}
	return sent
}

// request runs the handler of a request.
func (s *side) request(ctx context.Context, a act) error {
	sent := s.run(ctx, a.Do, false)
	s.w.mu.Lock()
	s.e.sent[a.UID] = sent
	s.w.mu.Unlock()
	return ctx.Err()
}

// extension runs the handler of an extension, of either kind.
func (s *side) extension(ctx context.Context, method string, a act) error {
	if method == "_note" {
		s.note(ctx, a)
		return nil
	}
	return s.request(ctx, a)
}

// note runs the handler of a notification.
func (s *side) note(ctx context.Context, a act) {
	s.w.mu.Lock()
	s.e.begun = append(s.e.begun, a.UID)
	if s.e.busy++; s.e.busy > 1 {
		s.w.errs = append(s.w.errs, errors.New("two notifications are handled at once"))
	}
	s.w.mu.Unlock()
	s.run(ctx, a.Do, false)
	s.w.mu.Lock()
	s.e.busy--
	s.w.mu.Unlock()
}

func unmarshal(raw json.RawMessage) (a act) {
	_ = json.Unmarshal(raw, &a)
	return a
}

// agentSide is the agent.
func (w *world) agentSide(conn *agent.Conn) acp.Agent {
	s := &side{w: w, e: w.agent}
	s.one = func(ctx context.Context, a act, _ bool) error {
		var err error
		switch a.Kind {
		case "update":
			err = conn.SessionUpdate(ctx, &acp.SessionNotification{
				SessionID: sessionID(a.Session), Update: acp.AgentText(strconv.Itoa(a.UID)), Meta: meta(a),
			})
		case "note":
			err = conn.Notify(ctx, "_note", a)
		case "call":
			err = conn.Call(ctx, "_call", a, nil)
		case "permission":
			_, err = conn.RequestPermission(ctx, &acp.RequestPermissionRequest{
				SessionID: sessionID(a.Session), ToolCall: acp.ToolCallUpdate{ToolCallID: "c"}, Meta: meta(a),
			})
		case "read":
			_, err = conn.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: sessionID(a.Session), Path: "/x", Meta: meta(a)})
		}
		return err
	}
	return &peertest.FullAgent{Do: func(ctx context.Context, method string, params any) (any, error) {
		switch p := params.(type) {
		case *acp.PromptRequest:
			return nil, s.request(ctx, carried(p.Prompt[0].(*acp.TextContent).Meta))
		case *acp.CancelNotification:
			w.cancelled(sessionNumber(string(p.SessionID)), carried(p.Meta).UID)
		case *acp.LoadSessionRequest:
			return nil, s.request(ctx, carried(p.Meta))
		case *acp.SetSessionModeRequest:
			return nil, s.request(ctx, carried(p.Meta))
		case json.RawMessage:
			return nil, s.extension(ctx, method, unmarshal(p))
		}
		return nil, nil
	}}
}

// noteCall notes that a prompt is being called: this middleware is the innermost one.
func (w *world) noteCall(next acp.Handler) acp.Handler {
	return func(ctx context.Context, method string, params any) (any, error) {
		switch p := params.(type) {
		case *acp.PromptRequest:
			w.called(carried(p.Prompt[0].(*acp.TextContent).Meta).UID)
		case *acp2.PromptRequest:
			w.called(promptAct(p).UID)
		}
		return next(ctx, method, params)
	}
}

func (w *world) called(uid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.prompts[uid] = true
}

// cancelled checks that the handlers of the prompts that arrived before this cancel
// were called.
func (w *world) cancelled(session, uid int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if uid != 0 { // the end of a prompt's ctx has none
		w.agent.begun = append(w.agent.begun, uid)
	}
	n := w.cancels[session]
	w.cancels[session]++
	// In version 2 a single prompt can be cancelled, also before it is called.
	given := map[string]bool{}
	for _, m := range w.agent.arrived {
		given[m.target] = true
	}
	for _, m := range w.agent.arrived {
		if m.session != session {
			continue
		}
		switch {
		case m.method == acp.MethodSessionPrompt && !w.prompts[m.uid] && !given[m.id]:
			w.errs = append(w.errs, errors.New("Cancel was called before prompt "+strconv.Itoa(m.uid)+" was called"))
		case m.method == acp.MethodSessionCancel && n == 0:
			return
		case m.method == acp.MethodSessionCancel:
			n--
		}
	}
}

// clientSide is the client.
func (w *world) clientSide(conn *client.Conn) (acp.Client, *side) {
	s := &side{w: w, e: w.other}
	s.one = func(ctx context.Context, a act, top bool) error {
		var err error
		switch a.Kind {
		case "note":
			err = conn.Notify(ctx, "_note", a)
		case "call":
			err = conn.Call(ctx, "_call", a, nil)
		case "mode":
			_, err = conn.SetSessionMode(ctx, &acp.SetSessionModeRequest{SessionID: sessionID(a.Session), ModeID: "m", Meta: meta(a)})
		case "cancel":
			err = conn.Cancel(ctx, &acp.CancelNotification{SessionID: sessionID(a.Session), Meta: meta(a)})
		case "load":
			_, err = conn.LoadSession(ctx, &acp.LoadSessionRequest{SessionID: sessionID(a.Session), Cwd: "/", Meta: meta(a)})
			if err == nil && top {
				w.allHandled(a)
			}
		case "restore": // a session of its own
			id := 1000 + a.UID
			var got []int
			_, err = conn.StartLoadedSession(ctx, &acp.LoadSessionRequest{SessionID: sessionID(id), Cwd: "/", Meta: meta(a)},
				func(_ context.Context, u acp.SessionUpdate) {
					w.mu.Lock() // nested handlers may go on with the session
					defer w.mu.Unlock()
					got = append(got, uid(u))
				})
			if err == nil && top {
				w.allHandled(a)
				w.allGiven(a, &got)
			}
		case "prompt":
			_, err = conn.Prompt(ctx, &acp.PromptRequest{SessionID: sessionID(a.Session), Prompt: prompt(a)})
			if err == nil && top {
				w.allHandled(a)
			}
		case "turn":
			turn := conn.Session(sessionID(a.Session)).Prompt(ctx, prompt(a)...)
			var got []int
			for u := range turn.Updates() {
				if u != nil {
					got = append(got, uid(u))
				}
			}
			if _, err = turn.Wait(); err == nil {
				w.allHandled(a)
				w.allGiven(a, &got)
			}
		}
		return err
	}
	return &peertest.FullClient{Do: func(ctx context.Context, method string, params any) (any, error) {
		switch p := params.(type) {
		case *acp.SessionNotification:
			a := carried(p.Meta)
			s.note(ctx, a)
			w.mu.Lock()
			w.handled[a.UID] = true
			w.mu.Unlock()
		case *acp.RequestPermissionRequest:
			return nil, s.request(ctx, carried(p.Meta))
		case *acp.ReadTextFileRequest:
			return nil, s.request(ctx, carried(p.Meta))
		case json.RawMessage:
			return nil, s.extension(ctx, method, unmarshal(p))
		}
		return nil, nil
	}}, s
}

func prompt(a act) []acp.ContentBlock { return []acp.ContentBlock{&acp.TextContent{Meta: meta(a)}} }

func uid(u acp.SessionUpdate) int {
	n, _ := strconv.Atoi(acp.PlainText(u.(*acp.AgentMessageChunk).Content))
	return n
}

// updatesLocked returns the updates that the handler of a prompt or a load sent.
func (w *world) updatesLocked(a act) (uids []int) {
	for _, b := range a.Do {
		if b.Kind == "update" && slices.Contains(w.agent.sent[a.UID], b.UID) {
			uids = append(uids, b.UID)
		}
	}
	return uids
}

// allHandled checks, when a prompt or a load has returned, that all its updates were
// handled before.
func (w *world) allHandled(a act) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, uid := range w.updatesLocked(a) {
		if !w.handled[uid] {
			w.errs = append(w.errs, fmt.Errorf("update %d was handled after %s %d had returned", uid, a.Kind, a.UID))
		}
	}
}

// allGiven checks that the updates were given out, in their order, among others of the
// session.
func (w *world) allGiven(a act, got *[]int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	want := w.updatesLocked(a)
	rest := want
	for _, uid := range *got {
		if len(rest) > 0 && uid == rest[0] {
			rest = rest[1:]
		}
	}
	if len(rest) > 0 {
		w.errs = append(w.errs, fmt.Errorf("%s %d gave out updates %v, and the agent sent %v", a.Kind, a.UID, *got, want))
	}
}
