package connect_test

import (
	"context"
	"fmt"

	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/thread"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/draft2/connect"
	"github.com/acpkit/go-sdk/stream"
)

// A user interface works with agents of both versions. This agent is one of version 2 in the same
// process. A program passes stream.CommandDial and the command of any agent.
func Example() {
	ctx := context.Background()
	dial := func(context.Context) (stream.Stream, error) {
		near, far := stream.Pipe()
		// Serve ends with the connection.
		go agent2.Serve(ctx, far, newTestAgentV2, nil)
		return near, nil
	}
	policy := permission.New(&permission.Options{Ask: func(_ context.Context, q *permission.Question) (string, error) {
		fmt.Println("May the agent do this?", q.Title)
		return q.Pick(permission.AllowOnce), nil
	}})
	conn, err := connect.Connect(ctx, dial, &connect.Options{Permission: policy})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	session, err := conn.StartSession(ctx, &connect.SessionParams{Cwd: "/work"})
	if err != nil {
		fmt.Println(err)
		return
	}
	turn, err := session.Prompt(ctx, connect.Text("Change the file.")).Wait()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, item := range session.Thread().Snapshot().Items.All() {
		switch item := item.(type) {
		case *thread.Message:
			fmt.Printf("%s: %s\n", item.Role, item.Text())
		case *thread.ToolCall:
			fmt.Printf("%s: %s\n", item.Title, item.Status)
		}
	}
	fmt.Println(turn.StopReason)
	// Output:
	// May the agent do this? Write
	// user: Change the file.
	// Write: completed
	// agent: Done.
	// end_turn
}
