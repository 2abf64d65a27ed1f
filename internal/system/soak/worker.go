package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
)

// worker is the agent.
type worker struct {
	conn *agent.Conn
	load *load
	seed uint64
}

func (w *worker) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{}, nil
}

func (w *worker) NewSession(ctx context.Context, _ *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	id := acp.SessionID(rand.Text())
	agent.AfterResponse(ctx, func(ctx context.Context) {
		w.conn.Session(id).Commands(ctx, acp.AvailableCommand{Name: "soak", Description: "does nothing"})
	})
	return &acp.NewSessionResponse{SessionID: id}, nil
}

func (w *worker) CloseSession(context.Context, *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	return nil, nil
}

func (w *worker) Cancel(context.Context, *acp.CancelNotification) error { return nil }

func (w *worker) SetSessionMode(context.Context, *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	return nil, nil
}

// LoadSession replays as many updates as the id says.
func (w *worker) LoadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	text, _, _ := strings.Cut(string(req.SessionID), "-")
	updates, err := strconv.Atoi(text)
	if err != nil {
		return nil, err
	}
	s := w.conn.Session(req.SessionID)
	for n := range updates {
		if err := s.Message(ctx, strconv.Itoa(n)+" of the history"); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// HandleExtension answers with the params, or waits until it is given up.
func (w *worker) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	if method == "_soak/wait" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return params, nil
}

// Prompt sends as many updates as the prompt requests, with questions and files between.
func (w *worker) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	updates, err := strconv.Atoi(acp.PlainText(req.Prompt...))
	if err != nil {
		return nil, err
	}
	r := mathrand.New(mathrand.NewPCG(w.seed, uint64(updates)))
	s := w.conn.Session(req.SessionID)
	for n := range updates {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := s.Message(ctx, strconv.Itoa(n)+" "+strings.Repeat("x", r.IntN(200))); err != nil {
			return nil, err
		}
		if err := w.distract(ctx, s, r); err != nil {
			return nil, err
		}
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

// distract does now and then what agents do besides talking.
func (w *worker) distract(ctx context.Context, s *agent.Session, r *mathrand.Rand) error {
	switch r.IntN(200) {
	case 0:
		call, err := s.StartToolCall(ctx, &acp.ToolCall{Title: "Soak"})
		if err != nil {
			return err
		}
		if _, err := call.AskPermission(ctx); err != nil {
			return err
		}
		return call.Finish(ctx, acp.ToolText("done"))
	case 1:
		size := r.IntN(16) << 12
		text, err := s.ReadFile(ctx, fmt.Sprintf("/soak/%d", size))
		if err == nil && len(text) != size {
			w.load.fail("a file of %d bytes arrived with %d", size, len(text))
		}
		return err
	case 2:
		command := []string{"true", "sleep"}[r.IntN(2)]
		res, err := s.RunTerminal(ctx, &acp.CreateTerminalRequest{Command: command})
		if err == nil && res.Output != "done\n" {
			w.load.fail("a terminal printed %q", res.Output)
		}
		return err
	case 3:
		values, err := s.AskForm(ctx, "Which branch?", acp.ElicitationSchema{})
		if err == nil && values["branch"] != acp.ElicitationString("main") {
			w.load.fail("a form came back with %v", values)
		}
		return err
	case 4: // a call that is given up while its handler waits
		w.load.givenUp.Add(1)
		ctx, cancel := context.WithTimeout(ctx, time.Duration(r.IntN(1000))*time.Microsecond)
		defer cancel()
		if err := w.conn.Call(ctx, "_soak/wait", nil, nil); err == nil {
			w.load.fail("a call that was given up returned an answer")
		}
	}
	return nil
}
