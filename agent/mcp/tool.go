package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/tools"
)

// listed returns the tools from all pages of the server's list.
func (s *server) listed(ctx context.Context, session *sdk.ClientSession) (list []tools.Tool, err error) {
	if res := session.InitializeResult(); res == nil || res.Capabilities == nil || res.Capabilities.Tools == nil {
		return nil, nil
	}
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		if list = append(list, s.tool(t)); len(list) > maxTools {
			return nil, fmt.Errorf("it lists more than %d tools", maxTools)
		}
	}
	return list, nil
}

// tool converts a tool of the server to a tool of the session.
func (s *server) tool(t *sdk.Tool) tools.Tool {
	title := t.Title
	if title == "" && t.Annotations != nil {
		title = t.Annotations.Title
	}
	if title == "" {
		title = t.Name
	}
	title = fmt.Sprintf("%s (%s)", title, s.name)
	return tools.Tool{
		Name: toolName(s.name, t.Name), Title: title, Description: t.Description,
		Kind: acp.ToolKindOther, Effect: tools.Network, Schema: schemaOf(t.InputSchema),
		Describe: func(context.Context, json.RawMessage) tools.Summary {
			return tools.Summary{Rule: &tools.Rule{Label: "all calls of " + title + " in this session"}}
		},
		Run: func(ctx context.Context, c *tools.Call) (tools.Result, error) { return s.call(ctx, c, t.Name) },
	}
}

// schemaOf returns the schema of an input as an object, because models need one.
func schemaOf(schema any) json.RawMessage {
	data, err := json.Marshal(schema)
	var object map[string]any
	if err != nil || json.Unmarshal(data, &object) != nil || object == nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	if object["type"] == "object" {
		return data
	}
	object["type"] = "object"
	data, err = json.Marshal(object)
	if err != nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	return data
}

var (
	invalid   = regexp.MustCompile(`[^A-Za-z0-9_-]`)
	encoding  = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
	maxName   = 64
	maxTools  = 1000 // of one server; models take fewer
	hashBytes = 5    // eight letters
)

// toolName returns the name of a tool for models. It is the same in every session.
func toolName(server, tool string) string {
	name := "mcp__" + server + "__" + tool
	short := invalid.ReplaceAllString(name, "_")
	if len(short) > maxName {
		sum := sha256.Sum256([]byte(name))
		short = short[:maxName-9] + "_" + encoding.EncodeToString(sum[:hashBytes])
	}
	return short
}

// unique returns the name, followed by a number if the name is taken.
func unique(taken map[string]bool, name string) string {
	short := name
	for n := 2; taken[short]; n++ {
		suffix := fmt.Sprintf("_%d", n)
		short = name[:min(len(name), maxName-len(suffix))] + suffix
	}
	taken[short] = true
	return short
}

// call calls a tool of the server.
func (s *server) call(ctx context.Context, c *tools.Call, name string) (tools.Result, error) {
	session, ended, err := s.connection()
	if err != nil {
		return tools.Result{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.connector.opts.CallTime)
	defer cancel()
	token := string(c.ID())
	s.mu.Lock()
	s.calls[token] = &progress{call: c}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.calls, token)
		s.mu.Unlock()
	}()
	params := &sdk.CallToolParams{Name: name, Arguments: c.Input()}
	params.SetProgressToken(token)
	res, err := session.CallTool(ctx, params)
	switch {
	case err == nil:
		return s.result(res)
	case ctx.Err() != nil:
		return tools.Result{}, context.Cause(ctx)
	case errors.Is(err, sdk.ErrConnectionClosed):
		select { // if the connection has ended, note it now, so that the next turn starts the server again
		case <-ended:
		case <-ctx.Done():
		}
		return tools.Result{}, tools.Failf("The MCP server %q has ended during the call: it may have taken effect.", s.name)
	}
	return tools.Result{}, tools.Failf("%s", s.hide(err.Error()))
}

// progress joins the progress of a call, because a server may send any amount of it.
type progress struct {
	call *tools.Call

	mu      sync.Mutex
	text    string // that is not shown yet
	waiting bool   // a timer will call show
}

const progressTime = 100 * time.Millisecond // between two texts

// progress receives the progress of a call.
func (s *server) progress(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
	token, _ := req.Params.ProgressToken.(string)
	s.mu.Lock()
	p := s.calls[token]
	s.mu.Unlock()
	if p == nil {
		return
	}
	text := req.Params.Message
	if req.Params.Total > 0 {
		text = strings.TrimSpace(fmt.Sprintf("%s %.0f of %.0f", text, req.Params.Progress, req.Params.Total))
	}
	p.mu.Lock()
	p.text = text
	begin := !p.waiting
	p.waiting = true
	p.mu.Unlock()
	if begin {
		p.show()
	}
}

// show shows the latest text, and the one after it not before progressTime.
func (p *progress) show() {
	p.mu.Lock()
	text := p.text
	p.text, p.waiting = "", text != ""
	p.mu.Unlock()
	if text != "" {
		_ = p.call.Progress(context.Background(), text) // it does nothing when the call has ended
		time.AfterFunc(progressTime, p.show)            // ends when there is no more progress
	}
}

// result converts the result of a call to a result for the model.
func (s *server) result(res *sdk.CallToolResult) (tools.Result, error) {
	var parts []tools.Part
	for _, content := range res.Content {
		parts = append(parts, partOf(content))
	}
	if len(parts) == 0 && res.StructuredContent != nil {
		if data, err := json.Marshal(res.StructuredContent); err == nil {
			parts = append(parts, tools.Part{Text: string(data)})
		}
	}
	if !res.IsError {
		return tools.Result{Model: parts}, nil
	}
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.Text)
	}
	text := strings.TrimSpace(strings.Join(texts, "\n"))
	if text == "" {
		text = "The tool has failed and has not said why."
	}
	return tools.Result{}, tools.Failf("%s", text)
}

func partOf(content sdk.Content) tools.Part {
	switch c := content.(type) {
	case *sdk.TextContent:
		return tools.Part{Text: c.Text}
	case *sdk.ImageContent:
		return tools.Part{MIMEType: c.MIMEType, Data: c.Data}
	case *sdk.AudioContent:
		return tools.Part{MIMEType: c.MIMEType, Data: c.Data}
	case *sdk.ResourceLink:
		return tools.Part{Text: fmt.Sprintf("[link to %s, %q]", c.URI, c.Name)}
	case *sdk.EmbeddedResource:
		if r := c.Resource; r != nil && r.Blob != nil {
			return tools.Part{MIMEType: r.MIMEType, Data: r.Blob}
		} else if r != nil {
			return tools.Part{Text: r.Text}
		}
	}
	return tools.Part{Text: "[content of a kind that this agent does not know]"}
}
