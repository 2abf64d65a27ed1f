// Command echo is the smallest agent in version 2 of the protocol, which is a draft: it
// repeats each prompt.
package main

import (
	"context"
	"crypto/rand"
	"flag"
	"log"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/stream"
)

type echo struct {
	agent.NoHistory // no session is stored
	conn            *agent.Conn
}

func (echo) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{Info: acp.Implementation{Name: "echo", Version: "1"}}, nil // the rest is filled in
}

func (echo) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: acp.SessionID(rand.Text())}, nil
}

func (e echo) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	s := e.conn.Session(req.SessionID)
	return s.Accept(ctx, req, func(ctx context.Context) (acp.StopReason, error) {
		return acp.StopReasonEndTurn, s.Message(ctx, agent.NewMessageID(), "You said: "+acp.PlainText(req.Prompt...))
	})
}

func main() {
	stream.EndOnSignal(nil)
	log.SetFlags(0)
	flag.Usage = func() { log.Print("usage: echo (a client starts it and talks to it on standard input and output)") }
	flag.Parse()
	err := agent.Serve(context.Background(), stream.Stdio(), func(c *agent.Conn) acp.Agent { return echo{conn: c} }, &agent.Options{CheckIDs: true})
	if err != nil {
		log.Fatal(err)
	}
}
