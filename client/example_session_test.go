package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"path/filepath"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// assistant is an example agent. It repeats its prompt. If the prompt tells it to wait, it waits
// for a cancel.
type assistant struct{ conn *agent.Conn }

func (assistant) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{}, nil
}

func (assistant) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "s1", Modes: &acp.SessionModeState{
		CurrentModeID:  "ask",
		AvailableModes: []acp.SessionMode{{ID: "ask", Name: "Ask first"}, {ID: "auto", Name: "Just do it"}},
	}}, nil
}

func (a assistant) LoadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	if req.SessionID != "s1" {
		return nil, rpcerr.SessionNotFound(string(req.SessionID))
	}
	s := a.conn.Session(req.SessionID)
	s.UserMessage(ctx, "Hi")
	s.Message(ctx, "Hello.")
	return nil, nil
}

func (assistant) SetSessionMode(context.Context, *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	return nil, nil
}

func (a assistant) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	s := a.conn.Session(req.SessionID)
	switch text := acp.PlainText(req.Prompt...); text {
	case "wait":
		s.Message(ctx, "Working ...")
		<-ctx.Done()
		s.Message(ctx, " stopped.")
		return nil, ctx.Err() // the stop reason in the response is still "cancelled"
	case "read":
		content, err := s.ReadFile(ctx, req.Meta["path"].(string))
		if err != nil {
			return nil, err
		}
		s.Message(ctx, content)
	default:
		s.Message(ctx, text)
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
}

func (assistant) Cancel(context.Context, *acp.CancelNotification) error { return nil }

func (assistant) HandleExtension(_ context.Context, method string, params json.RawMessage) (any, error) {
	if method != "_example.com/count" {
		return nil, rpcerr.MethodNotFound(method)
	}
	return map[string]int{"bytes": len(params)}, nil
}

// meet connects a client with the assistant. For a child process, use client.Connect(ctx, process,
// ...) with a process of stream.Command.
func meet(c acp.Client, opts *client.Options) *client.Conn {
	ctx := context.Background()
	agentSide, clientSide := stream.Pipe()
	go agent.Serve(ctx, agentSide, func(c *agent.Conn) acp.Agent { return assistant{c} }, nil) // ends with the connection
	conn, err := client.Connect(ctx, clientSide, func(*client.Conn) acp.Client { return c }, opts)
	if err != nil {
		log.Fatal(err)
	}
	return conn
}

// reader is a client that lets the agent read files below one folder.
type reader struct{ root *os.Root }

func (reader) SessionUpdate(context.Context, *acp.SessionNotification) error { return nil }

func (reader) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return acp.Cancelled(), nil
}

func (r reader) ReadTextFile(_ context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	name, err := filepath.Rel(r.root.Name(), req.Path)
	if err != nil {
		return nil, rpcerr.ResourceNotFound(req.Path).WithCause(err)
	}
	f, err := r.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, rpcerr.ResourceNotFound(req.Path).WithCause(err)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	return &acp.ReadTextFileResponse{Content: string(text)}, err
}

// The ctx of a prompt ends the turn: the client sends session/cancel, the remaining updates arrive,
// and Prompt returns the response.
func ExampleSession_Prompt_cancel() {
	conn := meet(reader{}, nil)
	defer conn.Close()
	session, err := conn.StartSession(context.Background(), &acp.NewSessionRequest{Cwd: "/work"})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	turn := session.Prompt(ctx, acp.Text("wait"))
	for u, err := range turn.Updates() {
		if err != nil {
			log.Fatal(err)
		}
		if chunk, ok := u.(*acp.AgentMessageChunk); ok {
			fmt.Print(acp.PlainText(chunk.Content))
			cancel() // the user pressed Escape
		}
	}
	res, err := turn.Wait()
	fmt.Printf("\n%s, %v\n", res.StopReason, err)
	// Output:
	// Working ... stopped.
	// cancelled, <nil>
}

// The history of a stored session arrives before StartLoadedSession returns.
func ExampleConn_StartLoadedSession() {
	conn := meet(reader{}, nil)
	defer conn.Close()
	ctx := context.Background()
	session, err := conn.StartLoadedSession(ctx, &acp.LoadSessionRequest{SessionID: "s1", Cwd: "/work"},
		func(_ context.Context, u acp.SessionUpdate) {
			switch u := u.(type) {
			case *acp.UserMessageChunk:
				fmt.Println("user: ", acp.PlainText(u.Content))
			case *acp.AgentMessageChunk:
				fmt.Println("agent:", acp.PlainText(u.Content))
			}
		})
	if err != nil {
		log.Fatal(err)
	}
	text, err := session.Prompt(ctx, acp.Text("And now?")).Text()
	fmt.Println("turn: ", text, err)
	// Output:
	// user:  Hi
	// agent: Hello.
	// turn:  And now? <nil>
}

// Match errors of the agent by their code, however they are wrapped. Match errors of this end with
// the errors of package acp.
func ExampleConn_StartLoadedSession_errors() {
	conn := meet(reader{}, nil)
	defer conn.Close()
	ctx := context.Background()
	_, err := conn.StartLoadedSession(ctx, &acp.LoadSessionRequest{SessionID: "gone", Cwd: "/work"}, nil)
	switch {
	case errors.Is(err, rpcerr.ErrAuthRequired):
		fmt.Println("sign in first")
	case errors.Is(err, rpcerr.ErrSessionNotFound):
		fmt.Println("start a new session:", err)
	case errors.Is(err, acp.ErrClosed):
		fmt.Println("the agent is gone:", err)
	}
	_, err = conn.StartLoadedSession(ctx, &acp.LoadSessionRequest{SessionID: "s1", Cwd: "work"}, nil)
	if invalid, ok := errors.AsType[*acp.InvalidError](err); ok {
		fmt.Println("nothing was sent:", invalid.Where)
	}
	_, err = conn.ListSessions(ctx, nil)
	if _, ok := errors.AsType[*acp.CapabilityError](err); ok {
		fmt.Println("this agent keeps no list of sessions")
	}
	// Output:
	// start a new session: Session not found: gone (-32002)
	// nothing was sent: session/load params
	// this agent keeps no list of sessions
}

// The current mode follows the updates of the agent.
func ExampleSession_SetMode() {
	conn := meet(reader{}, nil)
	defer conn.Close()
	ctx := context.Background()
	session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/work"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(session.Modes().CurrentModeID)
	if err := session.SetMode(ctx, "auto"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(session.Modes().CurrentModeID)
	// Output:
	// ask
	// auto
}

// A client that implements [acp.TextFileReader] lets the agent read files, and advertises that
// capability.
func ExampleCapabilities() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(path, []byte("buy milk"), 0o600); err != nil {
		log.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer root.Close()

	fmt.Println(client.Capabilities(reader{root}).Has("fs.readTextFile"))
	conn := meet(reader{root}, nil)
	defer conn.Close()
	ctx := context.Background()
	if _, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: dir}); err != nil {
		log.Fatal(err)
	}
	_, err = conn.Prompt(ctx, &acp.PromptRequest{SessionID: "s1", Prompt: []acp.ContentBlock{acp.Text("read")}, Meta: acp.Meta{"path": path}})
	fmt.Println(err)
	// Output:
	// true
	// <nil>
}

// A client calls an extension of the agent by name.
func ExampleConn_Call() {
	conn := meet(reader{}, nil)
	defer conn.Close()
	ctx := context.Background()
	var result struct{ Bytes int }
	err := conn.Call(ctx, "_example.com/count", map[string]string{"text": "hello"}, &result)
	fmt.Println(result.Bytes, err)
	err = conn.Call(ctx, "_example.com/other", nil, nil)
	fmt.Println(errors.Is(err, rpcerr.ErrMethodNotFound))
	// Output:
	// 16 <nil>
	// true
}

// readOnly is a middleware for messages to the agent. It puts a rule in front of each prompt.
func readOnly(next acp.Handler) acp.Handler {
	return func(ctx context.Context, method string, params any) (any, error) {
		if req, ok := params.(*acp.PromptRequest); ok {
			changed := *req // do not change the request of the caller
			changed.Prompt = append([]acp.ContentBlock{acp.Text("Do not change files. ")}, req.Prompt...)
			params = &changed
		}
		return next(ctx, method, params)
	}
}

// A middleware can change what is sent.
func ExampleOptions() {
	conn := meet(reader{}, &client.Options{Sending: []acp.Middleware{readOnly}})
	defer conn.Close()
	ctx := context.Background()
	session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/work"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(session.Prompt(ctx, acp.Text("Find the bug.")).Text())
	// Output: Do not change files. Find the bug. <nil>
}

// logged returns a middleware that prints the method of each message.
func logged(direction string) acp.Middleware {
	return peertest.Around(func(ctx context.Context, method string, params any, next acp.Handler) (any, error) {
		fmt.Println(direction, method)
		return next(ctx, method, params)
	})
}

// A proxy consists of two connections: each is the agent or the client of the other.
func ExampleNew_proxy() {
	ctx := context.Background()
	agentSide, below := stream.Pipe()
	above, clientSide := stream.Pipe()
	go agent.Serve(ctx, agentSide, func(c *agent.Conn) acp.Agent { return assistant{c} }, nil) // ends with the proxy

	var down *client.Conn
	up := agent.New(above, func(up *agent.Conn) acp.Agent {
		down = client.New(below, func(*client.Conn) acp.Client { return up }, nil)
		return down
	}, &agent.Options{Receiving: []acp.Middleware{logged("to the agent:")}, Sending: []acp.Middleware{logged("to the client:")}})
	if err := down.Start(ctx); err != nil {
		log.Fatal(err)
	}
	defer down.Close()
	if err := up.Start(ctx); err != nil {
		log.Fatal(err)
	}

	conn, err := client.Connect(ctx, clientSide, func(*client.Conn) acp.Client { return reader{} }, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/work"})
	if err != nil {
		log.Fatal(err)
	}
	text, err := session.Prompt(ctx, acp.Text("Hi")).Text()
	fmt.Println(text, err)
	// Output:
	// to the agent: initialize
	// to the agent: session/new
	// to the agent: session/prompt
	// to the client: session/update
	// Hi <nil>
}
