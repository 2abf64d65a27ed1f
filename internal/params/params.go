// Package params reads what internal/rules asks of the params of version 1.
package params

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rules"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Rules are the rules for requests to an agent.
var Rules = rules.Version{Session: "sessionCapabilities.", Prompt: "promptCapabilities.", Server: "mcpCapabilities.", Read: read}

func read(params any) rules.Request {
	switch p := params.(type) {
	case *acp.PromptRequest:
		return rules.Request{Blocks: kinds(p.Prompt)}
	case *acp.NewSessionRequest:
		return session(p.AdditionalDirectories, p.MCPServers, p.SystemPrompt, p.ConfigOptions)
	case *acp.LoadSessionRequest:
		return session(p.AdditionalDirectories, p.MCPServers, p.SystemPrompt, p.ConfigOptions)
	case *acp.ResumeSessionRequest:
		return session(p.AdditionalDirectories, p.MCPServers, p.SystemPrompt, p.ConfigOptions)
	case *acp.ForkSessionRequest:
		return session(p.AdditionalDirectories, p.MCPServers, p.SystemPrompt, p.ConfigOptions)
	case *acp.SetSessionTitleRequest:
		return rules.Request{Title: &p.Title}
	case *acp.ListSessionsRequest:
		return rules.Request{Filter: string(p.Archived)}
	}
	return rules.Request{}
}

// kinds returns the kinds of content that need a capability. Those that are not known are left to the
// agent.
func kinds(blocks []acp.ContentBlock) (list []string) {
	for _, block := range blocks {
		switch block.(type) {
		case *acp.ImageContent:
			list = append(list, "image")
		case *acp.AudioContent:
			list = append(list, "audio")
		case *acp.EmbeddedResource:
			list = append(list, "embeddedContext")
		}
	}
	return list
}

// Suggested returns why suggestions must not be sent to a client with these capabilities by an agent that has
// advertised what told reports: the missing capability, or what is wrong.
func Suggested(u *acp.PromptSuggestionsUpdate, client, told func(path string) bool) (missing, wrong string) {
	for _, s := range endpoint.ValueOf(u).Suggestions {
		blank := len(s.Prompt) > 0 && !slices.ContainsFunc(s.Prompt, func(b acp.ContentBlock) bool {
			text, ok := b.(*acp.TextContent)
			return !ok || strings.TrimSpace(endpoint.ValueOf(text).Text) != ""
		})
		if missing, wrong = Rules.Suggestion(kinds(s.Prompt), blank, client, told); missing+wrong != "" {
			return missing, wrong
		}
	}
	return "", ""
}

func session(dirs []string, servers []acp.MCPServer, prompt *acp.SystemPrompt, options []acp.InitialSessionConfigOption) rules.Request {
	r := rules.Request{Folders: len(dirs) > 0, System: system(prompt), Options: len(options) > 0}
	for _, server := range servers {
		switch server := server.(type) {
		case *acp.MCPServerHTTP:
			r.Servers = append(r.Servers, rules.Server{Kind: "http"})
		case *acp.MCPServerSSE:
			r.Servers = append(r.Servers, rules.Server{Kind: "sse"})
		case *acp.MCPServerACP:
			r.Servers = append(r.Servers, rules.Server{Kind: "acp"})
		case *acp.UnknownMCPServer:
			if kind := rules.OfProtocol(server.Type); kind != "" {
				r.Servers = append(r.Servers, rules.Server{Kind: kind, Unknown: true})
			}
		}
	}
	return r
}

func system(p *acp.SystemPrompt) *rules.SystemPrompt {
	if p == nil {
		return nil
	}
	return rules.Of(string(p.Mode), p.Content, func(block acp.ContentBlock) (string, bool) {
		if text, ok := block.(*acp.TextContent); ok && text != nil {
			return text.Text, true
		}
		return "", false
	})
}

// Client returns the error for params that the protocol obliges a client to refuse, or nil. told is
// what the client has advertised, or nil if that is not known.
func Client(told *acp.ClientCapabilities, params any) *rpcerr.RequestError {
	p, ok := params.(*acp.CreateElicitationRequest)
	if !ok {
		return nil
	}
	var has func(string) bool
	if told != nil {
		has = told.Has
	}
	switch m := p.Mode.(type) {
	case *acp.ElicitationFormMode:
		return rules.Client(has, "form", nil)
	case *acp.ElicitationURLMode:
		return rules.Client(has, "url", &m.URL)
	}
	return nil
}

// MCPMessages changes the row of the request mcp/message so that it refuses the id of a request to the same
// server that is being handled: the notifications of the server name no other id than this one.
func MCPMessages(t *endpoint.Table) {
	type key struct {
		server acp.MCPServerACPID
		id     acp.MCPRequestID
	}
	for _, e := range t.Entries {
		handle := e.Handle
		if e.Name != acp.MethodMCPMessage {
			continue
		}
		var active sync.Map // of keys
		e.Handle = func(ctx context.Context, params any) (any, error) {
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
}
