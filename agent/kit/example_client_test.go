package kit_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
)

// terminal is the client of the examples. It allows every tool call, and prints what it receives.
type terminal struct {
	message acp.MessageID // the message that line belongs to
	line    string
}

func (c *terminal) chunk(id acp.MessageID, who string, content acp.ContentBlock) {
	if id != c.message || c.line == "" {
		c.flush()
		c.message, c.line = id, who
	}
	c.line += acp.PlainText(content)
}

func (c *terminal) flush() {
	if c.line != "" {
		fmt.Println(c.line)
	}
	c.line = ""
}

func (c *terminal) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	switch u := n.Update.(type) {
	case *acp.UserMessageChunk:
		c.chunk(u.MessageID, "user: ", u.Content)
	case *acp.AgentMessageChunk:
		c.chunk(u.MessageID, "agent: ", u.Content)
	case *acp.AgentThoughtChunk:
		c.chunk(u.MessageID, "thought: ", u.Content)
	case *acp.Plan:
		c.flush()
		var steps []string
		for _, e := range u.Entries {
			steps = append(steps, e.Content)
		}
		fmt.Println("plan:", strings.Join(steps, ", "))
	case *acp.ToolCall:
		c.flush()
		fmt.Println("call:", u.Title, u.Status)
	case *acp.ToolCallUpdate:
		if u.Status != "" {
			fmt.Println("call:", u.Status)
		}
	}
	return nil
}

func (c *terminal) RequestPermission(_ context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	fmt.Println("may it?", req.ToolCall.Title)
	return acp.SelectKind(req.Options, acp.PermissionOptionKindAllowOnce), nil
}

// use calls f with a client that is connected to the agent.
func use(a *kit.Agent, f func(ctx context.Context, conn *client.Conn, c *terminal) error) {
	ctx, c := context.Background(), new(terminal)
	ours, theirs := stream.Pipe()
	served := make(chan error, 1)
	go func() { served <- a.Serve(ctx, theirs) }() // ends with the connection
	conn, err := client.Connect(ctx, ours, func(*client.Conn) acp.Client { return c }, &client.Options{Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = f(ctx, conn, c)
		conn.Close()
	}
	if err != nil {
		fmt.Println(err)
	}
	<-served
}

// talk sends prompts in a new session.
func talk(a *kit.Agent, prompts ...string) {
	use(a, func(ctx context.Context, conn *client.Conn, c *terminal) error {
		dir, err := os.MkdirTemp("", "example")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		s, err := conn.NewSession(ctx, &acp.NewSessionRequest{Cwd: dir})
		for _, text := range prompts {
			if err != nil {
				return err
			}
			fmt.Println("user:", text)
			_, err = conn.Prompt(ctx, &acp.PromptRequest{SessionID: s.SessionID, Prompt: []acp.ContentBlock{acp.Text(text)}})
			c.flush()
		}
		return err
	})
}

// load loads the last session, and removes the store.
func load(a *kit.Agent) {
	use(a, func(ctx context.Context, conn *client.Conn, c *terminal) error {
		list, err := conn.ListSessions(ctx, &acp.ListSessionsRequest{})
		if err != nil {
			return err
		}
		last := list.Sessions[0]
		fmt.Println("loaded:", last.Title)
		_, err = conn.LoadSession(ctx, &acp.LoadSessionRequest{SessionID: last.SessionID, Cwd: last.Cwd})
		c.flush()
		return errors.Join(err, a.Close(ctx), os.RemoveAll(stateFolder()))
	})
}

// stateFolder returns where the store of the examples is.
func stateFolder() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("acpkit-example-%d", os.Getpid()))
}
