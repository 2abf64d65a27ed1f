package agent_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/rpcerr"
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

// console is a client with terminals. Each command prints its own name and exits.
type console struct{ desk }

func (console) CreateTerminal(_ context.Context, req *acp.CreateTerminalRequest) (*acp.CreateTerminalResponse, error) {
	return &acp.CreateTerminalResponse{TerminalID: acp.TerminalID(strings.Join(append([]string{req.Command}, req.Args...), " "))}, nil
}

func (console) TerminalOutput(_ context.Context, req *acp.TerminalOutputRequest) (*acp.TerminalOutputResponse, error) {
	return &acp.TerminalOutputResponse{Output: "ran " + string(req.TerminalID), ExitStatus: &acp.TerminalExitStatus{ExitCode: new(uint32(0))}}, nil
}

func (console) WaitForTerminalExit(context.Context, *acp.WaitForTerminalExitRequest) (*acp.WaitForTerminalExitResponse, error) {
	return &acp.WaitForTerminalExitResponse{ExitCode: new(uint32(0))}, nil
}

func (console) KillTerminal(context.Context, *acp.KillTerminalRequest) (*acp.KillTerminalResponse, error) {
	return nil, nil
}

func (console) ReleaseTerminal(context.Context, *acp.ReleaseTerminalRequest) (*acp.ReleaseTerminalResponse, error) {
	return nil, nil
}

// RunTerminal runs a command at the client. The command ends early if the ctx of the turn ends.
func ExampleSession_RunTerminal() {
	session, end := meetWith(console{}, func(c *agent.Conn) acp.Agent {
		return promptFunc{base{c}, func(ctx context.Context, s *agent.Session) error {
			result, err := s.RunTerminal(ctx, &acp.CreateTerminalRequest{Command: "go", Args: []string{"test", "./..."}})
			if err != nil {
				return err
			}
			return s.Message(ctx, fmt.Sprintf("%s: exit code %d", result.Output, *result.ExitCode))
		}}
	}, nil)
	defer end()
	session.Prompt(context.Background(), acp.Text("run the tests")).Wait()
	// Output: message: ran go test ./...: exit code 0
}

// archive is an agent with one stored session.
type archive struct{ promptFunc }

func (a archive) LoadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	if req.SessionID != "monday" {
		return nil, rpcerr.SessionNotFound(string(req.SessionID))
	}
	s := a.conn.Session(req.SessionID)
	if err := s.UserMessage(ctx, "What is 6 times 7?"); err != nil {
		return nil, err
	}
	return &acp.LoadSessionResponse{}, s.Message(ctx, "42")
}

// A test of an agent needs no process: [stream.Pipe] connects it with a client in the test. This
// agent replays a stored session. The whole history has arrived when StartLoadedSession returns.
func Example_testing() {
	agentSide, clientSide := stream.Pipe()
	served := make(chan error, 1)
	go func() { // ends when the client closes its end
		served <- agent.Serve(context.Background(), agentSide, func(c *agent.Conn) acp.Agent {
			return archive{promptFunc{base{c}, nil}}
		}, nil)
	}()
	ctx := context.Background()
	conn, err := client.Connect(ctx, clientSide, func(*client.Conn) acp.Client { return console{} }, nil)
	if err != nil {
		log.Fatal(err)
	}
	var replay []string
	_, err = conn.StartLoadedSession(ctx, &acp.LoadSessionRequest{SessionID: "monday", Cwd: "/src"}, func(_ context.Context, u acp.SessionUpdate) {
		replay = append(replay, fmt.Sprintf("%T", u))
	})
	fmt.Println(err, replay)
	_, err = conn.StartLoadedSession(ctx, &acp.LoadSessionRequest{SessionID: "tuesday", Cwd: "/src"}, nil)
	fmt.Println(err)
	conn.Close()
	fmt.Println("served:", <-served)
	// Output:
	// message: 42
	// <nil> [*acp.UserMessageChunk *acp.AgentMessageChunk]
	// Session not found: tuesday (-32002)
	// served: <nil>
}
