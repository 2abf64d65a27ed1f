package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent/v2"
	"github.com/acpkit/go-sdk/client/v2"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

var (
	agentOptions2  = &agent.Options{Logger: quiet, Limits: agent.Limits{DrainGrace: drainGrace}}
	clientOptions2 = &client.Options{Logger: quiet, Limits: client.Limits{DrainGrace: drainGrace}}
)

// worker2 is the agent of version 2.
type worker2 struct {
	agent.NoHistory
	conn *agent.Conn
	load *load
	seed uint64
}

func (w *worker2) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{Info: acp.Implementation{Name: "soak", Version: "1"}}, nil
}

func (w *worker2) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: acp.SessionID(rand.Text())}, nil
}

// ResumeSession replays as many updates as the id says.
func (w *worker2) ResumeSession(ctx context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	text, _, _ := strings.Cut(string(req.SessionID), "-")
	updates, err := strconv.Atoi(text)
	if err != nil {
		return nil, rpcerr.SessionNotFound(string(req.SessionID))
	}
	s := w.conn.Session(req.SessionID)
	for n := range updates {
		if err := s.Message(ctx, "m", strconv.Itoa(n)+" of the history"); err != nil {
			return nil, err
		}
	}
	return nil, s.State(ctx)
}

// HandleExtension answers with the params, or waits until it is given up.
func (w *worker2) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	if method == "_soak/wait" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return params, nil
}

// Prompt sends as many updates as the prompt requests, with questions and terminals between.
func (w *worker2) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	updates, err := strconv.Atoi(acp.PlainText(req.Prompt...))
	if err != nil {
		return nil, err
	}
	r := mathrand.New(mathrand.NewPCG(w.seed, uint64(updates)))
	s := w.conn.Session(req.SessionID)
	return s.Accept(ctx, req, func(ctx context.Context) (acp.StopReason, error) {
		id := agent.NewMessageID()
		for n := range updates {
			if err := ctx.Err(); err != nil {
				return "", err
			}
			if err := s.Message(ctx, id, strconv.Itoa(n)+" "+strings.Repeat("x", r.IntN(200))); err != nil {
				return "", err
			}
			if err := w.distract(ctx, s, r); err != nil {
				return "", err
			}
		}
		return acp.StopReasonEndTurn, nil
	})
}

// distract does now and then what agents do besides talking.
func (w *worker2) distract(ctx context.Context, s *agent.Session, r *mathrand.Rand) error {
	switch r.IntN(200) {
	case 0:
		_, err := s.AskPermission(ctx, "May I?", &acp.ToolCallPermissionSubject{ToolCall: acp.ToolCallUpdate{ToolCallID: "c", Title: acp.Some("Soak")}})
		return err
	case 1:
		w.load.terminals.Add(1)
		term, err := s.StartTerminal(ctx, nil)
		if err != nil {
			return err
		}
		if _, err := term.Write(make([]byte, r.IntN(16)<<10)); err != nil {
			return err
		}
		return term.Exited(0)
	case 2:
		call := acp.ToolCallID(rand.Text())
		if err := s.Update(ctx, &acp.ToolCallUpdate{ToolCallID: call, Title: acp.Some("Soak")}); err != nil {
			return err
		}
		b, err := s.StartBackground(ctx, &acp.BackgroundToolCall{ToolCallID: call})
		if err != nil {
			return err
		}
		return b.End(ctx)
	case 3: // a call that is given up while its handler waits
		w.load.givenUp.Add(1)
		ctx, cancel := context.WithTimeout(ctx, time.Duration(r.IntN(1000))*time.Microsecond)
		defer cancel()
		if err := w.conn.Call(ctx, "_soak/wait", nil, nil); err == nil {
			w.load.fail("a call that was given up returned an answer")
		}
	}
	return nil
}

// user2 is the client of version 2: it says yes to everything.
type user2 struct{ load *load }

func (u *user2) SessionUpdate(context.Context, *acp.UpdateSessionNotification) error {
	u.load.updates.Add(1)
	return nil
}

func (u *user2) RequestPermission(_ context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	u.load.calls.Add(1)
	return acp.Selected(req.Options[0].OptionID), nil
}

// HandleExtension waits until it is given up.
func (u *user2) HandleExtension(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// connect2 is connect in version 2.
func (c *conversation) connect2(r *mathrand.Rand) ([]end, *part, error) {
	forAgent, forClient, err := pipe(r)
	if err != nil {
		return nil, nil, err
	}
	var ends []end
	for range max(0, r.IntN(4)-1) {
		lower := forClient
		var upper stream.Stream
		if upper, forClient, err = pipe(r); err != nil {
			return nil, nil, err
		}
		var below *client.Conn
		above := agent.New(upper, func(above *agent.Conn) acp.Agent {
			below = client.New(lower, func(*client.Conn) acp.Client { return above }, clientOptions2)
			return below
		}, agentOptions2)
		// A turn that was accepted ends with an update: if the agent has gone, there is none.
		go func() { <-below.Done(); _ = above.Close() }() // ends with the conversation
		ends = append(ends, below, above)
	}
	worker := &worker2{load: c.load, seed: c.seed}
	conn := client.New(forClient, func(*client.Conn) acp.Client { return &user2{c.load} }, clientOptions2)
	ends = append(ends, agent.New(forAgent, func(conn *agent.Conn) acp.Agent { worker.conn = conn; return worker }, agentOptions2), conn)
	return ends, &part{
		func(ctx context.Context) error { _, err := conn.Initialize(ctx, nil); return err },
		// A proxy that is built of two ends passes on prompts at the same time, so that those
		// that overlap may arrive in another order.
		func(ctx context.Context, r *mathrand.Rand) error { return c.session2(ctx, conn, r, len(ends) == 2) },
	}, nil
}

// session2 is session in version 2.
func (c *conversation) session2(ctx context.Context, conn *client.Conn, r *mathrand.Rand, overlap bool) error {
	life := context.WithoutCancel(ctx)
	s, err := c.open2(life, conn, r)
	if err != nil {
		return err
	}
	for turns := 1 + r.IntN(20); turns > 0 && ctx.Err() == nil; turns-- {
		n := 1
		if overlap {
			n += r.IntN(3)
		}
		if err := c.turns2(life, s, r, n); err != nil {
			return err
		}
		var back int
		if err := conn.Call(life, "_soak/echo", turns, &back); err != nil || back != turns {
			return fmt.Errorf("echo of %d: %d, %w", turns, back, err)
		}
	}
	return s.Close(life)
}

// open2 is open in version 2.
func (c *conversation) open2(ctx context.Context, conn *client.Conn, r *mathrand.Rand) (*client.Session, error) {
	if r.IntN(3) > 0 {
		return conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/soak"})
	}
	c.load.loads.Add(1)
	history, next, broken := r.IntN(100), 0, error(nil)
	id := acp.SessionID(fmt.Sprintf("%d-%d", history, r.Uint64()))
	s, err := conn.StartResumedSession(ctx, &acp.ResumeSessionRequest{SessionID: id, Cwd: "/soak", ReplayFrom: &acp.ReplayFromStart{}},
		func(_ context.Context, u acp.SessionUpdate) {
			n := number2(u)
			if n < 0 {
				return
			}
			if n != next && broken == nil {
				broken = fmt.Errorf("history: %d where %d was expected", n, next)
			}
			next++
		})
	if err == nil && broken == nil && next != history {
		broken = fmt.Errorf("history: %d of %d", next, history)
	}
	return s, errors.Join(err, broken)
}

// turns2 makes n prompts at once, of which the agent holds the later ones, and withdraws
// some of them, or cancels the session.
func (c *conversation) turns2(ctx context.Context, s *client.Session, r *mathrand.Rand, n int) error {
	updates, all := make([]int, n), make([]*client.Turn, n)
	for i := range all {
		c.load.prompts.Add(1)
		updates[i] = r.IntN(300)
		all[i] = s.Prompt(ctx, acp.Text(strconv.Itoa(updates[i])))
	}
	withdrawn, cancelled := -1, r.IntN(8) == 0
	switch {
	case cancelled:
		c.load.cancels.Add(1)
		sent := make(chan struct{})
		timer := time.AfterFunc(time.Duration(r.IntN(2000))*time.Microsecond, func() { _ = s.Cancel(ctx); close(sent) })
		defer func() { // it must not cancel what comes next
			if !timer.Stop() {
				<-sent
			}
		}()
	case n == 3 && r.IntN(2) == 0: // the last one; it may have begun, and then the session is cancelled
		withdrawn = n - 1
		c.load.held.Add(1)
		if err := all[withdrawn].Cancel(ctx); err != nil {
			return fmt.Errorf("withdrawing: %w", err)
		}
	}
	for i, turn := range all {
		next := 0
		for u, err := range turn.Updates() {
			if err != nil {
				break // Wait tells
			}
			if k := number2(u); k >= 0 {
				if k != next {
					return fmt.Errorf("update %d where %d was expected", k, next)
				}
				next++
			}
		}
		idle, err := turn.Wait()
		mayEnd := cancelled || i == withdrawn
		switch {
		case errors.Is(err, rpcerr.ErrRequestCancelled) && mayEnd:
		case err != nil:
			return fmt.Errorf("turn: %w", err)
		case idle.StopReason == acp.StopReasonCancelled && (mayEnd || withdrawn >= 0):
		case idle.StopReason != acp.StopReasonEndTurn:
			return fmt.Errorf("stop reason %s", idle.StopReason)
		case next != updates[i]:
			return fmt.Errorf("%d updates of %d", next, updates[i])
		}
	}
	return nil
}

// number2 is number in version 2.
func number2(u acp.SessionUpdate) int {
	chunk, ok := u.(*acp.AgentMessageChunk)
	if !ok {
		return -1
	}
	text, _, _ := strings.Cut(acp.PlainText(chunk.Content), " ")
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}
