package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/elicitation"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// tab is one open page, and a client of the hub. What it and the page send each other has the form of JSON-RPC
// notifications.
type tab struct {
	site    *Site
	wire    stream.Stream
	conn    *client.Conn
	threads thread.Set
	scope   *permission.Scope
	forms   forms
	work    sync.WaitGroup

	writing sync.Mutex // held while a message is written
	opening sync.Mutex // held while the page goes to another session
	mu      sync.Mutex // guards shown
	shown   *shown     // nil if no session is shown
}

// serve serves an open page until it is closed. What it began in its sessions goes on.
func (s *Site) serve(ctx context.Context, wire stream.Stream) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	t := &tab{site: s, wire: wire, scope: s.policy.Scope()}
	defer t.scope.Close()
	t.forms.tab = t
	var draining <-chan struct{} // closed when the server shuts down
	if f, ok := wire.(interface{ Features() *stream.Features }); ok {
		draining = f.Features().Draining
	}
	first, err := wire.Read() // has the form of initialize, which the transport demands
	if err != nil {
		return err
	}
	near, far := stream.Pipe()
	t.work.Go(func() { // ends with near
		if err := s.hub.Serve(ctx, far); err != nil {
			s.log.Debug("the client of a page has ended", "error", err)
		}
	})
	defer t.work.Wait()
	served := t.threads.Client(&person{&elicitation.Forms{Ask: t.forms.ask}, t})
	t.conn = client.New(near, func(*client.Conn) acp.Client { return served },
		&client.Options{Sending: []acp.Middleware{t.threads.Sending}, Logger: s.log})
	if err := t.conn.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	defer func() { _ = t.conn.Close(); _ = t.conn.Wait() }()
	defer end()
	caps := client.Capabilities(served)
	caps.Session = &acp.ClientSessionCapabilities{ConfigOptions: &acp.SessionConfigOptionsCapabilities{Boolean: &acp.BooleanConfigOptionCapabilities{}}}
	if _, err := t.conn.Initialize(ctx, &acp.InitializeRequest{ClientCapabilities: caps}); err != nil {
		return err
	}
	if err := t.greet(first); err != nil {
		return err
	}
	t.work.Go(func() { // ends with ctx
		t.watchSessions(ctx)
	})
	t.work.Go(func() { // ends with ctx
		select {
		case <-t.conn.Done(): // as when the page is too slow
		case <-draining:
		case <-ctx.Done():
		}
		_ = wire.Close()
	})
	for {
		message, err := wire.Read()
		if _, long := errors.AsType[*stream.TooLargeError](err); long {
			_ = t.tell("failed", "The message is too long.") // it fails only if the page has gone
			continue
		}
		if err != nil {
			return nil //nolint:nilerr // the page was closed
		}
		t.handle(ctx, message)
	}
}

// greet answers the first message of the page.
func (t *tab) greet(first []byte) error {
	var hello struct{ ID json.RawMessage }
	if err := json.Unmarshal(first, &hello); err != nil {
		return fmt.Errorf("the first message of a page cannot be read: %w", err)
	}
	name := ""
	if info := t.conn.PeerInfo(); info != nil {
		name = info.Name
	}
	return t.write(map[string]any{"jsonrpc": "2.0", "id": hello.ID, "result": map[string]any{"agent": name, "folder": t.site.folder}})
}

// tell sends the page what to show.
func (t *tab) tell(what string, params any) error {
	return t.write(map[string]any{"jsonrpc": "2.0", "method": what, "params": params})
}

func (t *tab) write(v any) error {
	message, err := json.Marshal(v)
	if err != nil {
		return err
	}
	t.writing.Lock()
	defer t.writing.Unlock()
	return t.wire.Write(message)
}

// action is what a person has done in the page.
type action struct {
	Session acp.SessionID // to open
	Folder  string        // of a new session
	Cursor  string        // of the next sessions in the list
	Text    string        // a prompt
	Before  int           // the first item that the page has
	Key     uint64        // of a question
	Option  string        // of the question, or of the settings
	Value   string        // of a setting
	On      *bool         // of a setting that is a switch
	Form    *acp.CreateElicitationResponse
}

// handle does what the person wants. What takes long is done beside the reading of the next message.
func (t *tab) handle(ctx context.Context, message []byte) {
	var m struct {
		Method string
		Params action
	}
	do := map[string]func(context.Context, *action) error{
		"list": t.list, "open": t.open, "new": t.begin, "prompt": t.prompt, "cancel": t.cancel,
		"earlier": t.earlier, "answer": t.answer, "fill": t.fill, "mode": t.mode, "set": t.set,
	}
	err := json.Unmarshal(message, &m)
	f := do[m.Method]
	if err != nil || f == nil {
		_ = t.tell("failed", "The page sent something unknown. Load it again.") // it fails only if the page has gone
		return
	}
	t.work.Go(func() { // ends with the connection
		if err := f(ctx, &m.Params); err != nil && ctx.Err() == nil {
			_ = t.tell("failed", client.Explain(t.conn, err)) // it fails only if the page has gone
		}
	})
}

// person is the client of the hub: the one who looks at the page.
type person struct {
	*elicitation.Forms
	tab *tab
}

func (p *person) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	p.tab.scope.Apply(n.SessionID, n.Update)
	return nil
}

// RequestPermission lets the person decide, or what the person has decided for always. In every other case it fails,
// which is no answer: the question stays open, and another client may answer it.
func (p *person) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	call, _ := thread.ToolCallOf(&req.ToolCall)
	q := &permission.Question{Session: string(req.SessionID), Title: req.ToolCall.Title, Tool: permission.ToolOf(call)}
	q.Workspace, _ = p.tab.folder(req.SessionID)
	for _, o := range req.Options {
		q.Options = append(q.Options, permission.Option{ID: string(o.OptionID), Name: o.Name, Kind: string(o.Kind)})
	}
	switch o := p.tab.scope.Decide(ctx, q); o.By {
	case permission.ByPerson, permission.ByMemory:
		return acp.Selected(acp.PermissionOptionID(o.OptionID)), nil
	case permission.ByLength, permission.ByOptions:
		_ = p.tab.tell("failed", "The agent asks something that cannot be shown here, because it is too long or has no clear options. Another client may answer it; else cancel the turn.")
	}
	return nil, rpcerr.RequestCancelled(nil)
}
