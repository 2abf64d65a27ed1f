package agent_test

import (
	"context"
	"fmt"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// The name of an extension begins with an underscore. The client handles it with an
// [acp.ExtensionHandler].
func ExampleConn_Call() {
	session, end := meet(func(c *agent.Conn) acp.Agent {
		return promptFunc{base{c}, func(ctx context.Context, s *agent.Session) error {
			var result struct{ Method, Got string }
			err := c.Call(ctx, "_example.com/open", map[string]string{"tab": "tests"}, &result)
			if code, ok := rpcerr.CodeOf(err); ok && code == rpcerr.CodeMethodNotFound {
				return s.Message(ctx, "this client has no tabs")
			}
			if err != nil {
				return err
			}
			return s.Message(ctx, result.Method+" "+result.Got)
		}}
	}, nil)
	defer end()
	session.Prompt(context.Background(), acp.Text("go")).Wait()
	// Output: message: _example.com/open {"tab":"tests"}
}

// timing is a middleware that measures how long each message is handled.
func timing(next acp.Handler) acp.Handler {
	return func(ctx context.Context, method string, params any) (any, error) {
		start := time.Now()
		result, err := next(ctx, method, params)
		_ = time.Since(start) // record it in a histogram
		fmt.Printf("%s (%T): %v\n", method, params, err)
		return result, err
	}
}

// A middleware sees every message that arrives, with typed params.
func ExampleOptions() {
	session, end := meet(func(c *agent.Conn) acp.Agent {
		return promptFunc{base{c}, func(ctx context.Context, s *agent.Session) error { return nil }}
	}, &agent.Options{Receiving: []acp.Middleware{timing}})
	session.Prompt(context.Background(), acp.Text("go")).Wait()
	end()
	// Output:
	// initialize (*acp.InitializeRequest): <nil>
	// session/new (*acp.NewSessionRequest): <nil>
	// session/prompt (*acp.PromptRequest): <nil>
}

// worker has modes and slash commands. An update of a session must follow the response that
// contains its id.
type worker struct{ promptFunc }

func (w worker) NewSession(ctx context.Context, _ *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	agent.AfterResponse(ctx, func(ctx context.Context) {
		w.conn.Session("s1").SetCommands(ctx, acp.AvailableCommand{Name: "test", Description: "Run the tests"})
	})
	return &acp.NewSessionResponse{SessionID: "s1", Modes: &acp.SessionModeState{
		CurrentModeID:  "ask",
		AvailableModes: []acp.SessionMode{{ID: "ask", Name: "Ask first"}, {ID: "auto", Name: "Just do it"}},
	}}, nil
}

func (w worker) SetSessionMode(_ context.Context, req *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	if req.ModeID != "ask" && req.ModeID != "auto" {
		return nil, rpcerr.InvalidParams(nil).WithDetail("there is no mode " + string(req.ModeID))
	}
	return &acp.SetSessionModeResponse{}, nil
}

// The agent sends its commands after the response to session/new. It may also change the mode
// itself.
func ExampleAfterResponse() {
	session, end := meet(func(c *agent.Conn) acp.Agent {
		return worker{promptFunc{base{c}, func(ctx context.Context, s *agent.Session) error { return s.SetMode(ctx, "ask") }}}
	}, nil)
	ctx := context.Background()
	announced := make(chan struct{})
	session.OnUpdate(func(context.Context, acp.SessionUpdate) { close(announced) })
	<-announced
	fmt.Println("set:", session.SetMode(ctx, "auto"))
	session.Prompt(ctx, acp.Text("go")).Wait()
	fmt.Println("set:", session.SetMode(ctx, "fast"))
	end()
	// Output:
	// commands: test
	// set: <nil>
	// mode: ask
	// set: Invalid params: there is no mode fast (-32602)
}

// filter passes requests on to the agent in its field.
type filter struct{ acp.Agent }

func (f filter) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	req.Prompt = append(req.Prompt, acp.Text("Answer in one sentence."))
	return f.Agent.Prompt(ctx, req)
}

func ExampleOptions_relay() {
	serve := func(ctx context.Context, below *client.Conn) error {
		opts := &agent.Options{Relay: true}
		return agent.Serve(ctx, stream.Stdio(), func(*agent.Conn) acp.Agent { return filter{below} }, opts)
	}
	_ = serve // with a connection to another agent
}
