package host_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/stream"
)

// A host with one folder, terminals, and a user who is asked before anything is written or
// run.
func Example() {
	dir := project()
	defer os.RemoveAll(dir)
	h, err := host.Open(&host.Options{
		Roots:     []string{dir},
		Terminals: &terminals.Options{},
		Ask: func(_ context.Context, q *permission.Question) (string, error) {
			for _, line := range q.Lines() { // what is allowed, and nothing that the agent can fake
				fmt.Println(strings.ReplaceAll(line, dir+string(filepath.Separator), ""))
			}
			for _, o := range q.Options {
				fmt.Println("-", o.Label) // o.Name is the agent's own name for the option
			}
			return q.Pick(permission.AllowOnce), nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close()
	ctx := context.Background()
	conn, err := client.Connect(ctx, startWriter(), h.Client, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: dir})
	if err != nil {
		log.Fatal(err)
	}
	text, err := session.Prompt(ctx, acp.Text("Write notes.txt")).Text()
	fmt.Println(text, err)
	// Output:
	// write notes.txt
	// - Allow once
	// - Always allow writing to notes.txt in this session
	// - Reject
	// - Always reject writing to notes.txt in this session
	// Written. <nil>
}

// startWriter returns the stream to an agent that writes one file in each turn.
func startWriter() stream.Stream {
	theirs, ours := stream.Pipe()
	a := &script{}
	a.turn = func(ctx context.Context, id acp.SessionID) error {
		s := a.Session(id)
		if err := s.WriteFile(ctx, filepath.Join(a.cwd, "notes.txt"), "done\n"); err != nil {
			return err
		}
		return s.Message(ctx, "Written.")
	}
	go agent.Serve(context.Background(), theirs, a.agent, nil) // ends with the connection
	return ours
}
