package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
)

// session runs some turns in one session, with other calls between them.
func (c *conversation) session(ctx context.Context, r *rand.Rand) error {
	life := context.WithoutCancel(ctx)
	s, err := c.open(life, r)
	if err != nil {
		return err
	}
	for turns := 1 + r.IntN(20); turns > 0 && ctx.Err() == nil; turns-- {
		if err := c.turn(life, s, r); err != nil {
			return err
		}
		if err := c.between(life, s, r, turns); err != nil {
			return err
		}
	}
	return s.Close(life)
}

// open starts a session, or loads one whose history is replayed.
func (c *conversation) open(ctx context.Context, r *rand.Rand) (*client.Session, error) {
	if r.IntN(3) > 0 {
		return c.conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/soak"})
	}
	c.load.loads.Add(1)
	history, next, broken := r.IntN(100), 0, error(nil)
	id := acp.SessionID(fmt.Sprintf("%d-%d", history, r.Uint64()))
	s, err := c.conn.StartLoadedSession(ctx, &acp.LoadSessionRequest{SessionID: id, Cwd: "/soak"},
		func(_ context.Context, u acp.SessionUpdate) {
			if n := number(u); n != next && broken == nil {
				broken = fmt.Errorf("history: %d where %d was expected", n, next)
			}
			next++
		})
	if err == nil {
		err = broken
	}
	if err == nil && next != history {
		err = fmt.Errorf("history: %d of %d", next, history)
	}
	return s, err
}

// between makes the calls between two turns.
func (c *conversation) between(ctx context.Context, s *client.Session, r *rand.Rand, n int) error {
	c.load.calls.Add(1)
	switch r.IntN(4) {
	case 0:
		return s.SetMode(ctx, acp.SessionModeID(strconv.Itoa(n)))
	case 1: // a call that is given up while its handler waits
		c.load.givenUp.Add(1)
		ctx, cancel := context.WithTimeout(ctx, time.Duration(r.IntN(2000))*time.Microsecond)
		defer cancel()
		if err := c.conn.Call(ctx, "_soak/wait", n, nil); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("a call that was given up: %w", err)
		}
		return nil
	}
	var back int
	if err := c.conn.Call(ctx, "_soak/echo", n, &back); err != nil || back != n {
		return fmt.Errorf("echo of %d: %d, %w", n, back, err)
	}
	return nil
}

// turn runs one turn and checks that all its updates arrive, each once and in order.
func (c *conversation) turn(ctx context.Context, s *client.Session, r *rand.Rand) error {
	c.load.prompts.Add(1)
	updates := r.IntN(300)
	cancelled := r.IntN(8) == 0
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	t := s.Prompt(inner, acp.Text(strconv.Itoa(updates)))
	if cancelled {
		c.load.cancels.Add(1)
		way := []func(){cancel, func() { _ = t.Cancel(ctx) }}[r.IntN(2)]
		time.AfterFunc(time.Duration(r.IntN(2000))*time.Microsecond, way)
	}
	next := 0
	for u, err := range t.Updates() {
		if err != nil {
			return fmt.Errorf("updates: %w", err)
		}
		n := number(u)
		if n < 0 {
			continue
		}
		if n != next {
			return fmt.Errorf("update %d where %d was expected", n, next)
		}
		next++
		if r.IntN(100) == 0 { // a reader that is slow now and then
			time.Sleep(time.Millisecond)
		}
	}
	res, err := t.Wait()
	switch {
	case err != nil:
		return fmt.Errorf("prompt: %w", err)
	case res.StopReason == acp.StopReasonCancelled && cancelled:
		return nil
	case res.StopReason != acp.StopReasonEndTurn:
		return fmt.Errorf("stop reason %s", res.StopReason)
	case next != updates:
		return fmt.Errorf("%d updates of %d", next, updates)
	}
	return nil
}

// number reads the number that an update carries; -1 for those that have none.
func number(u acp.SessionUpdate) int {
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
