// Command plain is github.com/sourcegraph/jsonrpc2 as a program uses it that
// writes its own ACP types: the library's line stream, its handler interface and
// encoding/json. Requests run in goroutines of their own, because a prompt calls
// back; notifications are handled in the read loop, which keeps their order.
package main

import (
	"context"
	"encoding/json"
	"io"
	"log"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/acpkit/go-sdk/internal/bench/work"
)

func main() { work.Main(work.OverBytes("plain", serve, newClient)) }

// handler answers requests with what the function returns.
type handler func(ctx context.Context, r *jsonrpc2.Request) (any, error)

func (h handler) Handle(ctx context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) {
	if r.Notif {
		_, _ = h(ctx, r)
		return
	}
	go func() { // ends when the request was answered
		result, err := h(ctx, r)
		if err != nil {
			_ = conn.ReplyWithError(ctx, r.ID, &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: err.Error()})
			return
		}
		_ = conn.Reply(ctx, r.ID, result)
	}()
}

func connect(rwc io.ReadWriteCloser, h handler) *jsonrpc2.Conn {
	return jsonrpc2.NewConn(context.Background(), jsonrpc2.NewPlainObjectStream(rwc), h,
		jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
}

func notFound(r *jsonrpc2.Request) error {
	return &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "Method not found: " + r.Method}
}

func params[T any](r *jsonrpc2.Request) (p T, err error) {
	err = json.Unmarshal(*r.Params, &p)
	return p, err
}

func serve(rwc io.ReadWriteCloser) <-chan struct{} {
	a := &agent{}
	ready := make(chan struct{})
	conn := connect(rwc, func(ctx context.Context, r *jsonrpc2.Request) (any, error) {
		<-ready
		return a.handle(ctx, r)
	})
	a.conn = conn
	close(ready)
	return conn.DisconnectNotify()
}

type agent struct{ conn *jsonrpc2.Conn }

var corpus = work.Corpora(func(n sessionNotification) sessionUpdate { return n.Update })

func (a *agent) handle(ctx context.Context, r *jsonrpc2.Request) (any, error) {
	switch r.Method {
	case "initialize":
		if _, err := params[initializeRequest](r); err != nil {
			return nil, err
		}
		return initializeResponse{ProtocolVersion: 1, AgentCapabilities: agentCapabilities{LoadSession: true}}, nil
	case "session/set_mode":
		_, err := params[setModeRequest](r)
		return struct{}{}, err
	case "session/prompt":
		p, err := params[promptRequest](r)
		if err != nil {
			return nil, err
		}
		return promptResponse{StopReason: "end_turn"}, work.RunTask(ctx, a, p.SessionID, p.Prompt[0].Text)
	case "session/load":
		p, err := params[loadRequest](r)
		if err != nil {
			return nil, err
		}
		return struct{}{}, work.RunLoad(ctx, a, p.SessionID)
	case work.MarkMethod:
		return work.Mark(true), nil
	}
	return nil, notFound(r)
}

// Update implements work.Agent, like ReadFile and Sync.
func (a *agent) Update(ctx context.Context, kind, sessionID string, i int) error {
	return a.conn.Notify(ctx, "session/update", &sessionNotification{SessionID: sessionID, Update: corpus(kind, i)})
}

func (a *agent) ReadFile(ctx context.Context, sessionID, path string) (int, error) {
	var r readResponse
	err := a.conn.Call(ctx, "fs/read_text_file", &readRequest{SessionID: sessionID, Path: path}, &r)
	return len(r.Content), err
}

func (a *agent) Sync(ctx context.Context, params work.SyncParams) error {
	return a.conn.Call(ctx, work.SyncMethod, params, nil)
}

// client is the client end of the contender.
type client struct {
	conn *jsonrpc2.Conn
	rwc  io.ReadWriteCloser
	env  *work.Env
}

func newClient(rwc io.ReadWriteCloser, env *work.Env) work.Client {
	c := &client{rwc: rwc, env: env}
	c.conn = connect(rwc, c.handle)
	return c
}

func (c *client) handle(ctx context.Context, r *jsonrpc2.Request) (any, error) {
	switch r.Method {
	case "session/update":
		n, err := params[sessionNotification](r)
		if err != nil {
			return nil, err
		}
		length, err := textLength(&n.Update)
		c.env.Tally.Add(length)
		return nil, err
	case "fs/read_text_file":
		p, err := params[readRequest](r)
		return readResponse{Content: c.env.Files[p.Path]}, err
	case work.SyncMethod:
		return c.env.HandleSync(ctx, *r.Params)
	}
	return nil, notFound(r)
}

func textLength(u *sessionUpdate) (int, error) {
	length := 0
	switch u.Kind {
	case "agent_message_chunk", "agent_thought_chunk":
		var text contentText
		if err := json.Unmarshal(u.Content, &text); err != nil {
			return 0, err
		}
		length = len(text.Text)
	case "tool_call_update":
		var parts []diff
		if err := json.Unmarshal(u.Content, &parts); err != nil {
			return 0, err
		}
		for _, d := range parts {
			length += len(d.NewText)
			if d.OldText != nil {
				length += len(*d.OldText)
			}
		}
	case "plan":
		for _, e := range u.Entries {
			length += len(e.Content)
		}
	}
	return length, nil
}

func (c *client) Initialize(ctx context.Context) error {
	r := initializeRequest{ProtocolVersion: 1}
	r.ClientCapabilities.FS.ReadTextFile = true
	return c.conn.Call(ctx, "initialize", &r, &initializeResponse{})
}

func (c *client) SetMode(ctx context.Context, sessionID, modeID string) error {
	return c.conn.Call(ctx, "session/set_mode", &setModeRequest{SessionID: sessionID, ModeID: modeID}, &struct{}{})
}

func (c *client) Prompt(ctx context.Context, sessionID, text string) error {
	r := promptRequest{SessionID: sessionID, Prompt: []contentText{{Type: "text", Text: text}}}
	return c.conn.Call(ctx, "session/prompt", &r, &promptResponse{})
}

func (c *client) Load(ctx context.Context, sessionID string) error {
	return c.conn.Call(ctx, "session/load", &loadRequest{SessionID: sessionID, Cwd: "/bench", MCPServers: []any{}}, &struct{}{})
}

func (c *client) Mark(ctx context.Context) (m work.Counters, err error) {
	err = c.conn.Call(ctx, work.MarkMethod, nil, &m)
	return m, err
}

// Close closes the pipe and not the connection, whose Close does not report how the child ended.
func (c *client) Close() error { return c.rwc.Close() }

// The few types that the works need, as a user writes them by hand.

type initializeRequest struct {
	ProtocolVersion    int                `json:"protocolVersion"`
	ClientCapabilities clientCapabilities `json:"clientCapabilities"`
}

type clientCapabilities struct {
	FS struct {
		ReadTextFile bool `json:"readTextFile"`
	} `json:"fs"`
}

type initializeResponse struct {
	ProtocolVersion   int               `json:"protocolVersion"`
	AgentCapabilities agentCapabilities `json:"agentCapabilities"`
}

type agentCapabilities struct {
	LoadSession bool `json:"loadSession"`
}

type setModeRequest struct {
	SessionID string `json:"sessionId"`
	ModeID    string `json:"modeId"`
}

type promptRequest struct {
	SessionID string        `json:"sessionId"`
	Prompt    []contentText `json:"prompt"`
}

type promptResponse struct {
	StopReason string `json:"stopReason"`
}

type loadRequest struct {
	SessionID  string `json:"sessionId"`
	Cwd        string `json:"cwd"`
	MCPServers []any  `json:"mcpServers"`
}

type readRequest struct {
	SessionID string `json:"sessionId"`
	Path      string `json:"path"`
}

type readResponse struct {
	Content string `json:"content"`
}

type contentText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type sessionNotification struct {
	SessionID string        `json:"sessionId"`
	Update    sessionUpdate `json:"update"`
}

// sessionUpdate is all kinds of update in one; Content is an object for chunks
// and an array for tool calls, so it is read in a second step.
type sessionUpdate struct {
	Kind       string          `json:"sessionUpdate"`
	Content    json.RawMessage `json:"content,omitempty"`
	ToolCallID string          `json:"toolCallId,omitempty"`
	Status     string          `json:"status,omitempty"`
	Title      string          `json:"title,omitempty"`
	Locations  []location      `json:"locations,omitempty"`
	Entries    []planEntry     `json:"entries,omitempty"`
}

type location struct {
	Path string `json:"path"`
	Line *int   `json:"line,omitempty"`
}

type planEntry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"`
	Status   string `json:"status"`
}

type diff struct {
	Type    string  `json:"type"`
	Path    string  `json:"path"`
	OldText *string `json:"oldText"`
	NewText string  `json:"newText"`
}
