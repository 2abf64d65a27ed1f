package tools_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
)

// shouter is an agent whose model always requests the same call.
type shouter struct {
	conn  *agent.Conn
	tools *tools.Registry
}

func (shouter) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{}, nil
}

func (shouter) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "s"}, nil
}

func (shouter) Cancel(context.Context, *acp.CancelNotification) error { return nil }

func (s shouter) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	env := tools.Env{Session: s.conn.Session(req.SessionID), Rules: new(tools.Rules)}
	calls := []tools.Request{{ID: "1", Name: "shout", Input: []byte(`{"text":"hello"}`)}}
	results, err := s.tools.Run(ctx, env, calls)
	if err != nil {
		return nil, err
	}
	err = s.conn.Session(req.SessionID).Message(ctx, "the model reads: "+results[0].Model[0].Text)
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, err
}

// printer is a client that allows every call and prints the tool calls.
type printer struct{}

func (printer) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	switch u := n.Update.(type) {
	case *acp.ToolCall:
		fmt.Println(u.Title, u.Status)
	case *acp.ToolCallUpdate:
		fmt.Println("the call is", u.Status)
	}
	return nil
}

func (printer) RequestPermission(_ context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	fmt.Println("may it?", string(req.ToolCall.RawInput))
	return acp.Selected(req.Options[0].OptionID), nil
}

func Example() {
	type input struct {
		Text string `json:"text" description:"what to shout" validate:"required"`
	}
	shout := tools.Typed("shout", "Shouts a text.", func(_ context.Context, _ *tools.Call, in input) (tools.Result, error) {
		return tools.Text(strings.ToUpper(in.Text)), nil
	})
	registry := tools.NewRegistry(shout)
	ctx := context.Background()
	near, far := stream.Pipe()
	ag := agent.New(far, func(c *agent.Conn) acp.Agent { return shouter{c, registry} }, nil)
	if err := ag.Start(ctx); err != nil {
		log.Fatal(err)
	}
	conn, err := client.Connect(ctx, near, func(*client.Conn) acp.Client { return printer{} }, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/"})
	if err != nil {
		log.Fatal(err)
	}
	text, err := session.Prompt(ctx, acp.Text("go")).Text()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(text)
	// Output:
	// shout pending
	// may it? {"text":"hello"}
	// the call is in_progress
	// the call is completed
	// the model reads: HELLO
}
