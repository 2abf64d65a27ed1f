// Package params reads what internal/rules asks of the params of version 2.
package params

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/params"
	"github.com/acpkit/go-sdk/internal/rules"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Rules are the rules for requests to an agent.
var Rules = rules.Version{Session: "session.", Prompt: "session.prompt.", Server: "session.mcp.", Read: read}

func read(p any) (r rules.Request) {
	switch p := p.(type) {
	case *acp.PromptRequest:
		r.Blocks = kinds(p.Prompt)
	case *acp.NewSessionRequest:
		opens(&r, len(p.AdditionalDirectories), p.MCPServers, p.SystemPrompt, p.ConfigOptions)
	case *acp.ForkSessionRequest:
		opens(&r, len(p.AdditionalDirectories), p.MCPServers, p.SystemPrompt, p.ConfigOptions)
	case *acp.ResumeSessionRequest:
		opens(&r, len(p.AdditionalDirectories), p.MCPServers, p.SystemPrompt, p.ConfigOptions)
		// A client relies on a replay that it has requested.
		if from, ok := p.ReplayFrom.(*acp.UnknownReplayFrom); ok && rules.OfProtocol(from.Type) != "" {
			r.Wrong = "replayFrom: the agent can replay from the start only"
		}
	case *acp.SetSessionTitleRequest:
		r.Title = &p.Title
	case *acp.ListSessionsRequest:
		r.Filter = string(p.Archived)
	}
	return r
}

// kinds returns the kinds of content that need a capability. Those that are not known are left to the
// agent.
func kinds(blocks []acp.ContentBlock) (list []string) {
	for i, block := range blocks {
		switch block.(type) {
		case *acp.ImageContent:
			list = append(list, "image")
		case *acp.AudioContent:
			list = append(list, "audio")
		case *acp.EmbeddedResource:
			list = append(list, "embeddedContext")
		case *acp.SkillReference:
			list = append(list, "skill")
			if i > 0 { // without inline, one skill comes first
				list = append(list, "skill.inline")
			}
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

// opens adds what a request has that opens a session.
func opens(r *rules.Request, dirs int, servers []acp.MCPServer, prompt *acp.SystemPrompt, options []acp.InitialSessionConfigOption) {
	r.Folders, r.Options = dirs > 0, len(options) > 0
	for _, o := range options {
		if value, ok := o.Value.(*acp.UnknownSessionConfigOptionValue); ok {
			r.OptionType = cmp.Or(r.OptionType, rules.OfProtocol(value.Type))
		}
	}
	if prompt != nil {
		r.System = rules.Of(string(prompt.Mode), prompt.Content, func(block acp.ContentBlock) (string, bool) {
			text, ok := block.(*acp.TextContent)
			return endpoint.ValueOf(text).Text, ok && text != nil
		})
	}
	names := make(map[string]bool, len(servers))
	for _, server := range servers {
		name, need := "", rules.Server{}
		switch s := server.(type) {
		case *acp.MCPServerStdio:
			name, need.Kind = s.Name, "stdio"
		case *acp.MCPServerHTTP:
			name, need.Kind = s.Name, "http"
		case *acp.MCPServerACP:
			name, need.Kind = s.Name, "acp"
		case *acp.UnknownMCPServer:
			var named struct{ Name string }
			_ = json.Unmarshal(s.Raw, &named) // it may have no name
			name, need = named.Name, rules.Server{Kind: rules.OfProtocol(s.Type), Unknown: true}
		}
		if need.Kind != "" {
			r.Servers = append(r.Servers, need)
		}
		if name != "" && names[name] {
			r.WrongServers = "mcpServers: two servers have the same name"
		}
		names[name] = true
	}
}

// MCPMessages makes requests mcp/message, whose params are those of version 1, refuse an id that is in
// use.
var MCPMessages = params.MCPMessages

// Client returns the error for params that the protocol obliges a client to refuse, or nil. told is
// what the client has advertised, or nil if that is not known.
func Client(told *acp.ClientCapabilities, req any) *rpcerr.RequestError {
	p, ok := req.(*acp.CreateElicitationRequest)
	if !ok {
		return nil
	}
	var has func(string) bool
	if told != nil {
		has = told.Has
	}
	if m, ok := p.Mode.(*acp.ElicitationURLMode); ok {
		return rules.Client(has, "url", &m.URL)
	} else if _, ok := p.Mode.(*acp.ElicitationFormMode); ok {
		return rules.Client(has, "form", nil)
	}
	return nil
}
