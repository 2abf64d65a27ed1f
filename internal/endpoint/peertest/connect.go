package peertest

import (
	"context"
	"log/slog"
	"testing"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
)

// Serve serves one connection until it ends, as [agent.Serve], a kit and a hub do.
type Serve = func(context.Context, stream.Stream) error

// A Turn is a turn of an agent, which has the stop reason end_turn unless it fails.
type Turn = func(ctx context.Context, s *agent.Session, p *acp.PromptRequest) error

// Prompts returns the OnPrompt of an agent that has such turns.
func Prompts(c *agent.Conn, turn Turn) func(context.Context, *acp.PromptRequest) (*acp.PromptResponse, error) {
	return func(ctx context.Context, p *acp.PromptRequest) (*acp.PromptResponse, error) {
		if err := turn(ctx, c.Session(p.SessionID), p); err != nil {
			return nil, err
		}
		return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
	}
}

// Turns makes agents that have such turns.
func Turns(turn Turn) func(*agent.Conn) acp.Agent {
	return func(c *agent.Conn) acp.Agent { return &Agent{OnPrompt: Prompts(c, turn)} }
}

// Echo is a turn that repeats the prompt.
func Echo(ctx context.Context, s *agent.Session, p *acp.PromptRequest) error {
	return s.Message(ctx, acp.PlainText(p.Prompt...))
}

// Serving serves an agent. The log is discarded unless the options have one.
func Serving(newAgent func(*agent.Conn) acp.Agent, opts *agent.Options) Serve {
	var o agent.Options
	if opts != nil {
		o = *opts
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return func(ctx context.Context, s stream.Stream) error { return agent.Serve(ctx, s, newAgent, &o) }
}

// Dial serves one end of a pipe, and returns the other end and what serve returns.
func Dial(serve Serve) (stream.Stream, <-chan error) {
	near, far := stream.Pipe()
	served := make(chan error, 1)
	go func() { served <- serve(context.Background(), far) }() // ends with the connection
	return near, served
}

// Dialer makes each connection by Dial, for what starts an agent more than once.
func Dialer(serve Serve) func(context.Context) (stream.Stream, error) {
	return func(context.Context) (stream.Stream, error) {
		near, _ := Dial(serve)
		return near, nil
	}
}

// Connect connects a client with what serve serves, and initializes the connection. At the end of
// the test it ends the connection and waits for serve. The log is discarded unless the options have
// one.
func Connect(t testing.TB, serve Serve, c acp.Client, opts *client.Options) *client.Conn {
	t.Helper()
	return ConnectTo(t, serve, func(*client.Conn) acp.Client { return c }, opts)
}

// ConnectTo is Connect for a client that needs its connection.
func ConnectTo(t testing.TB, serve Serve, newClient func(*client.Conn) acp.Client, opts *client.Options) *client.Conn {
	t.Helper()
	var o client.Options
	if opts != nil {
		o = *opts
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	near, served := Dial(serve)
	conn, err := client.Connect(t.Context(), near, newClient, &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		_ = conn.Wait() // a test that needs the error has checked it
		<-served
	})
	return conn
}
