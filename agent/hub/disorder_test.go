package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/internal/schema/schematest"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// counted is the stream of a client that counts its requests and their responses.
type counted struct {
	stream.Stream
	mu      sync.Mutex
	answers map[string]int // by the id of a request
}

func (c *counted) note(msg []byte, count func(method, id string)) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if json.Unmarshal(msg, &m) == nil && m.ID != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		count(m.Method, string(m.ID))
	}
}

func (c *counted) Write(msg []byte) error {
	c.note(msg, func(method, id string) {
		if method != "" {
			c.answers[id] += 0
		}
	})
	return c.Stream.Write(msg)
}

func (c *counted) Read() ([]byte, error) {
	msg, err := c.Stream.Read()
	if err == nil {
		c.note(msg, func(method, id string) {
			if method == "" {
				c.answers[id]++
			}
		})
	}
	return msg, err
}

// Whatever four clients do at once, in any order: each request has one answer, nothing hangs, nothing is left over, and what
// a client shows that was always there is what a later load shows.
func TestDisorder(t *testing.T) {
	for seed := range uint64(*episodes) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { disorder(t, rand.New(rand.NewPCG(seed, 11))) })
		})
	}
}

func disorder(t *testing.T, r *rand.Rand) {
	var mu sync.Mutex
	n := func(max int) int { mu.Lock(); defer mu.Unlock(); return r.IntN(max) }
	pause := func(ctx context.Context) {
		select {
		case <-time.After(time.Duration(n(20)) * time.Millisecond):
		case <-ctx.Done():
		}
	}
	w := new(worker)
	w.turn = func(ctx context.Context, s *agent.Session, p *acp.PromptRequest) (acp.StopReason, error) {
		for i := range n(4) {
			pause(ctx)
			if err := s.Message(ctx, fmt.Sprint(i, " ")); err != nil {
				return "", err
			}
		}
		switch n(4) {
		case 0: // a load shows calls as they ended
			defer func() {
				_ = s.Update(ctx, &acp.ToolCallUpdate{ToolCallID: "call", Status: acp.ToolCallStatusCompleted}) // an error means the end of the connection
			}()
			return asks(ctx, s, p)
		case 1:
			w.crash()
		case 2:
			select {
			case <-ctx.Done():
				return acp.StopReasonCancelled, nil
			case <-time.After(time.Second):
			}
		}
		return acp.StopReasonEndTurn, nil
	}
	h := start(t, w, &hub.Options{Detached: hub.Detached{Question: time.Minute, Turn: time.Minute, Idle: time.Second}, Limits: hub.Limits{Agents: 2}})
	always := join(t, h, "")
	always.answer = func(ctx context.Context, _ *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Second):
			return acp.Selected("no"), nil
		}
	}
	ids := make([]acp.SessionID, 3)
	for i := range ids {
		ids[i] = always.open().ID()
	}
	deleted := ids[2] // by one of the clients; the others stay

	var wait sync.WaitGroup
	var streams []*counted
	for c := range 4 {
		u := &user{t: t, answer: func(ctx context.Context, _ *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
			pause(ctx)
			switch n(3) {
			case 0:
				return nil, errors.New("no answer")
			case 1:
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return acp.Selected("yes"), nil
		}}
		near, far := stream.Pipe()
		counting := &counted{Stream: near, answers: make(map[string]int)}
		streams = append(streams, counting)
		u.connect(schematest.Client(t, 1, counting), far, h, "")
		call := func(id acp.SessionID) error {
			var err error
			switch n(9) {
			case 0, 1:
				_, err = u.conn.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: id, Cwd: "/work"})
			case 2:
				_, err = u.conn.ResumeSession(t.Context(), &acp.ResumeSessionRequest{SessionID: id, Cwd: "/work"})
			case 3:
				_, err = u.conn.CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: id})
			case 4:
				err = u.conn.Cancel(t.Context(), &acp.CancelNotification{SessionID: id})
			case 5:
				if id == deleted && n(5) == 0 {
					_, err = u.conn.DeleteSession(t.Context(), &acp.DeleteSessionRequest{SessionID: id})
				}
			case 6: // and its request is cancelled
				ctx, stop := context.WithTimeout(t.Context(), time.Duration(n(50))*time.Millisecond)
				defer stop()
				_, err = u.conn.Prompt(ctx, &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.Text(fmt.Sprint("brief ", c))}})
			default:
				_, err = u.conn.Prompt(t.Context(), &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.Text(fmt.Sprint("from ", c))}})
			}
			return err
		}
		for range 2 { // at once on one connection
			wait.Go(func() { // ends with its calls
				for range 15 {
					pause(t.Context())
					if err := call(ids[n(len(ids))]); err != nil {
						of, ok := errors.AsType[*rpcerr.RequestError](err)
						assert.True(t, ok || errors.Is(err, context.DeadlineExceeded), "%v", err)
						if ok {
							assert.Contains(t, []rpcerr.Code{rpcerr.CodeInvalidRequest, rpcerr.CodeResourceNotFound, rpcerr.CodeInternalError, rpcerr.CodeRequestCancelled}, of.Code, "%v", err)
						}
					}
				}
			})
		}
	}
	wait.Wait()
	synctest.Wait()
	for _, s := range streams {
		s.mu.Lock()
		assert.NotEmpty(t, s.answers)
		for id, n := range s.answers {
			assert.Equal(t, 1, n, "answers to request %s", id)
		}
		s.mu.Unlock()
	}
	for info := range h.Sessions() {
		assert.False(t, info.Running, info.ID)
		assert.Zero(t, info.Questions, info.ID)
	}
	for _, id := range ids[:2] {
		late := join(t, h, "")
		late.load(id)
		assert.Equal(t, late.view(id), always.view(id))
	}
}
