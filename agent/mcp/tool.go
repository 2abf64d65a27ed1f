package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// listed returns the tools from all pages of the server's list.
func (s *server) listed(ctx context.Context, session *sdk.ClientSession) (list []tools.Tool, err error) {
	if res := session.InitializeResult(); res == nil || res.Capabilities == nil || res.Capabilities.Tools == nil {
		return nil, nil
	}
	size := 0
	for t, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		list = append(list, s.tool(t))
		if size += len(t.Name) + len(t.Description) + len(list[len(list)-1].Schema); size > maxDescribed || len(list) > maxTools {
			return nil, fmt.Errorf("it lists more than %d tools, or more than %d MiB of them", maxTools, maxDescribed>>20)
		}
	}
	return list, nil
}

func (s *server) tool(t *sdk.Tool) tools.Tool {
	title := t.Title
	if title == "" && t.Annotations != nil {
		title = t.Annotations.Title
	}
	if title == "" {
		title = t.Name
	}
	id, _ := json.Marshal([]string{s.name, t.Name}) // texts
	return tools.Tool{
		Name: toolName(s.name, t.Name), ID: string(id), Description: t.Description,
		Title: safetext.OneLine(title, 120) + " (" + safetext.OneLine(s.name, 60) + ")", // so that the server is always seen
		Kind:  acp.ToolKindOther, Effect: tools.Network, Schema: schemaOf(t.InputSchema),
		Describe: func(context.Context, json.RawMessage) tools.Summary {
			return tools.Summary{Rule: &tools.Rule{Label: fmt.Sprintf("all calls of %q of the MCP server %q in this session", t.Name, s.name)}}
		},
		Run: func(ctx context.Context, c *tools.Call) (tools.Result, error) { return s.call(ctx, c, t.Name) },
	}
}

// schemaOf returns the schema of an input as an object, because models need one.
func schemaOf(schema any) json.RawMessage {
	data, _ := json.Marshal(schema) // it was decoded
	var object map[string]any
	if json.Unmarshal(data, &object) != nil || object == nil {
		object = make(map[string]any)
	}
	object["type"] = "object"
	data, _ = json.Marshal(object)
	return data
}

var (
	invalid   = regexp.MustCompile(`[^A-Za-z0-9_-]`)
	encoding  = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
	maxName   = 64
	hashBytes = 5 // eight letters
)

// The limits of one server. Models take less.
const (
	maxTools     = 1000
	maxDescribed = 8 << 20 // bytes of the names, descriptions and schemas of all tools
)

// toolName returns the name of a tool for models. It is the same in every session. If another
// server and tool could have the same one, it ends in a hash of both.
func toolName(server, tool string) string {
	name := "mcp__" + server + "__" + tool
	short := invalid.ReplaceAllString(name, "_")
	if short != name || len(short) > maxName || strings.Contains(server+"_", "__") || strings.HasPrefix(tool, "_") {
		sum := sha256.Sum256([]byte(server + "\x00" + tool))
		short = short[:min(len(short), maxName-9)] + "_" + encoding.EncodeToString(sum[:hashBytes])
	}
	return short
}

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
	if err == nil {
		return s.result(res)
	}
	return tools.Result{}, s.fault(ctx, err, ended)
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
		_ = p.call.Progress(context.Background(), safetext.Label(text)) // it does nothing when the call has ended
		time.AfterFunc(progressTime, p.show)                            // ends when there is no more progress
	}
}

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
	return tools.Result{}, toolError(parts, res.StructuredContent)
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
