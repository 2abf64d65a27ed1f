package client_test

import (
	"context"
	"fmt"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/stream"
)

// silentViewer allows nothing and shows nothing by itself.
type silentViewer struct{}

func (silentViewer) SessionUpdate(context.Context, *acp.UpdateSessionNotification) error { return nil }

func (silentViewer) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return acp.Cancelled(), nil
}

// A conversation: each prompt is a turn, whose updates the program iterates over.
func Example() {
	ctx := context.Background()
	conn, err := client.Connect(ctx, startAgent(), func(*client.Conn) acp.Client { return silentViewer{} }, nil)
	if err != nil {
		fmt.Println(client.Explain(nil, err))
		return
	}
	defer conn.Close()

	session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/work"})
	if err != nil {
		fmt.Println(client.Explain(conn, err))
		return
	}
	turn := session.Prompt(ctx, acp.Text("What is in this folder?"))
	for u, err := range turn.Updates() {
		if err != nil {
			fmt.Println(client.Explain(conn, err))
			return
		}
		switch u := u.(type) {
		case *acp.UserMessage:
			fmt.Println("you:", acp.PlainText(u.Content.Or(nil)...))
		case *acp.AgentMessageChunk:
			fmt.Println("agent:", acp.PlainText(u.Content))
		case *acp.SessionStateUpdate:
			fmt.Printf("%T\n", u.StateUpdate)
		}
	}
	end, _ := turn.Wait()
	fmt.Println(end.StopReason)
	// Output:
	// you: What is in this folder?
	// *acp.RunningStateUpdate
	// agent: Two files.
	// *acp.IdleStateUpdate
	// end_turn
}

// Prompt may be called while a turn is in progress: an agent that works on one prompt at a
// time holds the others.
func ExampleSession_Prompt() {
	ctx := context.Background()
	conn, err := client.Connect(ctx, startAgent(), func(*client.Conn) acp.Client { return silentViewer{} }, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/work"})
	if err != nil {
		fmt.Println(err)
		return
	}
	first := session.Prompt(ctx, acp.Text("What is in this folder?"))
	second := session.Prompt(ctx, acp.Text("How large are they?"))
	for _, turn := range []*client.Turn{first, second} {
		text, err := turn.Text()
		fmt.Println(text, err)
	}
	// Output:
	// Two files. <nil>
	// 3 KiB. <nil>
}

// librarian is the agent of the examples.
type librarian struct{ conn *agent.Conn }

// startAgent returns the stream to an agent.
func startAgent() stream.Stream {
	near, far := stream.Pipe()
	go agent.Serve(context.Background(), far, func(c *agent.Conn) acp.Agent { return librarian{c} }, nil) // ends with the connection
	return near
}

func (librarian) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{Info: acp.Implementation{Name: "librarian", Version: "1"}}, nil
}

func (librarian) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "s1"}, nil
}

func (l librarian) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	s := l.conn.Session(req.SessionID)
	return s.Accept(ctx, req, func(ctx context.Context) (acp.StopReason, error) {
		text := "Two files."
		if acp.PlainText(req.Prompt...) != "What is in this folder?" {
			text = "3 KiB."
		}
		return acp.StopReasonEndTurn, s.Message(ctx, agent.NewMessageID(), text)
	})
}

func (librarian) ListSessions(context.Context, *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	return nil, nil
}

func (l librarian) ResumeSession(ctx context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	return nil, l.conn.Session(req.SessionID).SendState(ctx)
}

func (librarian) CloseSession(context.Context, *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	return nil, nil
}

func (librarian) Cancel(context.Context, *acp.CancelSessionNotification) error { return nil }
