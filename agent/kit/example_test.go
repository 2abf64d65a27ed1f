package kit_test

import (
	"context"
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
)

// printer is a client that prints what the agent says.
type printer struct{}

func (printer) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	if u, ok := n.Update.(*acp.AgentMessageChunk); ok {
		fmt.Println(acp.PlainText(u.Content))
	}
	return nil
}

func (printer) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return &acp.RequestPermissionResponse{Outcome: &acp.CancelledPermissionOutcome{}}, nil
}

// An agent whose sessions can be loaded again, with one mode more than it needs.
func Example() {
	a := kit.New(&kit.Options{
		Info:  acp.Implementation{Name: "polite", Version: "1"},
		Modes: kit.Modes{{ID: "polite", Name: "Polite"}, {ID: "terse", Name: "Terse"}},
		Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
			if s.Mode() == "polite" {
				if err := s.Text(ctx, "Thank you. "); err != nil {
					return "", err
				}
			}
			return "", s.Text(ctx, "Done.")
		},
	})

	ours, theirs := stream.Pipe()
	served := make(chan error)
	go func() { served <- a.Serve(context.Background(), theirs) }()
	ctx := context.Background()
	conn, err := client.Connect(ctx, ours, func(*client.Conn) acp.Client { return printer{} }, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := conn.NewSession(ctx, &acp.NewSessionRequest{Cwd: "/tmp"})
	if err == nil {
		_, err = conn.SetSessionMode(ctx, &acp.SetSessionModeRequest{SessionID: s.SessionID, ModeID: "terse"})
	}
	if err == nil {
		_, err = conn.Prompt(ctx, &acp.PromptRequest{SessionID: s.SessionID, Prompt: []acp.ContentBlock{acp.Text("Tidy up.")}})
	}
	fmt.Println(err, conn.Close(), <-served)
	// Output:
	// Done.
	// <nil> <nil> <nil>
}
