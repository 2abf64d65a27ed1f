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
