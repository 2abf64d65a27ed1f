// Copied to draft2/internal/rules by go generate.

package rules

import (
	"context"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Client returns the error for params that the protocol obliges a client to refuse, or nil. told is
// what the client has advertised, or nil if that is not known.
func Client(told *acp.ClientCapabilities, params any) *rpcerr.RequestError {
	p, ok := params.(*acp.CreateElicitationRequest)
	if !ok {
		return nil
	}
	mode := ""
	switch m := p.Mode.(type) {
	case *acp.ElicitationFormMode:
		mode = "form"
	case *acp.ElicitationURLMode:
		mode = "url"
		if err := endpoint.CheckWebURL(m.URL); err != nil {
			return rpcerr.InvalidParams(nil).WithDetail("url " + err.Error())
		}
	}
	if told != nil && mode != "" && !told.Has("elicitation."+mode) {
		return rpcerr.InvalidParams(nil).WithDetail("elicitation mode " + mode + " was not advertised")
	}
	return nil
}

// MCPMessages returns a handler of the request mcp/message that calls handle, and refuses a request to
// a server while one with the same id is being handled: the notifications of the server name no other
// id than this one.
func MCPMessages(handle func(ctx context.Context, params any) (any, error)) func(context.Context, any) (any, error) {
	type key struct {
		server acp.MCPServerACPID
		id     acp.MCPRequestID
	}
	var active sync.Map // of keys
	return func(ctx context.Context, params any) (any, error) {
		if p, ok := params.(*acp.MessageMCPRequest); ok {
			k := key{p.ServerID, p.RequestID}
			if _, used := active.LoadOrStore(k, nil); used {
				return nil, rpcerr.InvalidParams(nil).WithDetail("requestId: a request to this server has the same id")
			}
			defer active.Delete(k)
		}
		return handle(ctx, params)
	}
}
