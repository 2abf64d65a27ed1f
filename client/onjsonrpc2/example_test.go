package onjsonrpc2_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client/onjsonrpc2"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/objectstream"
)

// asker prints what the agent says, and allows nothing.
type asker struct{ said chan string }

func (a asker) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	if chunk, ok := n.Update.(*acp.AgentMessageChunk); ok {
		a.said <- acp.PlainText(chunk.Content)
	}
	return nil
}

func (asker) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return acp.Cancelled(), nil
}

// ask asks an agent one thing over a connection of the library. Over stream.Command it starts the
// agent.
func ask(ctx context.Context, s stream.Stream, question string) (string, error) {
	a := asker{make(chan string, 1)}
	conn := jsonrpc2.NewConn(ctx, objectstream.Of(s), onjsonrpc2.Handler(func(acp.Agent) acp.Client { return a }, nil))
	defer conn.Close()
	agent := onjsonrpc2.Agent(conn)
	if _, err := agent.Initialize(ctx, &acp.InitializeRequest{}); err != nil {
		return "", err
	}
	session, err := agent.NewSession(ctx, &acp.NewSessionRequest{Cwd: "/work"})
	if err != nil {
		return "", err
	}
	_, err = agent.Prompt(ctx, &acp.PromptRequest{SessionID: session.SessionID, Prompt: []acp.ContentBlock{acp.Text(question)}})
	if err != nil {
		return "", err
	}
	return <-a.said, nil // the response may overtake the update
}

// A client on a jsonrpc2.Conn, and an agent of package agent that it asks something.
func ExampleHandler() {
	near, far := stream.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go agent.Serve(ctx, far, func(c *agent.Conn) acp.Agent { return echo{c} }, nil)

	text, err := ask(ctx, near, "hello")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(text)
	// Output: You said: hello
}

// echo is an agent of package agent that repeats each prompt.
type echo struct{ conn *agent.Conn }

func (e echo) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return nil, nil
}

func (e echo) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "session-1"}, nil
}

func (e echo) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	err := e.conn.Session(req.SessionID).Message(ctx, "You said: "+acp.PlainText(req.Prompt...))
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, err
}

func (e echo) Cancel(context.Context, *acp.CancelNotification) error { return nil }
