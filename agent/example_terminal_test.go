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
