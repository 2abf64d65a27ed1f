package client_test

import (
	"context"
	"fmt"
	"log"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// greeter returns an example agent, which requires authentication.
func greeter(conn *agent.Conn) acp.Agent {
	signedIn := false
	return struct {
		acp.Agent
		acp.Authenticator
	}{
		&peertest.Agent{
			OnInitialize: func(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
				return &acp.InitializeResponse{AuthMethods: []acp.AuthMethod{&acp.AuthMethodAgent{ID: "browser", Name: "Browser"}}}, nil
			},
			OnNewSession: func(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
				if !signedIn {
					return nil, rpcerr.AuthRequired(nil)
				}
				return &acp.NewSessionResponse{SessionID: "s1"}, nil
			},
			OnPrompt: func(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
				s := conn.Session(req.SessionID)
				s.Thought(ctx, "somebody is there")
				s.Message(ctx, "Hello, ")
				s.Message(ctx, "world.")
				return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
			},
		},
		authenticate(func() { signedIn = true }),
	}
}

type authenticate func()

func (f authenticate) Authenticate(context.Context, *acp.AuthenticateRequest) (*acp.AuthenticateResponse, error) {
	f()
	return nil, nil
}

// connected returns a connection to an agent in this process. For a child process, use
// client.New(process, ...) with a process of stream.Command.
func connected(ctx context.Context) *client.Conn {
	agentSide, clientSide := stream.Pipe()
	go agent.Serve(ctx, agentSide, greeter, nil) // ends with the connection
	conn := client.New(clientSide, good, nil)
	if err := conn.Start(ctx); err != nil {
		log.Fatal(err)
	}
	if _, err := conn.Initialize(ctx, nil); err != nil {
		log.Fatal(err)
	}
	return conn
}

// The client signs in when the agent requires it, and reads the updates of a turn.
func Example() {
	ctx := context.Background()
	conn := connected(ctx)
	defer conn.Close()

	var session *client.Session
	err := conn.SignInAndRetry(ctx, nil, func(ctx context.Context) (err error) {
		session, err = conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/work"})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}

	turn := session.Prompt(ctx, acp.Text("Hi"))
	for u, err := range turn.Updates() {
		if err != nil {
			log.Fatal(err)
		}
		switch u := u.(type) {
		case *acp.AgentThoughtChunk:
			fmt.Printf("(%s)\n", acp.PlainText(u.Content))
		case *acp.AgentMessageChunk:
			fmt.Print(acp.PlainText(u.Content))
		}
	}
	res, err := turn.Wait()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("\n%s\n", res.StopReason)
	// Output:
	// (somebody is there)
	// Hello, world.
	// end_turn
}

// Text returns only the text of a turn.
func ExampleTurn_Text() {
	ctx := context.Background()
	conn := connected(ctx)
	defer conn.Close()
	if _, err := conn.Authenticate(ctx, &acp.AuthenticateRequest{MethodID: "browser"}); err != nil {
		log.Fatal(err)
	}
	session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/work"})
	if err != nil {
		log.Fatal(err)
	}
	text, err := session.Prompt(ctx, acp.Text("Hi")).Text()
	fmt.Println(text, err)
	// Output: Hello, world. <nil>
}

// A method that the agent does not advertise is refused, and nothing is sent.
func ExampleConn_ListSessions() {
	ctx := context.Background()
	conn := connected(ctx)
	defer conn.Close()
	_, err := conn.ListSessions(ctx, nil)
	fmt.Println(err)
	// Output: acp: session/list: peer does not advertise sessionCapabilities.list
}
