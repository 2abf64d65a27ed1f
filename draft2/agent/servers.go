package agent

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// checkServers makes requests that open a session fail with -32602 if two of their MCP servers
// have the same name, or one is of a type that the agent did not advertise: an agent that left
// it out would work without tools that the user expects. The agent behind a connection checks
// its requests itself.
func (c *Conn) checkServers(t *endpoint.Table) {
	if c.remote {
		return
	}
	var advertised atomic.Pointer[acp.AgentCapabilities]
	initialize := t.Entry(methodInitialize.Method)
	handle := initialize.Handle
	initialize.Handle = func(ctx context.Context, params any) (any, error) {
		res, err := handle(ctx, params)
		if err == nil {
			advertised.Store(res.(*acp.InitializeResponse).Capabilities)
		}
		return res, err
	}
	for _, m := range []*wire.Method{methodNewSession.Method, methodResumeSession.Method, methodForkSession.Method} {
		e := t.Entry(m)
		if e == nil {
			continue
		}
		handle := e.Handle
		e.Handle = func(ctx context.Context, params any) (any, error) {
			if detail := unusable(serversOf(params), advertised.Load()); detail != "" {
				return nil, rpcerr.InvalidParams(nil).WithDetail("mcpServers: " + detail)
			}
			return handle(ctx, params)
		}
	}
}

func serversOf(params any) []acp.MCPServer {
	switch req := params.(type) {
	case *acp.NewSessionRequest:
		return req.MCPServers
	case *acp.ResumeSessionRequest:
		return req.MCPServers
	case *acp.ForkSessionRequest:
		return req.MCPServers
	}
	return nil
}

// unusable returns why an agent with these capabilities cannot use the servers, or the empty
// string.
func unusable(servers []acp.MCPServer, caps *acp.AgentCapabilities) string {
	names := make(map[string]bool, len(servers))
	for _, server := range servers {
		var name, kind string
		switch s := server.(type) {
		case *acp.MCPServerStdio:
			name, kind = s.Name, "stdio"
		case *acp.MCPServerHTTP:
			name, kind = s.Name, "http"
		case *acp.MCPServerACP:
			name, kind = s.Name, "acp"
		case *acp.UnknownMCPServer:
			var named struct{ Name string }
			_ = json.Unmarshal(s.Raw, &named) // it may have no name
			name, kind = named.Name, s.Type
		}
		switch {
		case !caps.Has("session.mcp."+kind) && !strings.HasPrefix(kind, "_"): // an agent may have types of its own
			return "the agent did not advertise servers of type " + kind
		case name != "" && names[name]:
			return "two servers have the same name"
		}
		names[name] = true
	}
	return ""
}
