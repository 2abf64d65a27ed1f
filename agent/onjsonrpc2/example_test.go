package onjsonrpc2_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/onjsonrpc2"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/objectstream"
)

// echo repeats each prompt.
type echo struct{ client acp.Client }

func (e echo) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{AgentInfo: &acp.Implementation{Name: "echo", Version: "1"}}, nil // the rest is filled in
}

func (e echo) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "session-1"}, nil
}

func (e echo) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	err := e.client.SessionUpdate(ctx, &acp.SessionNotification{SessionID: req.SessionID,
		Update: &acp.AgentMessageChunk{Content: acp.Text("You said: " + acp.PlainText(req.Prompt...))}})
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, err
}

func (e echo) Cancel(context.Context, *acp.CancelNotification) error { return nil }

// serve runs the agent on a connection of the library until that ends. Over stream.Stdio it is a
// program that a client starts.
func serve(s stream.Stream) {
	handler := onjsonrpc2.Handler(func(c acp.Client) acp.Agent { return echo{c} }, nil)
	<-jsonrpc2.NewConn(context.Background(), objectstream.Of(s), handler).DisconnectNotify()
}

type quiet struct{}

func (quiet) SessionUpdate(context.Context, *acp.SessionNotification) error { return nil }

func (quiet) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return acp.Cancelled(), nil
}

// An agent on a jsonrpc2.Conn, and a client of package client that asks it something.
func ExampleHandler() {
	near, far := stream.Pipe()
	go serve(far) // ends with the connection

	ctx := context.Background()
	conn, err := client.Connect(ctx, near, func(*client.Conn) acp.Client { return quiet{} }, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/work"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(session.Prompt(ctx, acp.Text("hello")).Text())
	// Output: You said: hello <nil>
}
