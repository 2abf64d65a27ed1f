package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// proxy returns the client's end of a proxy. The test plays the agent.
func proxy(t *testing.T, unstable bool, newAgent func(*agent.Conn) acp.Agent, opts *client.Options) (*client.Conn, *recording) {
	t.Helper()
	edit, up := stream.Pipe()
	down, real := stream.Pipe()
	rawpeer.Start(t, agent.New(real, newAgent, &agent.Options{Unstable: true, IgnoreCapabilities: true}))
	forwarding(t, up, down, itself, &agent.Options{Unstable: unstable})
	editor := &recording{}
	return rawpeer.Start(t, client.New(edit, func(*client.Conn) acp.Client { return editor }, opts)), editor
}

// forwarding starts a proxy between two streams. Its agent is what serve returns for the connection to the
// agent below.
func forwarding(t *testing.T, up, down stream.Stream, serve func(below *client.Conn) acp.Agent, opts *agent.Options) {
	t.Helper()
	var below *client.Conn
	above := agent.New(up, func(above *agent.Conn) acp.Agent {
		below = client.New(down, func(*client.Conn) acp.Client { return above }, &client.Options{Unstable: opts != nil && opts.Unstable})
		return serve(below)
	}, opts)
	rawpeer.Start(t, below)
	rawpeer.Start(t, above)
}

func itself(below *client.Conn) acp.Agent { return below }

// recording is a client with files and extensions.
type recording struct {
	peertest.Client
	notes []string
}

func (*recording) ReadTextFile(_ context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	if req.Path == "/missing" {
		return nil, rpcerr.ResourceNotFound(req.Path)
	}
	return &acp.ReadTextFileResponse{Content: "hello"}, nil
}

func (*recording) HandleExtension(_ context.Context, method string, params json.RawMessage) (any, error) {
	return map[string]any{"method": method, "params": params}, nil
}

func (r *recording) HandleExtensionNotification(_ context.Context, method string, params json.RawMessage) error {
	r.notes = append(r.notes, method+string(params))
	return nil
}

// far is the agent at the other end of the proxy.
type far struct {
	peertest.Agent
	conn *agent.Conn
}

func (f *far) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	switch method {
	case "_echo", "plain/echo":
		return params, nil
	case "_ask": // send a request to the client through the proxy
		var answer json.RawMessage
		err := f.conn.Call(ctx, "_client", params, &answer)
		return answer, err
	}
	if method == "_note" {
		return nil, f.conn.Notify(ctx, "_progress", map[string]int{"n": 1})
	}
	return nil, rpcerr.MethodNotFound(method)
}

func (f *far) ForkSession(context.Context, *acp.ForkSessionRequest) (*acp.ForkSessionResponse, error) {
	return &acp.ForkSessionResponse{SessionID: "s9"}, nil
}

func newFar(onPrompt func(context.Context, *agent.Session) (*acp.PromptResponse, error)) func(*agent.Conn) acp.Agent {
	return func(c *agent.Conn) acp.Agent {
		f := &far{conn: c}
		f.OnPrompt = func(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
			return onPrompt(ctx, c.Session(req.SessionID))
		}
		f.OnInitialize = func(_ context.Context, req *acp.InitializeRequest) (*acp.InitializeResponse, error) {
			if req.ProtocolVersion > acp.ProtocolVersion {
				return nil, rpcerr.UnsupportedProtocolVersion(int(req.ProtocolVersion), acp.ProtocolVersion)
			}
			return nil, nil
		}
		return f
	}
}

func TestProxyCarriesAConversation(t *testing.T) {
	leak.Check(t)
	c, editor := proxy(t, true, newFar(func(ctx context.Context, s *agent.Session) (*acp.PromptResponse, error) {
		got, err := s.ReadFile(ctx, "/x")
		if err != nil {
			return nil, err
		}
		_, missing := s.ReadFile(ctx, "/missing")
		assert.ErrorIs(t, missing, rpcerr.ErrResourceNotFound)
		_, err = s.AskPermission(ctx, &acp.ToolCallUpdate{ToolCallID: "c1"})
		assert.NoError(t, err)
		s.Message(ctx, got)
		return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
	}), &client.Options{Unstable: true})

	res, err := c.Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: 99})
	require.NoError(t, err)
	assert.NotNil(t, res.AgentCapabilities.SessionCapabilities.Fork, "bits pass through")
	s, err := c.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
	require.NoError(t, err)
	got, err := s.Prompt(t.Context(), acp.Text("go")).Text()
	require.NoError(t, err)
	assert.Equal(t, "hello", got)
	assert.Equal(t, []string{"hello"}, editor.Texts())
	fork, err := c.StartForkedSession(t.Context(), &acp.ForkSessionRequest{SessionID: "s1", Cwd: "/"})
	require.NoError(t, err)
	assert.Equal(t, acp.SessionID("s9"), fork.ID())
}

func TestProxyForwardsExtensions(t *testing.T) {
	leak.Check(t)
	c, editor := proxy(t, true, newFar(func(ctx context.Context, s *agent.Session) (*acp.PromptResponse, error) {
		return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, nil
	}), nil)
	_, err := c.Initialize(t.Context(), nil)
	require.NoError(t, err)
	var got json.RawMessage
	require.NoError(t, c.Call(t.Context(), "_echo", map[string]int{"n": 1}, &got))
	assert.JSONEq(t, `{"n":1}`, string(got))
	var asked struct{ Method string }
	require.NoError(t, c.Call(t.Context(), "_ask", json.RawMessage(`{"n":2}`), &asked))
	assert.Equal(t, "_client", asked.Method)
	err = c.Call(t.Context(), "_unknown", nil, nil)
	require.ErrorIs(t, err, rpcerr.ErrMethodNotFound)
	plain, err := c.HandleExtension(t.Context(), "plain/echo", json.RawMessage(`[1]`))
	require.NoError(t, err)
	assert.Equal(t, json.RawMessage(`[1]`), plain, "names without underscore pass")
	require.NoError(t, c.Call(t.Context(), "_note", nil, nil)) // the agent sends a notification before its response
	assert.Equal(t, []string{`_progress{"n":1}`}, editor.notes)
}

func TestProxyWithoutTheUnstableOption(t *testing.T) {
	c, _ := proxy(t, false, newFar(nil), &client.Options{Unstable: true})
	_, err := c.Initialize(t.Context(), nil)
	require.NoError(t, err)
	_, err = c.ForkSession(t.Context(), &acp.ForkSessionRequest{SessionID: "s1", Cwd: "/"})
	require.ErrorIs(t, err, rpcerr.ErrMethodNotFound)
}

func TestProxyCarriesACancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		c, editor := proxy(t, true, newFar(func(ctx context.Context, s *agent.Session) (*acp.PromptResponse, error) {
			<-ctx.Done()
			s.Message(ctx, "stopping")
			return nil, ctx.Err()
		}), nil)
		_, err := c.Initialize(t.Context(), nil)
		require.NoError(t, err)
		s, err := c.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
		require.NoError(t, err)
		turn := s.Prompt(t.Context(), acp.Text("go"))
		synctest.Wait()
		require.NoError(t, turn.Cancel(t.Context()))
		res, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonCancelled, res.StopReason)
		assert.Equal(t, []string{"stopping"}, editor.Texts())
	})
}

// An agent that embeds its connection would return the client's extension requests to it, and
// a client those of the agent. Start refuses both, wrapped or not.
func TestEmbeddedConnIsRefused(t *testing.T) {
	type embeddingAgent struct {
		peertest.Agent
		*agent.Conn
	}
	type embeddingClient struct {
		peertest.Client
		*client.Conn
	}
	as, cs := stream.Pipe()
	for _, wrapped := range []bool{false, true} {
		a := agent.New(as, func(c *agent.Conn) acp.Agent {
			if wrapped {
				return acp.AgentWrapper{Agent: &embeddingAgent{Conn: c}}
			}
			return &embeddingAgent{Conn: c}
		}, nil)
		assert.ErrorContains(t, a.Start(t.Context()), "embeddingAgent embeds the *agent.Conn")
		c := client.New(cs, func(c *client.Conn) acp.Client {
			if wrapped {
				return acp.ClientWrapper{Client: &embeddingClient{Conn: c}}
			}
			return &embeddingClient{Conn: c}
		}, nil)
		assert.ErrorContains(t, c.Start(t.Context()), "embeddingClient embeds the *client.Conn")
	}
}

// The error for another version contains the versions of the two ends, not that of the proxy
// between them.
func TestVersionErrorThroughAProxy(t *testing.T) {
	for _, tt := range []struct {
		name            string
		asked, answered int
		want            string
	}{
		{"older client", 1, 7, `{"requested":1,"supported":[7]}`},
		{"newer client", 9, 7, `{"requested":9,"supported":[7]}`},
		{"only the proxy is older", 7, 7, `{"requested":7,"supported":[]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			edit, up := stream.Pipe()
			down, far := rawpeer.Pipe(t)
			forwarding(t, up, down, itself, nil)
			conn := rawpeer.Start(t, client.New(edit, func(*client.Conn) acp.Client { return &recording{} }, nil))
			go func() { // ends with the response
				far.Answer(far.Expect("initialize"), fmt.Sprintf(`{"protocolVersion":%d}`, tt.answered))
			}()
			_, err := conn.Initialize(t.Context(), &acp.InitializeRequest{ProtocolVersion: uint16(tt.asked)})
			var refused *rpcerr.RequestError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, rpcerr.CodeUnsupportedProtocolVersion, refused.Code)
			assert.JSONEq(t, tt.want, string(refused.Data.(json.RawMessage)))
		})
	}
}

// field is an agent that passes requests on over the connection in a field.
type field struct{ below *client.Conn }

func (f field) Initialize(ctx context.Context, r *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return f.below.Initialize(ctx, r)
}

func (f field) NewSession(ctx context.Context, r *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return f.below.NewSession(ctx, r)
}

func (f field) Prompt(ctx context.Context, r *acp.PromptRequest) (*acp.PromptResponse, error) {
	return f.below.Prompt(ctx, r)
}

func (f field) Cancel(ctx context.Context, r *acp.CancelNotification) error {
	return f.below.Cancel(ctx, r)
}

// A typed proxy keeps the order of messages. An update directly after the response to session/new
// does not overtake it, because the client would not know the session. A session/cancel directly
// after a permission response does not overtake that.
func TestProxyKeepsResponsesInTheirOrder(t *testing.T) {
	for name, proxy := range map[string]struct {
		agent func(*client.Conn) acp.Agent
		opts  *agent.Options
	}{
		"a connection":              {itself, nil},
		"a connection in a field":   {func(c *client.Conn) acp.Agent { return field{c} }, &agent.Options{Relay: true}},
		"an embedded connection":    {func(c *client.Conn) acp.Agent { return struct{ *client.Conn }{c} }, nil},
		"a connection in a wrapper": {func(c *client.Conn) acp.Agent { return struct{ acp.AgentWrapper }{acp.AgentWrapper{Agent: c}} }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			leak.Check(t)
			editor, up := stream.Pipe()
			down, far := stream.Pipe()
			forwarding(t, up, down, proxy.agent, proxy.opts)
			write := func(s stream.Stream, format string, args ...any) {
				require.NoError(t, s.Write(fmt.Appendf(nil, format, args...)))
			}
			read := func(s stream.Stream) (m struct {
				ID     json.RawMessage
				Method string
			}) {
				b, err := s.Read()
				require.NoError(t, err)
				require.NoError(t, json.Unmarshal(b, &m))
				return m
			}
			write(editor, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
			write(far, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1}}`, read(far).ID)
			read(editor)
			const runs = 5000
			updates, cancels := 0, 0
			for n := range runs {
				write(editor, `{"jsonrpc":"2.0","id":%d,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`, n)
				write(far, `{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s%d"}}`, read(far).ID, n)
				write(far, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s%d","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}}`, n)
				if read(editor).Method != "" {
					updates++
				}
				read(editor)
				write(far, `{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":"s%d","toolCall":{"toolCallId":"c"},"options":[]}}`, n, n)
				write(editor, `{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"cancelled"}}}`, read(editor).ID)
				write(editor, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s%d"}}`, n)
				if read(far).Method != "" {
					cancels++
				}
				read(far)
			}
			assert.Zero(t, updates, "before their response, of %d", runs)
			assert.Zero(t, cancels, "before the permission response, of %d", runs)
		})
	}
}
