package randturns

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/thread"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/draft2/connect"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// A Client is a client of one version that shows sessions as package client/thread does, and
// answers questions as the script says.
type Client struct {
	t         *testing.T
	conn      *connect.Conn
	sessions  map[string]*connect.Session
	cancels   atomic.Bool   // the agent is expected to ask for a cancel
	onUpdate  func()        // called after each update; may be nil
	cancelled chan struct{} // gets a value when the agent asks for a cancel
}

// NewClient connects to an agent. Version is 1 or 2.
func NewClient(t *testing.T, version int, s stream.Stream, onUpdate func()) *Client {
	t.Helper()
	c := &Client{t: t, sessions: map[string]*connect.Session{}, onUpdate: onUpdate, cancelled: make(chan struct{}, 1)}
	var err error
	c.conn, err = connect.ConnectOver(t.Context(), s, &connect.Options{
		V1:           func(*client.Conn) acp.Client { return handler1{c} },
		V2:           func(*client2.Conn) acp2.Client { return handler2{c} },
		InitializeV1: &acp.InitializeRequest{ClientCapabilities: client.Capabilities(handler1{})},
		InitializeV2: &acp2.InitializeRequest{Capabilities: client2.Capabilities(handler2{})},
		Only:         version, Logger: quiet,
	})
	c.must(err)
	return c
}

func (c *Client) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// Close ends the connection.
func (c *Client) Close() { c.conn.Close() }

var params = &connect.SessionParams{Cwd: "/w"}

// Open opens a new session.
func (c *Client) Open() string {
	c.t.Helper()
	s, err := c.conn.StartSession(c.t.Context(), params)
	c.must(err)
	c.sessions[s.ID()] = s
	return s.ID()
}

// Load loads a session.
func (c *Client) Load(id string) error {
	s, err := c.conn.LoadSession(c.t.Context(), id, params)
	c.sessions[id] = s
	return err
}

// CloseSession closes a session.
func (c *Client) CloseSession(id string) {
	c.t.Helper()
	c.must(c.sessions[id].Close(c.t.Context()))
}

// Alive reports whether the connection has not ended.
func (c *Client) Alive() bool {
	select {
	case <-c.conn.Done():
		return false
	default:
		return true
	}
}

// Cancel cancels the turns of a session.
func (c *Client) Cancel(id string) {
	c.t.Helper()
	c.must(c.sessions[id].Cancel(c.t.Context()))
}

// Play makes a turn, with what the person does before it and meanwhile. Its error is that of the
// turn.
func (c *Client) Play(id string, turn *Turn) error {
	s := c.sessions[id]
	for option, value := range map[string]string{"mode": turn.Mode, "model": turn.Model} {
		if value == "" {
			continue
		}
		if c.conn.ProtocolVersion() == 1 && option == "mode" && len(value)%2 == 0 { // modes are options, too
			option = connect.ModeOption
		}
		if err := s.SetOption(c.t.Context(), option, value); err != nil {
			return err
		}
	}
	ctx, done := context.WithCancel(c.t.Context())
	defer done()
	c.cancels.Store(turn.Cancels)
	defer c.cancels.Store(false)
	go func() { // ends with the turn
		select {
		case <-c.cancelled:
			_ = s.Cancel(ctx)
		case <-ctx.Done():
		}
	}()
	prompt := []thread.Block{connect.Text(turn.Prompt)}
	if turn.Image {
		prompt = append(prompt, thread.Block{Type: thread.BlockImage, MIMEType: "image/png", Data: "AAAA"})
	}
	_, err := s.Prompt(ctx, prompt...).Wait()
	return err
}

// updated is called after each update.
func (c *Client) updated(u any) {
	if c.onUpdate != nil {
		c.onUpdate()
	}
	if !c.cancels.Load() {
		return
	}
	if text, err := json.Marshal(u); err == nil && strings.Contains(string(text), Cancel) {
		select {
		case c.cancelled <- struct{}{}:
		default:
		}
	}
}

type handler1 struct{ c *Client }

func (h handler1) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	h.c.updated(n.Update)
	return nil
}

func (h handler1) RequestPermission(_ context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	answer := acp.PermissionOptionID(answerOf(req.ToolCall.Title))
	if !slices.ContainsFunc(req.Options, func(o acp.PermissionOption) bool { return o.OptionID == answer }) {
		return &acp.RequestPermissionResponse{Outcome: &acp.CancelledPermissionOutcome{}}, nil
	}
	return &acp.RequestPermissionResponse{Outcome: &acp.SelectedPermissionOutcome{OptionID: answer}}, nil
}

// ReadTextFile knows no file, and fails for one.
func (h handler1) ReadTextFile(_ context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	if req.Path == Unreadable {
		return nil, rpcerr.InternalError(nil).WithDetail("the editor is busy")
	}
	return nil, rpcerr.ResourceNotFound(req.Path)
}

// WriteTextFile must not be called for a file whose text is unknown.
func (h handler1) WriteTextFile(_ context.Context, req *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	if req.Path == Unreadable {
		h.c.t.Error("a file is overwritten that could not be read")
	}
	return &acp.WriteTextFileResponse{}, nil
}

// Unreadable is a file that the client cannot read.
const Unreadable = "/w/unreadable"

type handler2 struct{ c *Client }

func (h handler2) SessionUpdate(_ context.Context, n *acp2.UpdateSessionNotification) error {
	h.c.updated(n.Update)
	return nil
}

func (h handler2) RequestPermission(_ context.Context, req *acp2.RequestPermissionRequest) (*acp2.RequestPermissionResponse, error) {
	answer := acp2.PermissionOptionID(answerOf(req.Title))
	if !slices.ContainsFunc(req.Options, func(o acp2.PermissionOption) bool { return o.OptionID == answer }) {
		return &acp2.RequestPermissionResponse{Outcome: &acp2.CancelledPermissionOutcome{}}, nil
	}
	return &acp2.RequestPermissionResponse{Outcome: &acp2.SelectedPermissionOutcome{OptionID: answer}}, nil
}

// Seen returns what the person sees of a session, for comparing it with the script.
func (c *Client) Seen(id string) Seen {
	s := c.conn.Thread(id).Snapshot()
	seen := Seen{Title: s.Title}
	for _, item := range s.Items.All() {
		if !c.isNotice(item) {
			seen.Lines = append(seen.Lines, lineOf(item))
		}
	}
	for _, p := range s.Plans {
		for _, e := range p.Entries {
			seen.Plan = append(seen.Plan, e.Content)
		}
	}
	if s.Usage != nil {
		seen.Used = s.Usage.Used
	}
	for _, o := range s.Options {
		switch o.ID {
		case "mode":
			seen.Mode = o.Value
		case "model":
			seen.Model = o.Value
		}
	}
	return seen
}

// isNotice reports whether an item is a notice. Clients of version 1 without notices get it as a
// message.
func (c *Client) isNotice(item thread.Item) bool {
	if m, ok := item.(*thread.Message); ok {
		return c.conn.ProtocolVersion() == 1 && strings.HasPrefix(string(m.ID), "notice_")
	}
	_, ok := item.(*thread.Notice)
	return ok
}

func lineOf(item thread.Item) (line string) {
	switch m := item.(type) {
	case *thread.Message:
		line = string(m.Role) + ": "
		for _, b := range m.Content.All() {
			line += blockText(&b)
		}
	case *thread.ToolCall:
		line = "call: " + m.Title + " " + m.Status
		for _, c := range m.Content.All() {
			line += ": "
			if c.Block != nil {
				line += blockText(c.Block)
			} else {
				line += c.Type
			}
		}
	default:
		line = fmt.Sprintf("%T", item)
	}
	return line
}

func blockText(b *thread.Block) string {
	if b.Type == thread.BlockText {
		return b.Text
	}
	return "[" + b.Type + "]"
}

// All returns all that a client holds of a session, with the ids of the agent, for comparing it
// with what another client holds. Prompts have ids in version 2 alone, and notices are shown once.
func (c *Client) All(id string) (all []string) {
	s := c.conn.Thread(id).Snapshot()
	add := func(v any) {
		text, err := json.Marshal(v)
		c.must(err)
		all = append(all, string(text))
	}
	for _, item := range s.Items.All() {
		m, ok := item.(*thread.Message)
		switch {
		case c.isNotice(item):
			continue
		case ok && m.Role == thread.RoleUser && c.conn.ProtocolVersion() == 1:
			item = &thread.Message{Role: m.Role, Content: m.Content}
		}
		add(item)
	}
	for _, v := range []any{s.Plans, s.Usage, s.Title, s.Modes, s.Options, s.Commands, len(s.Queued), len(s.Permissions)} {
		add(v)
	}
	return all
}
