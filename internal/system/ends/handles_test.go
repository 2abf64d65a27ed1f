package ends_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	peertest2 "github.com/acpkit/go-sdk/internal/system/peertest/v2"
	"github.com/acpkit/go-sdk/stream"
)

// role is an optional interface: its methods, and the capabilities that need them.
type role struct {
	name    string
	methods []string
	bits    []string
}

// choice records what it is asked, and serves all methods that are not off.
type choice struct {
	off   []string
	asked map[string]int

	mu     sync.Mutex // guards called
	called map[string]bool
}

func (c *choice) Handles(method string) bool {
	c.asked[method]++
	return !slices.Contains(c.off, method)
}

// do records the calls of handlers.
func (c *choice) do(_ context.Context, method string, _ any) (any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.called[method] = true
	return nil, nil
}

func (c *choice) wasCalled(method string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.called[method]
}

// Values that have all methods and serve those that the choice allows.
type (
	choosyAgent struct {
		peertest.FullAgent
		*choice
	}
	choosyClient struct {
		peertest.FullClient
		*choice
	}
	choosyAgent2 struct {
		peertest2.FullAgent
		*choice
	}
	choosyClient2 struct {
		peertest2.FullClient
		*choice
	}
)

// side is a role in one version of the protocol.
type side struct {
	name     string
	roles    []role
	params   map[string]string // of requests
	baseline []string
	// start starts a connection of a value that has all methods, serves what c allows and
	// is wrapped if the test says so. It returns the peer and the capabilities that the peer
	// was sent.
	start func(t *testing.T, c *choice, wrapped bool) (peer *rawpeer.Peer, caps json.RawMessage, err error)
}

var sides = []side{
	{"agent of version 1", []role{
		{"Authenticator", []string{"authenticate"}, nil},
		{"LogoutHandler", []string{"logout"}, []string{"auth.logout"}},
		{"SessionLoader", []string{"session/load"}, []string{"loadSession"}},
		{"SessionResumer", []string{"session/resume"}, []string{"sessionCapabilities.resume"}},
		{"SessionLister", []string{"session/list"}, []string{"sessionCapabilities.list"}},
		{"SessionDeleter", []string{"session/delete"}, []string{"sessionCapabilities.delete"}},
		{"SessionCloser", []string{"session/close"}, []string{"sessionCapabilities.close"}},
		{"SessionModeSetter", []string{"session/set_mode"}, nil},
		{"SessionConfigOptionSetter", []string{"session/set_config_option"}, nil},
		{"ProviderManager", []string{"providers/list", "providers/set", "providers/disable"}, []string{"providers"}},
		{"SessionForker", []string{"session/fork"}, []string{"sessionCapabilities.fork"}},
		{"SessionArchiver", []string{"session/archive", "session/unarchive"}, []string{"sessionCapabilities.archive"}},
		{"SessionStatusReporter", []string{"session/status"}, []string{"sessionCapabilities.status"}},
		{"SessionOptionsReporter", []string{"session/options"}, []string{"sessionCapabilities.options"}},
		{"SessionTitleSetter", []string{"session/set_title"}, []string{"sessionCapabilities.title"}},
		{"AuthStatusReporter", []string{"auth/status"}, []string{"auth.status"}},
		{"MCPNotificationHandler", []string{"mcp/message"}, []string{"mcpCapabilities.acp"}},
	}, peertest.Params, []string{"initialize", "session/new", "session/prompt", "session/cancel"},
		func(t *testing.T, c *choice, wrapped bool) (*rawpeer.Peer, json.RawMessage, error) {
			var a acp.Agent = &choosyAgent{peertest.FullAgent{Do: c.do}, c}
			if wrapped {
				a = struct{ acp.AgentWrapper }{acp.AgentWrapper{Agent: a}}
			}
			s, peer := rawpeer.Pipe(t)
			conn := agent.New(s, func(*agent.Conn) acp.Agent { return a }, &agent.Options{Unstable: true})
			caps, err := startAgent(t, conn, peer, peertest.Params, "agentCapabilities")
			return peer, caps, err
		}},
	{"agent of version 2", []role{
		{"SessionConfigOptionSetter", []string{"session/set_config_option"}, nil},
		{"SessionDeleter", []string{"session/delete"}, []string{"session.delete"}},
		{"ToolCallCanceller", []string{"tool_call/cancel"}, nil},
		{"TerminalCanceller", []string{"terminal/cancel"}, nil},
		{"Authenticator", []string{"auth/login", "auth/logout"}, nil},
		{"ProviderManager", []string{"providers/list", "providers/set", "providers/disable"}, []string{"providers"}},
		{"SessionForker", []string{"session/fork"}, []string{"session.fork"}},
		{"SessionArchiver", []string{"session/archive", "session/unarchive"}, []string{"session.archive"}},
		{"SessionStatusReporter", []string{"session/status"}, []string{"session.status"}},
		{"SessionOptionsReporter", []string{"session/options"}, []string{"session.options"}},
		{"SessionTitleSetter", []string{"session/set_title"}, []string{"session.title"}},
		{"AuthStatusReporter", []string{"auth/status"}, []string{"auth.status"}},
		{"MCPNotificationHandler", []string{"mcp/message"}, []string{"session.mcp.acp"}},
	}, peertest2.Params, []string{"initialize", "session/new", "session/list", "session/resume", "session/close", "session/prompt", "session/cancel"},
		func(t *testing.T, c *choice, wrapped bool) (*rawpeer.Peer, json.RawMessage, error) {
			var a acp2.Agent = &choosyAgent2{peertest2.FullAgent{Do: c.do}, c}
			if wrapped {
				a = struct{ acp2.AgentWrapper }{acp2.AgentWrapper{Agent: a}}
			}
			s, peer := rawpeer.Pipe(t)
			conn := agent2.New(s, func(*agent2.Conn) acp2.Agent { return a }, &agent2.Options{Unstable: true})
			caps, err := startAgent(t, conn, peer, peertest2.Params, "capabilities")
			return peer, caps, err
		}},
	{"client of version 1", []role{
		{"TextFileReader", []string{"fs/read_text_file"}, []string{"fs.readTextFile"}},
		{"TextFileWriter", []string{"fs/write_text_file"}, []string{"fs.writeTextFile"}},
		{"TerminalHost", []string{"terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"}, []string{"terminal"}},
		{"Elicitor", []string{"elicitation/create"}, []string{"elicitation.form", "elicitation.url"}},
		{"ElicitationCompleter", []string{"elicitation/complete"}, []string{"elicitation.url"}},
		{"AuthStatusUpdater", []string{"auth/status_update"}, nil},
		{"MCPMessageHandler", []string{"mcp/message"}, nil},
	}, peertest.Params, []string{"session/request_permission", "session/update"},
		func(t *testing.T, c *choice, wrapped bool) (*rawpeer.Peer, json.RawMessage, error) {
			var own acp.Client = &choosyClient{peertest.FullClient{Do: c.do}, c}
			if wrapped {
				own = struct{ acp.ClientWrapper }{acp.ClientWrapper{Client: own}}
			}
			s, peer := rawpeer.Pipe(t)
			conn := client.New(s, func(*client.Conn) acp.Client { return own }, &client.Options{Unstable: true})
			caps, err := startClient(t, conn, peer, `{"protocolVersion":1}`, "clientCapabilities")
			return peer, caps, err
		}},
	{"client of version 2", []role{
		{"Elicitor", []string{"elicitation/create"}, []string{"elicitation.form", "elicitation.url"}},
		{"ElicitationCompleter", []string{"elicitation/complete"}, []string{"elicitation.url"}},
		{"AuthStatusUpdater", []string{"auth/status_update"}, nil},
		{"MCPMessageHandler", []string{"mcp/message"}, nil},
	}, peertest2.Params, []string{"session/request_permission", "session/update"},
		func(t *testing.T, c *choice, wrapped bool) (*rawpeer.Peer, json.RawMessage, error) {
			var own acp2.Client = &choosyClient2{peertest2.FullClient{Do: c.do}, c}
			if wrapped {
				own = struct{ acp2.ClientWrapper }{acp2.ClientWrapper{Client: own}}
			}
			s, peer := rawpeer.Pipe(t)
			conn := client2.New(s, func(*client2.Conn) acp2.Client { return own }, &client2.Options{Unstable: true})
			caps, err := startClient(t, conn, peer, peertest2.RawResult("initialize"), "capabilities")
			return peer, caps, err
		}},
}

// startAgent starts the end of an agent and returns the capabilities in its response to
// initialize.
func startAgent(t *testing.T, conn rawpeer.Conn, peer *rawpeer.Peer, params map[string]string, member string) (json.RawMessage, error) {
	if err := conn.Start(context.Background()); err != nil {
		return nil, err
	}
	t.Cleanup(func() { conn.Close(); conn.Wait() })
	peer.Call(`"i"`, "initialize", params["initialize"])
	var res map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(peer.Next().Result, &res))
	return res[member], nil
}

// startClient starts the end of a client, initializes it and returns the capabilities in its
// request.
func startClient(t *testing.T, c conn, peer *rawpeer.Peer, result, member string) (json.RawMessage, error) {
	if err := c.Start(context.Background()); err != nil {
		return nil, err
	}
	t.Cleanup(func() { c.Close(); c.Wait() })
	done := make(chan error, 1)
	go func() { done <- c.Call(context.Background(), "initialize", nil, nil) }() // ends with the response
	m := peer.Expect("initialize")
	peer.Answer(m, result)
	require.NoError(t, <-done)
	var params map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(m.Params, &params))
	return params[member], nil
}

// advertises reports whether the capabilities have the one at path.
func advertises(caps json.RawMessage, path string) bool {
	for name := range strings.SplitSeq(path, ".") {
		var members map[string]json.RawMessage
		if json.Unmarshal(caps, &members) != nil {
			return false
		}
		caps = members[name]
	}
	return caps != nil && string(caps) != "false" && string(caps) != "null"
}

// notifications has params for the notifications of optional interfaces. The agent's
// mcp/message is one, and the client's is a request.
var notifications = map[string]string{
	"elicitation/complete": `{"elicitationId":"e"}`,
	"auth/status_update":   `{"state":"authenticated","accounts":[]}`,
}

// always has the methods of optional interfaces that exist for every agent of version 2.
var always = map[string]bool{"tool_call/cancel": true, "terminal/cancel": true}

// A peer sees exactly the methods and capabilities for which Handles is true, whether the
// value is wrapped or not. Handles is asked once for each method of an optional interface,
// and not for the baseline.
func TestHandles(t *testing.T) {
	for _, s := range sides {
		for _, off := range append([]role{{name: "nothing"}}, s.roles...) {
			for _, wrapped := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/without %s/wrapped %t", s.name, off.name, wrapped), func(t *testing.T) {
					c := &choice{off: off.methods, asked: map[string]int{}, called: map[string]bool{}}
					peer, caps, err := s.start(t, c, wrapped)
					require.NoError(t, err)
					want := map[string]int{}
					for _, r := range s.roles {
						for _, method := range r.methods {
							want[method]++
							served := r.name != off.name
							params, notification := notifications[method]
							if method == "mcp/message" && strings.HasPrefix(s.name, "agent") {
								params, notification = s.params[method], true
							}
							if notification {
								peer.Notify(method, params)
								peer.Call(`"after"`, "_extension", `{}`) // handled after the notification
								peer.Next()
							} else {
								peer.Call(`"x"`, method, s.params[method])
								res := peer.Next()
								want := served || always[method]
								assert.Equal(t, want, res.Error == nil || res.Error.Code != -32601, "%s: %s", method, res.Raw)
							}
							assert.Equal(t, served, c.wasCalled(method), method)
						}
						for _, bit := range r.bits {
							assert.Equal(t, !slices.Contains(off.bits, bit), advertises(caps, bit), bit)
						}
					}
					assert.Equal(t, want, c.asked)
				})
			}
		}
	}
}

// An interface is served as a whole: Start names the methods of a mixed answer, and sends
// nothing.
func TestHandlesForSomeMethodsOfAnInterface(t *testing.T) {
	for _, s := range sides {
		for _, r := range s.roles {
			if len(r.methods) == 1 {
				continue
			}
			t.Run(s.name+"/"+r.name, func(t *testing.T) {
				c := &choice{off: r.methods[:1], asked: map[string]int{}, called: map[string]bool{}}
				_, _, err := s.start(t, c, false)
				require.ErrorContains(t, err, "acp."+r.name)
				for _, method := range r.methods {
					assert.ErrorContains(t, err, method)
				}
			})
		}
	}
}

// Wrappers with a choice of their own.
type (
	wrappedAgent struct {
		acp.AgentWrapper
		c *choice
	}
	wrappedClient struct {
		acp.ClientWrapper
		c *choice
	}
)

func (w wrappedAgent) Handles(method string) bool  { return w.c.Handles(method) }
func (w wrappedClient) Handles(method string) bool { return w.c.Handles(method) }

// A wrapped connection is a connection: it is not asked, and what the peer behind it
// advertises is passed on.
func TestWrappedConnection(t *testing.T) {
	asked := &choice{asked: map[string]int{}}
	near, far := rawpeer.Pipe(t)
	up, peer := rawpeer.Pipe(t)
	var below *client.Conn
	above := agent.New(up, func(above *agent.Conn) acp.Agent {
		below = client.New(near, func(*client.Conn) acp.Client { return wrappedClient{acp.ClientWrapper{Client: above}, asked} }, nil)
		return wrappedAgent{acp.AgentWrapper{Agent: below}, asked}
	}, nil)
	rawpeer.Start(t, below)
	rawpeer.Start(t, above)
	peer.Call("1", "initialize", `{"protocolVersion":1,"clientCapabilities":{"terminal":true}}`)
	init := far.Initialize(`{"loadSession":true}`)
	assert.JSONEq(t, `{"protocolVersion":1,"clientCapabilities":{"terminal":true}}`, string(init.Params))
	assert.Contains(t, peer.Next().Raw, `"agentCapabilities":{"loadSession":true}`)
	peer.Call("2", "session/load", peertest.Params["session/load"])
	far.Answer(far.Expect("session/load"), `{}`)
	assert.Nil(t, peer.Next().Error)
	far.Call("7", "terminal/create", peertest.Params["terminal/create"])
	peer.Answer(peer.Expect("terminal/create"), `{"terminalId":"t"}`)
	assert.Nil(t, far.Next().Error)
	far.Call("8", "_x", `{}`)
	peer.Answer(peer.Expect("_x"), `[]`)
	assert.Nil(t, far.Next().Error)
	assert.Empty(t, asked.asked)
	assert.Equal(t, &acp.AgentCapabilities{LoadSession: true}, agent.Capabilities(wrappedAgent{acp.AgentWrapper{Agent: below}, asked}))
}

// A wrapper around nothing is an error of Start.
func TestWrapperOfNothing(t *testing.T) {
	a, b := stream.Pipe()
	err := agent.New(a, func(*agent.Conn) acp.Agent { return struct{ acp.AgentWrapper }{} }, nil).Start(t.Context())
	assert.ErrorContains(t, err, "wraps no agent")
	err = client.New(b, func(*client.Conn) acp.Client { return struct{ acp.ClientWrapper }{} }, nil).Start(t.Context())
	assert.ErrorContains(t, err, "wraps no client")
}
