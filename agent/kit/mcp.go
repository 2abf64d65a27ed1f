package kit

import (
	"context"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/rpcerr"
)

// MCP reaches the MCP servers that clients name when they open a session. The module
// github.com/acpkit/go-sdk/agent/mcp has one.
type MCP interface {
	// Capabilities tells which servers it reaches beside those over stdio.
	Capabilities() *acp.MCPCapabilities

	// Connect begins to connect a session in the folder cwd to servers. It does not wait for
	// them. An error means that the client must not name these servers.
	Connect(cwd string, servers []acp.MCPServer) (MCPServers, error)
}

// MCPServers are the servers of one session.
type MCPServers interface {
	// Ready waits until each server is connected, has failed or takes too long, or ctx is done. It
	// returns a sentence for each one that has failed or is late, once.
	Ready(ctx context.Context) (failed []string)

	// Tools returns the tools of the servers that are connected. It is called before each turn.
	Tools() []tools.Tool

	// Close ends the servers and waits for that.
	Close() error
}

// connectTime is how long the response to session/new waits for servers. The first prompt waits
// for the rest.
const connectTime = 10 * time.Second

// checkServers returns why the servers of a request cannot be used.
func (a *Agent) checkServers(servers []acp.MCPServer) error {
	caps := a.mcpCapabilities()
	for _, server := range servers {
		ok := true
		switch server.(type) {
		case *acp.MCPServerStdio:
		case *acp.MCPServerHTTP:
			ok = caps != nil && caps.HTTP
		case *acp.MCPServerSSE:
			ok = caps != nil && caps.SSE
		default:
			ok = false
		}
		if !ok {
			return rpcerr.InvalidParams(nil).WithDetail("mcpServers: this agent does not reach servers of this kind; see its capabilities")
		}
	}
	return nil
}

func (a *Agent) mcpCapabilities() *acp.MCPCapabilities {
	if a.opts.MCP == nil {
		return nil
	}
	return a.opts.MCP.Capabilities()
}

// connect begins to connect the session to its servers.
func (s *Session) connect(cwd string, servers []acp.MCPServer) (err error) {
	switch mcp := s.agent.opts.MCP; {
	case len(servers) == 0:
		return nil
	case mcp == nil:
		s.held = append(s.held, "This agent does not use MCP servers: those of the client were not started.")
		return nil
	default:
		s.servers, err = mcp.Connect(cwd, servers)
		return err
	}
}

// refreshTools waits for the servers of the session, and sets the tools of the next turn: those of
// the author, and those that the servers have now.
func (s *Session) refreshTools(ctx context.Context) error {
	list := s.own
	var failed []string
	if s.servers != nil {
		failed = s.servers.Ready(ctx)
		list = append(list[:len(list):len(list)], s.servers.Tools()...)
	}
	registry, err := tools.NewRegistry(list...)
	if err != nil {
		return err
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

// disconnect ends the servers of the session.
func (s *Session) disconnect() {
	if s.servers == nil {
		return
	}
	if err := s.servers.Close(); err != nil {
		s.agent.log.Warn("the MCP servers of a session have not ended", "session", string(s.id), "error", err)
	}
}
