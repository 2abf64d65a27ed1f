// Command echo is the smallest agent: it repeats each prompt.
package main

import (
	"context"
	"crypto/rand"
	"flag"
	"log"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/stream"
)

type echo struct{ conn *agent.Conn }

func (e echo) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{AgentInfo: &acp.Implementation{Name: "echo", Version: "1"}}, nil // the rest is filled in
}

func (e echo) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: acp.SessionID(rand.Text())}, nil
}

func (e echo) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	err := e.conn.Session(req.SessionID).Message(ctx, "You said: "+acp.PlainText(req.Prompt...))
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, err
}

func (e echo) Cancel(context.Context, *acp.CancelNotification) error { return nil }

func main() {
	stream.EndOnSignal(nil)
	log.SetFlags(0)
	flag.Usage = func() { log.Print("usage: echo (a client starts it and talks to it on standard input and output)") }
	flag.Parse()
	err := agent.Serve(context.Background(), stream.Stdio(), func(c *agent.Conn) acp.Agent { return echo{c} }, &agent.Options{CheckIDs: true})
	if err != nil {
		log.Fatal(err)
	}
}
