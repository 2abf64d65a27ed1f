package workspace_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/agent/workspace"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/stream"
)

// fixer is an agent whose model always requests the same edit.
type fixer struct {
	conn *agent.Conn
	cwd  string
}

func (*fixer) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return nil, nil
}

func (f *fixer) NewSession(_ context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	f.cwd = req.Cwd
	return &acp.NewSessionResponse{SessionID: "s"}, nil
}

func (f *fixer) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	w, err := workspace.Open(f.conn, req.SessionID, []string{f.cwd}, nil)
	if err != nil {
		return nil, err
	}
	registry := tools.NewRegistry(workspace.Tools(w)...)
	session := f.conn.Session(req.SessionID)
	done, err := registry.Run(ctx, tools.Env{Session: session}, []tools.Request{
		{Name: "edit_file", Input: []byte(`{"path":"poem.txt","edits":[{"old":"rsoes","new":"roses"}]}`)},
	})
	if err != nil {
		return nil, err
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, session.Message(ctx, done[0].Model[0].Text)
}

func (*fixer) Cancel(context.Context, *acp.CancelNotification) error { return nil }

// The client reads and writes the file, and asks its user once.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	poem := filepath.Join(dir, "poem.txt")
	if err := os.WriteFile(poem, []byte("rsoes are red\r\n"), 0o644); err != nil {
		log.Fatal(err)
	}
	h, err := host.Open(&host.Options{
		Roots: []string{dir},
		Ask: func(_ context.Context, q *permission.Question) (string, error) {
			fmt.Printf("%s? %q\n", q.Title, *q.Tool.Diffs[0].NewText)
			return q.Pick(permission.AllowOnce), nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close()
	near, far := stream.Pipe()
	ctx := context.Background()
	ag := agent.New(far, func(c *agent.Conn) acp.Agent { return &fixer{conn: c} }, nil)
	if err := ag.Start(ctx); err != nil {
		log.Fatal(err)
	}
	conn, err := client.Connect(ctx, near, h.Client, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: dir})
	if err != nil {
		log.Fatal(err)
	}
	text, err := session.Prompt(ctx, acp.Text("fix the poem")).Text()
	if err != nil {
		log.Fatal(err)
	}
	now, err := os.ReadFile(poem)
	fmt.Printf("%s %q %v\n", text, now, err)
	// Output:
	// Edit poem.txt? "roses are red\r\n"
	// Wrote poem.txt. "roses are red\r\n" <nil>
}
