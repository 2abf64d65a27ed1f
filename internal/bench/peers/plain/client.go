package main

import (
	"context"
	"encoding/json"
	"io"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/acpkit/go-sdk/internal/bench/work"
)

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
