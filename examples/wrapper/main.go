// Command wrapper serves an existing agent that streams events; bot.go stands for it. The text goes
// through Session.MessageFrom, and the tool calls through package tools.
package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"iter"
	"log"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

type wrapper struct {
	conn     *agent.Conn
	sessions sync.Map // *session by acp.SessionID
}

type session struct {
	turn  sync.Mutex // held while a turn runs
	out   *agent.Session
	tools *tools.Registry
	rules tools.Rules
	notes []string
}

func (*wrapper) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{}, nil // version and capabilities are filled in
}

func (w *wrapper) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	s := &session{out: w.conn.Session(acp.SessionID(rand.Text()))}
	s.tools = tools.NewRegistry(tools.Typed("note", "Takes a note.", s.note))
	w.sessions.Store(s.out.ID(), s)
	return &acp.NewSessionResponse{SessionID: s.out.ID()}, nil
}

func (s *session) note(_ context.Context, _ *tools.Call, in note) (tools.Result, error) {
	s.notes = append(s.notes, in.Text)
	return tools.Text(fmt.Sprintf("Notes: %q", s.notes)), nil
}

func (w *wrapper) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	found, _ := w.sessions.Load(req.SessionID)
	s, ok := found.(*session)
	if !ok {
		return nil, rpcerr.SessionNotFound(string(req.SessionID))
	}
	if !s.turn.TryLock() {
		return nil, rpcerr.InvalidRequest(nil).WithDetail("a turn of this session is running")
	}
	defer s.turn.Unlock()
	err := s.relay(ctx, events(ctx, acp.PlainText(req.Prompt...)))
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, err
}

func (*wrapper) Cancel(context.Context, *acp.CancelNotification) error { return nil } // ctx is done

// relay sends the events of a turn, and runs its tool calls.
func (s *session) relay(ctx context.Context, events iter.Seq2[event, error]) error {
	next, stop := iter.Pull2(events)
	defer stop()
	e, err, more := event(nil), error(nil), true
	texts := func(yield func(string, error) bool) { // up to an event of another type
		for e, err, more = next(); more; e, err, more = next() {
			text, ok := e.(textDelta)
			if !ok && err == nil || !yield(string(text), err) {
				return
			}
		}
	}
	env, announced := tools.Env{Session: s.out, Rules: &s.rules}, acp.ToolCallID("")
	for err == nil {
		if err := s.out.MessageFrom(ctx, texts); err != nil || !more {
			return err
		}
		switch e := e.(type) {
		case thoughtDelta:
			err = s.out.Thought(ctx, string(e))
		case toolBegin:
			announced, err = s.tools.Announce(ctx, env, e.name)
		case *toolInput:
			done, over := s.tools.Run(ctx, env, []tools.Request{{ID: e.id, Name: e.name, Input: e.input, ToolCallID: announced}})
			e.result, err = done[0].Model[0].Text, over
		}
	}
	return err
}

func main() {
	stream.EndOnSignal(nil)
	log.SetFlags(0)
	flag.Usage = func() { log.Print("usage: wrapper (a client starts it and talks to it on standard input and output)") }
	flag.Parse()
	if err := agent.Serve(context.Background(), stream.Stdio(), func(c *agent.Conn) acp.Agent { return &wrapper{conn: c} }, nil); err != nil {
		log.Fatal(err)
	}
}
