package kit

import (
	"context"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/rpcerr"
)

// MCP connects to the MCP servers that clients name when they open a session. Module
// github.com/acpkit/go-sdk/agent/mcp implements it.
type MCP interface {
	// Capabilities returns the kinds of servers that it supports in addition to stdio.
	Capabilities() *acp.MCPCapabilities

	// Connect begins to connect a session to its servers, and does not wait for them. If it returns
	// an error, the request that names these servers fails.
	Connect(s MCPSession) (MCPServers, error)
}

// MCPSession is a session whose client names MCP servers.
type MCPSession struct {
	Cwd     string
	Servers []acp.MCPServer

	// Owned reports whether sessions have owners. Its client is then one of many, and may reach
	// neither this machine nor its network through a server, unless the program allows that.
	Owned bool
}

// MCPServers are the servers of one session.
type MCPServers interface {
	// Ready waits until each server is connected, has failed or takes too long, or until ctx is
	// done. It returns a sentence for each server that has failed or is late, and returns each
	// sentence only once.
	Ready(ctx context.Context) (failed []string)

	// Tools returns the tools of the connected servers. It is called before each turn.
	Tools() []tools.Tool

	// Close ends the servers and waits until they have ended.
	Close() error
}

// connectTime is how long session/new waits for servers before it responds. The first prompt waits
// for servers that need longer.
const connectTime = 10 * time.Second

// connect begins to connect the session to its servers.
func (s *Session) connect(cwd string, servers []acp.MCPServer) (err error) {
	switch mcp := s.agent.opts.MCP; {
	case len(servers) == 0:
		return nil
	case mcp == nil:
		s.held = append(s.held, "This agent does not use MCP servers: those of the client were not started.")
		return nil
	default:
		s.servers, err = mcp.Connect(MCPSession{cwd, servers, s.agent.opts.Owner != nil})
		return err
	}
}

// refreshTools waits for the servers of the session. It then sets the tools of the next turn: those
// of the author, and those of the servers that are connected now.
func (s *Session) refreshTools(ctx context.Context) error {
	list := s.own
	var failed []string
	if s.servers != nil {
		failed = s.servers.Ready(ctx)
		list = append(list[:len(list):len(list)], s.servers.Tools()...)
	}
	registry := tools.NewRegistry(list...)
	if err := registry.Err(); err != nil { // a mistake of the author, who may see no log; the client is shown the names anyway
		return rpcerr.InternalError(nil).WithDetail(err.Error()).WithCause(err) //errlint:ignore the text names tools, which the client is shown anyway
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools = registry
	s.held = append(s.held, failed...)
	return nil
}

func (s *Session) registry() *tools.Registry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools
}

func (s *Session) disconnect() {
	if s.servers == nil {
		return
	}
	if err := s.servers.Close(); err != nil {
		s.agent.log.Warn("the MCP servers of a session have not ended", "session", string(s.id), "error", err)
	}
}
