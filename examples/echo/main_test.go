package main

import (
	"context"
	"testing"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
)

// user is a client that shows nothing and allows nothing.
type user struct{}

func (user) SessionUpdate(context.Context, *acp.SessionNotification) error { return nil }

func (user) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return acp.Cancelled(), nil
}

func TestEcho(t *testing.T) {
	agentSide, clientSide := stream.Pipe()
	served := make(chan error, 1)
	go func() { // ends when the client closes its end
		served <- agent.Serve(t.Context(), agentSide, func(c *agent.Conn) acp.Agent { return echo{c} }, nil)
	}()
	conn, err := client.Connect(t.Context(), clientSide, func(*client.Conn) acp.Client { return user{} }, nil)
	if err != nil {
		t.Fatal(err)
	}
	session, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	text, err := session.Prompt(t.Context(), acp.Text("hello")).Text()
	if text != "You said: hello" || err != nil {
		t.Errorf("the agent responded %q, %v", text, err)
	}
	conn.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
