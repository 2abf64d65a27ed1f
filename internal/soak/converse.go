package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
)

// converse runs one connection from start to end with a random mix of what
// programs do.
func converse(ctx context.Context, l *load, seed uint64) error {
	l.connections.Add(1)
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	near, far := stream.Pipe()
	end := agent.New(far, func(c *agent.Conn) acp.Agent { return &worker{conn: c, load: l, seed: seed} },
		&agent.Options{Logger: quiet})
	conn := client.New(near, func(*client.Conn) acp.Client { return &user{load: l} },
		&client.Options{Logger: quiet})
	// The connection outlives ctx: what has begun is brought to its end.
	life := context.WithoutCancel(ctx)
	if err := errors.Join(end.Start(life), conn.Start(life)); err != nil {
		return err
	}
	err := talk(ctx, conn, l, seed)
	conn.Close()
	return errors.Join(err, conn.Wait(), end.Wait())
}

func talk(ctx context.Context, conn *client.Conn, l *load, seed uint64) error {
	life := context.WithoutCancel(ctx)
	if _, err := conn.Initialize(life, nil); err != nil {
		return err
	}
	var wg sync.WaitGroup
	errs := make(chan error, 4)
	for n := range uint64(4) {
		wg.Go(func() {
			if err := session(ctx, conn, l, rand.New(rand.NewPCG(seed, n))); err != nil {
				errs <- err
			}
		})
	}
	wg.Wait()
	close(errs)
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	return errors.Join(all...)
}

// session runs some turns in one session.
func session(ctx context.Context, conn *client.Conn, l *load, r *rand.Rand) error {
	life := context.WithoutCancel(ctx)
	s, err := conn.StartSession(life, &acp.NewSessionRequest{Cwd: "/soak"})
	if err != nil {
		return err
	}
	for turns := 1 + r.IntN(20); turns > 0 && ctx.Err() == nil; turns-- {
		if err := turn(life, s, l, r); err != nil {
			return err
		}
		if err := conn.Call(life, "_soak/echo", turns, new(int)); err != nil {
			return fmt.Errorf("echo: %w", err)
		}
		l.calls.Add(1)
	}
	return s.Close(life)
}

func turn(ctx context.Context, s *client.Session, l *load, r *rand.Rand) error {
	l.prompts.Add(1)
	updates := r.IntN(300)
	cancelled := r.IntN(10) == 0
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := s.Prompt(ctx, acp.Text(strconv.Itoa(updates)))
	if cancelled {
		l.cancels.Add(1)
		time.AfterFunc(time.Duration(r.IntN(2000))*time.Microsecond, cancel)
	}
	next := 0
	for u, err := range t.Updates() {
		if err != nil {
			return fmt.Errorf("updates: %w", err)
		}
		chunk, ok := u.(*acp.AgentMessageChunk)
		if !ok {
			continue
		}
		number, _, _ := strings.Cut(acp.PlainText(chunk.Content), " ")
		if number != strconv.Itoa(next) {
			return fmt.Errorf("update %s where %d was expected", number, next)
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

// user is the client.
type user struct{ load *load }

func (u *user) SessionUpdate(context.Context, *acp.SessionNotification) error {
	u.load.updates.Add(1)
	return nil
}

func (u *user) RequestPermission(_ context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	u.load.calls.Add(1)
	return acp.Selected(req.Options[0].OptionID), nil
}

func (u *user) ReadTextFile(_ context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(req.Path, "/soak/"))
	if err != nil {
		return nil, err
	}
	u.load.calls.Add(1)
	u.load.bytes.Add(int64(n))
	return &acp.ReadTextFileResponse{Content: strings.Repeat("0123456789abcde\n", n/16)}, nil
}
