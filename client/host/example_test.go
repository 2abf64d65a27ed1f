package host_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/signin"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/stream"
)

// editor overrides one method of a host. It has all the others.
type editor struct {
	acp.ClientWrapper
	unsaved map[string]string
}

// ReadTextFile returns what the user has typed and not saved.
func (e *editor) ReadTextFile(ctx context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	if text, ok := e.unsaved[filepath.Base(req.Path)]; ok {
		return &acp.ReadTextFileResponse{Content: text}, nil
	}
	return e.ClientWrapper.ReadTextFile(ctx, req)
}

// A type that wraps the client of a host overrides its methods one by one, and keeps the
// others.
func ExampleHost_Client() {
	dir := project()
	defer os.RemoveAll(dir)
	h, err := host.Open(&host.Options{Roots: []string{dir}})
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close()
	newClient := func(c *client.Conn) acp.Client {
		return &editor{acp.ClientWrapper{Client: h.Client(c)}, map[string]string{"draft.txt": "not saved yet"}}
	}
	readBoth(dir, newClient, nil)
	// Output:
	// draft.txt: not saved yet
	// saved.txt: saved
}

// A middleware overrides a method without a type: it may respond itself, or change what
// passes.
func ExampleHost_Client_middleware() {
	dir := project()
	defer os.RemoveAll(dir)
	h, err := host.Open(&host.Options{Roots: []string{dir}})
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close()
	unsaved := peertest.Around(func(ctx context.Context, method string, params any, next acp.Handler) (any, error) {
		if req, ok := params.(*acp.ReadTextFileRequest); ok && filepath.Base(req.Path) == "draft.txt" {
			return &acp.ReadTextFileResponse{Content: "not saved yet"}, nil
		}
		return next(ctx, method, params)
	})
	readBoth(dir, h.Client, &client.Options{Receiving: []acp.Middleware{unsaved}})
	// Output:
	// draft.txt: not saved yet
	// saved.txt: saved
}

// A program that starts agents signs its user in wherever an agent asks for it.
func ExampleHost_SignIn() {
	h, err := host.Open(&host.Options{SignIn: &signin.Options{
		Choose: func(_ context.Context, _ error, ways []signin.Way) (acp.AuthMethodID, error) {
			fmt.Println("signing in with", ways[0].Name)
			return ways[0].ID, nil
		},
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close()
	ctx := context.Background()
	newAgent := func(*agent.Conn) acp.Agent { return &locked{methods: []acp.AuthMethod{method("browser")}} }
	conn := connect(newAgent, h.Client, nil)
	defer conn.Close()
	session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/work"})
	if err != nil {
		log.Fatal(err)
	}
	err = h.SignIn(ctx, conn, func(ctx context.Context) error {
		_, err := session.Prompt(ctx, acp.Text("hello")).Wait()
		return err
	})
	if restart, ok := errors.AsType[*host.RestartError](err); ok {
		fmt.Println("start the agent again, with", restart.Env)
	}
	fmt.Println(err)
	// Output:
	// signing in with M
	// <nil>
}

func project() string {
	dir, err := os.MkdirTemp("", "project")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"draft.txt", "saved.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("saved"), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	return dir
}

// connect connects an agent that runs in this process.
func connect(newAgent func(*agent.Conn) acp.Agent, newClient func(*client.Conn) acp.Client, opts *client.Options) *client.Conn {
	theirs, ours := stream.Pipe()
	go agent.Serve(context.Background(), theirs, newAgent, &agent.Options{Logger: slog.New(slog.DiscardHandler)}) // ends with the connection
	conn, err := client.Connect(context.Background(), ours, newClient, opts)
	if err != nil {
		log.Fatal(err)
	}
	return conn
}

// readBoth runs an agent that reads two files and prints what it gets.
func readBoth(dir string, newClient func(*client.Conn) acp.Client, opts *client.Options) {
	a := &script{}
	a.turn = func(ctx context.Context, id acp.SessionID) error {
		for _, name := range []string{"draft.txt", "saved.txt"} {
			res, err := a.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: id, Path: filepath.Join(dir, name)})
			if err != nil {
				return err
			}
			fmt.Println(name+":", res.Content)
		}
		return nil
	}
	conn := connect(a.agent, newClient, opts)
	defer conn.Close()
	session, err := conn.StartSession(context.Background(), &acp.NewSessionRequest{Cwd: dir})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := session.Prompt(context.Background(), acp.Text("read")).Wait(); err != nil {
		log.Fatal(err)
	}
}
