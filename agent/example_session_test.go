package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/stream"
)

// base is what all example agents share: one session and no state.
type base struct{ conn *agent.Conn }

func (base) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{}, nil
}

func (base) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "s1"}, nil
}

func (base) Cancel(context.Context, *acp.CancelNotification) error { return nil }

// promptFunc is an agent with one function for its turns.
type promptFunc struct {
	base
	turn func(ctx context.Context, s *agent.Session) error
}

func (a promptFunc) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	if err := a.turn(ctx, a.conn.Session(req.SessionID)); err != nil {
		return nil, err
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

// desk is a client that permits everything, fills in forms, and runs commands with known output.
type desk struct{}

func (desk) RequestPermission(_ context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	fmt.Println("permission:", req.Options[0].Name)
	return acp.Selected(req.Options[0].OptionID), nil
}

func (desk) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	switch u := n.Update.(type) {
	case *acp.AgentMessageChunk:
		fmt.Println("message:", acp.PlainText(u.Content))
	case *acp.ToolCall:
		fmt.Println("tool call:", u.Title, u.Status)
	case *acp.ToolCallUpdate:
		fmt.Println("tool call:", u.Status)
		for _, content := range u.Content {
			if diff, ok := content.(*acp.Diff); ok {
				fmt.Printf("  %s: %q becomes %q\n", diff.Path, *diff.OldText, diff.NewText)
			}
		}
	case *acp.Plan:
		for _, entry := range u.Entries {
			fmt.Println("plan:", entry.Status, entry.Content)
		}
	case *acp.CurrentModeUpdate:
		fmt.Println("mode:", u.CurrentModeID)
	case *acp.AvailableCommandsUpdate:
		fmt.Println("commands:", u.AvailableCommands[0].Name)
	}
	return nil
}

func (desk) CreateElicitation(context.Context, *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	return &acp.CreateElicitationResponse{Action: &acp.ElicitationAcceptAction{
		Content: map[string]acp.ElicitationContentValue{"branch": acp.ElicitationString("next")},
	}}, nil
}

func (desk) HandleExtension(_ context.Context, method string, params json.RawMessage) (any, error) {
	return map[string]string{"method": method, "got": string(params)}, nil
}

// meet connects an agent with a desk in this process and starts a session.
func meet(newAgent func(*agent.Conn) acp.Agent, opts *agent.Options) (*client.Session, func()) {
	return meetWith(desk{}, newAgent, opts)
}

// meetWith is like meet, with another client.
func meetWith(c acp.Client, newAgent func(*agent.Conn) acp.Agent, opts *agent.Options) (*client.Session, func()) {
	ctx := context.Background()
	agentSide, clientSide := stream.Pipe()
	served := make(chan error, 1)
	go func() { served <- agent.Serve(ctx, agentSide, newAgent, opts) }() // ends when the client closes its end
	conn, err := client.Connect(ctx, clientSide, func(*client.Conn) acp.Client { return c }, nil)
	if err != nil {
		log.Fatal(err)
	}
	session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/src"})
	if err != nil {
		log.Fatal(err)
	}
	return session, func() { conn.Close(); <-served }
}

// converse runs one turn of an agent.
func converse(turn func(ctx context.Context, s *agent.Session) error) {
	session, end := meet(func(c *agent.Conn) acp.Agent { return promptFunc{base{c}, turn} }, nil)
	defer end()
	if _, err := session.Prompt(context.Background(), acp.Text("go")).Wait(); err != nil {
		fmt.Println("failed:", err)
	}
}

// A tool call changes a file. It is started, permitted, shown as a diff and completed.
func ExampleSession_StartToolCall() {
	converse(func(ctx context.Context, s *agent.Session) error {
		call, err := s.StartToolCall(ctx, &acp.ToolCall{
			Title:     "Rename main",
			Kind:      acp.ToolKindEdit,
			Locations: []acp.ToolCallLocation{{Path: "/src/main.go"}},
		})
		if err != nil {
			return err
		}
		before, after := "func main()", "func Main()"
		return call.Finish(ctx, &acp.Diff{Path: "/src/main.go", OldText: &before, NewText: after})
	})
	// Output:
	// tool call: Rename main in_progress
	// tool call: completed
	//   /src/main.go: "func main()" becomes "func Main()"
}

// A tool call waits for permission. An error of AskPermission ends the turn, so the command runs
// only if the user has allowed it.
func ExampleSession_AskPermission() {
	converse(func(ctx context.Context, s *agent.Session) error {
		call, err := s.StartToolCall(ctx, &acp.ToolCall{
			Title: "rm -r build", Kind: acp.ToolKindExecute, Status: acp.ToolCallStatusPending,
			RawInput: json.RawMessage(`{"command": "rm", "args": ["-r", "build"]}`), // what will run
		})
		if err != nil {
			return err
		}
		choice, err := call.AskPermission(ctx)
		if err != nil {
			return err
		}
		if !agent.Allows(choice) {
			return call.Fail(ctx, kind.Forbidden.New("The user rejected the command."))
		}
		return call.Finish(ctx)
	})
	// Output:
	// tool call: rm -r build pending
	// permission: Allow
	// tool call: completed
}

// Each change of a plan sends the whole plan.
func ExampleSession_SendPlan() {
	converse(func(ctx context.Context, s *agent.Session) error {
		plan := []acp.PlanEntry{
			{Content: "Find the cause", Priority: acp.PlanEntryPriorityHigh, Status: acp.PlanEntryStatusInProgress},
			{Content: "Write a test", Priority: acp.PlanEntryPriorityHigh, Status: acp.PlanEntryStatusPending},
		}
		if err := s.SendPlan(ctx, plan...); err != nil {
			return err
		}
		plan[0].Status, plan[1].Status = acp.PlanEntryStatusCompleted, acp.PlanEntryStatusInProgress
		return s.SendPlan(ctx, plan...)
	})
	// Output:
	// plan: in_progress Find the cause
	// plan: pending Write a test
	// plan: completed Find the cause
	// plan: in_progress Write a test
}

// A form asks the user of the client. If the client does not show forms, AskForm returns an
// [acp.CapabilityError]. If the user closes the form, it returns [agent.ErrNoInput].
func ExampleSession_AskForm() {
	converse(func(ctx context.Context, s *agent.Session) error {
		values, err := s.AskForm(ctx, "Which branch?", acp.ElicitationSchema{
			Properties: map[string]acp.ElicitationPropertySchema{
				"branch": &acp.StringPropertySchema{Enum: []string{"main", "next"}},
			},
			Required: []string{"branch"},
		})
		if errors.Is(err, agent.ErrNoInput) {
			return s.Message(ctx, "Then I stay on main.")
		}
		if err != nil {
			return err
		}
		branch, _ := values["branch"].(acp.ElicitationString)
		return s.Message(ctx, "Switching to "+string(branch))
	})
	// Output: message: Switching to next
}
