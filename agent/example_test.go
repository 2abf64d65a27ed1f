package agent_test

import (
	"context"
	"fmt"
	"log"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
)

// reviewer reads a file through the client and reports on it.
type reviewer struct{ conn *agent.Conn }

func (r *reviewer) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{AgentInfo: &acp.Implementation{Name: "reviewer", Version: "1.0"}}, nil
}

func (r *reviewer) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "review-1"}, nil
}

func (r *reviewer) Cancel(context.Context, *acp.CancelNotification) error { return nil }

func (r *reviewer) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	s := r.conn.Session(req.SessionID)
	call, err := s.StartToolCall(ctx, &acp.ToolCall{Title: "Read main.go", Kind: acp.ToolKindRead})
	if err != nil {
		return nil, err
	}
	text, err := s.ReadFile(ctx, "/src/main.go")
	if err != nil {
		call.Fail(ctx, err)
		return nil, err
	}
	if err := call.Finish(ctx, acp.ToolText(text)); err != nil {
		return nil, err
	}
	err = s.Message(ctx, fmt.Sprintf("main.go has %d bytes.", len(text)))
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, err
}

// editor is the client of the example.
type editor struct{}

func (editor) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return acp.Cancelled(), nil
}

func (editor) ReadTextFile(context.Context, *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	return &acp.ReadTextFileResponse{Content: "package main\n"}, nil
}

func (editor) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	switch u := n.Update.(type) {
	case *acp.ToolCall:
		fmt.Println(u.Title, u.Status)
	case *acp.ToolCallUpdate:
		fmt.Println("->", u.Status)
	case *acp.AgentMessageChunk:
		fmt.Println(acp.PlainText(u.Content))
	}
	return nil
}

// A pipe connects an agent and a client in one process. The code of the agent is the same with
// [stream.Stdio].
func Example() {
	ctx := context.Background()
	agentSide, clientSide := stream.Pipe()
	served := make(chan error, 1)
	go func() { // ends when the client closes its end
		served <- agent.Serve(ctx, agentSide, func(conn *agent.Conn) acp.Agent { return &reviewer{conn} }, nil)
	}()

	conn := client.New(clientSide, func(*client.Conn) acp.Client { return editor{} }, nil)
	if err := conn.Start(ctx); err != nil {
		log.Fatal(err)
	}
	hello, err := conn.Initialize(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("agent:", hello.AgentInfo.Name)
	session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/src"})
	if err != nil {
		log.Fatal(err)
	}
	res, err := session.Prompt(ctx, acp.Text("review it")).Wait()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("end:", res.StopReason)
	conn.Close()
	fmt.Println("served:", <-served)
	// Output:
	// agent: reviewer
	// Read main.go in_progress
	// -> completed
	// main.go has 13 bytes.
	// end: end_turn
	// served: <nil>
}

// Capabilities returns the capabilities that follow from the interfaces of an agent. This one adds
// another, for which there is no interface.
func ExampleCapabilities() {
	caps := agent.Capabilities(&loader{})
	caps.PromptCapabilities = &acp.PromptCapabilities{Image: true}
	fmt.Println(caps.LoadSession, caps.Has("promptCapabilities.image"), caps.Has("sessionCapabilities.list"))
	// Output: true true false
}
