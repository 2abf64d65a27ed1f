package interop_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"path"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// turn is one prompt; its first word says what to do.
type turn struct {
	*goAgent
	ctx     context.Context
	session *goSession
	args    []string
}

func (p *goAgent) prompt(ctx context.Context, s *goSession, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	text, _ := req.Prompt[0].(*acp.TextContent)
	words := strings.Fields(text.Text)
	p.remember(s, &acp.UserMessageChunk{Content: req.Prompt[0]})
	t := turn{goAgent: p, ctx: ctx, session: s, args: words[1:]}
	turns := map[string]func() error{
		"say": t.sayWords, "updates": t.updates, "permission": t.permission, "wait-permission": t.waitPermission,
		"files": t.files, "terminal": t.terminal, "form": t.form, "url": t.url, "wait": t.wait,
		"takeback": t.takeback, "extension": func() error { return t.callExtensions(ctx) }, "fail": t.fail, "Hello,": t.hello,
	}
	run := turns[words[0]]
	if run == nil {
		return nil, rpcerr.InvalidParams(map[string]any{"prompt": words[0]}).WithDetail("unknown word")
	}
	if err := run(); err != nil {
		return nil, err
	}
	reason := acp.StopReasonEndTurn
	if ctx.Err() != nil {
		reason = acp.StopReasonCancelled
	}
	return &acp.PromptResponse{
		StopReason: reason,
		Usage:      &acp.Usage{TotalTokens: 3, InputTokens: 1, OutputTokens: 2},
		Meta:       acp.Meta{"word": words[0]},
	}, nil
}

func (p *goAgent) remember(s *goSession, u acp.SessionUpdate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.history = append(s.history, u)
}

// update sends, and keeps for session/load. It also sends when the turn is cancelled.
func (t turn) update(u acp.SessionUpdate) error {
	t.remember(t.session, u)
	return t.conn.Session(t.session.id).Update(t.ctx, u)
}

func (t turn) say(text string) error { return t.update(acp.AgentText(text)) }

func (t turn) sayWords() error {
	for _, word := range t.args {
		if err := t.say(word); err != nil {
			return err
		}
	}
	return nil
}

// updates sends one of each kind. What the client has not advertised is refused by
// the connection.
func (t turn) updates() error {
	for _, n := range allUpdates(t.session.id) {
		err := t.conn.SessionUpdate(t.ctx, n)
		if refused := (*acp.CapabilityError)(nil); err != nil && !errors.As(err, &refused) {
			return err
		}
	}
	return nil
}

//go:embed peers/updates.json
var updatesFile []byte

// allUpdates are the updates of peers/updates.json for one session.
func allUpdates(id acp.SessionID) []*acp.SessionNotification {
	var all []*acp.SessionNotification
	for _, raw := range parse[[]json.RawMessage]("%s", updatesFile) {
		all = append(all, parse[*acp.SessionNotification](`{"sessionId":%q,"update":%s}`, id, raw))
	}
	return all
}

func (t turn) permission() error {
	const call = `{"toolCallId":"call-1","title":"Edit a.txt","kind":"edit","status":"pending","rawInput":{"path":"a.txt"},
		"content":[{"type":"diff","path":%[1]q,"newText":"new\n"}],"locations":[{"path":%[1]q,"line":1}]}`
	file := path.Join(t.session.cwd, "a.txt")
	if err := t.update(parse[*acp.ToolCall](call, file)); err != nil {
		return err
	}
	req := &acp.RequestPermissionRequest{SessionID: t.session.id, ToolCall: parse[acp.ToolCallUpdate](call, file)}
	for _, kind := range []acp.PermissionOptionKind{"allow_once", "allow_always", "reject_once", "reject_always"} {
		req.Options = append(req.Options, acp.PermissionOption{OptionID: acp.PermissionOptionID("id-" + kind), Name: string(kind), Kind: kind})
	}
	// Detached from the turn's end, so that the answer to a cancelled turn is seen.
	answer, err := t.conn.RequestPermission(context.WithoutCancel(t.ctx), req)
	t.tell("permission", answer, err)
	if err != nil {
		return err
	}
	if o, ok := answer.Outcome.(*acp.SelectedPermissionOutcome); ok {
		return t.say("selected " + string(o.OptionID))
	}
	return t.say("cancelled")
}

func (t turn) waitPermission() error {
	err := t.permission()
	<-t.ctx.Done()
	return err
}

func (t turn) files() error {
	file := path.Join(t.session.cwd, "file.txt")
	read := func(label string, req acp.ReadTextFileRequest) {
		req.SessionID = t.session.id
		answer, err := t.conn.ReadTextFile(t.ctx, &req)
		t.tell(label, answer, err)
	}
	answer, err := t.conn.WriteTextFile(t.ctx, &acp.WriteTextFileRequest{SessionID: t.session.id, Path: file, Content: "one\ntwo\nthree\nfour\n"})
	t.tell("write", answer, err)
	read("read", acp.ReadTextFileRequest{Path: file})
	read("read lines", acp.ReadTextFileRequest{Path: file, Line: new(uint32(2)), Limit: new(uint32(2))})
	read("read missing", acp.ReadTextFileRequest{Path: path.Join(t.session.cwd, "missing.txt")})
	return nil
}

func (t turn) hello() error {
	if err := t.permission(); err != nil {
		return err
	}
	return t.files()
}

func (t turn) terminal() error {
	create := func(script string, limit *uint64) (*acp.CreateTerminalResponse, error) {
		answer, err := t.conn.CreateTerminal(t.ctx, &acp.CreateTerminalRequest{
			SessionID: t.session.id, Command: "sh", Args: []string{"-c", script}, Cwd: t.session.cwd,
			Env: []acp.EnvVariable{{Name: "GREETING", Value: "hello"}}, OutputByteLimit: limit,
		})
		t.tell("terminal create", answer, err)
		return answer, err
	}
	short, err := create(`printf "$GREETING in $PWD"; exit 3`, new(uint64(1000)))
	if err != nil {
		return err
	}
	wait := &acp.WaitForTerminalExitRequest{SessionID: t.session.id, TerminalID: short.TerminalID}
	output := &acp.TerminalOutputRequest{SessionID: t.session.id, TerminalID: short.TerminalID}
	release := &acp.ReleaseTerminalRequest{SessionID: t.session.id, TerminalID: short.TerminalID}
	err = t.update(&acp.ToolCall{
		ToolCallID: "call-2", Title: "sh", Kind: acp.ToolKindExecute, Status: acp.ToolCallStatusInProgress,
		Content: []acp.ToolCallContent{&acp.Terminal{TerminalID: short.TerminalID}},
	})
	if err != nil {
		return err
	}
	exit, err := t.conn.WaitForTerminalExit(t.ctx, wait)
	t.tell("terminal wait", exit, err)
	out, err := t.conn.TerminalOutput(t.ctx, output)
	t.tell("terminal output", out, err)
	released, err := t.conn.ReleaseTerminal(t.ctx, release)
	t.tell("terminal release", released, err)

	long, err := create("echo started; exec sleep 60", nil)
	if err != nil {
		return err
	}
	wait.TerminalID, output.TerminalID, release.TerminalID = long.TerminalID, long.TerminalID, long.TerminalID
	ended := make(chan struct{})
	go func() { // ends with the command, which is killed below
		defer close(ended)
		exit, err := t.conn.WaitForTerminalExit(t.ctx, wait)
		t.tell("terminal wait killed", exit, err)
	}()
	killed, err := t.conn.KillTerminal(t.ctx, &acp.KillTerminalRequest{SessionID: t.session.id, TerminalID: long.TerminalID})
	t.tell("terminal kill", killed, err)
	<-ended
	released, err = t.conn.ReleaseTerminal(t.ctx, release)
	t.tell("terminal release", released, err)
	out, err = t.conn.TerminalOutput(t.ctx, output)
	t.tell("terminal gone", out, err)
	return nil
}

// form asks with one field of each kind, then with a form that is declined.
func (t turn) form() error {
	_, _ = t.elicit(t.ctx, "form", settingsFormat, t.session.id) // the journal has the error
	_, _ = t.elicit(t.ctx, "form declined", emptyFormat, t.session.id, "Decline me")
	return nil
}

func (t turn) url() error {
	_, _ = t.elicit(t.ctx, "url", pageFormat, t.session.id) // the journal has the error
	if err := t.conn.CompleteElicitation(t.ctx, &acp.CompleteElicitationNotification{ElicitationID: "el-1"}); err != nil {
		return err
	}
	return t.say("completed")
}

// wait says what it does, and a last word after the cancel.
func (t turn) wait() error {
	if err := t.say("waiting"); err != nil {
		return err
	}
	<-t.ctx.Done()
	return t.say("stopping")
}

// takeback asks, and cancels the question once it is known to be open.
func (t turn) takeback() error {
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	answered := make(chan struct{})
	go func() { // ends when the call does: it is cancelled below
		defer close(answered)
		t.tell("takeback", nil, t.conn.Call(ctx, "_interop/client_wait", struct{}{}, nil))
	}()
	err := t.conn.Call(t.ctx, "_interop/client_echo", map[string]string{"after": "wait"}, nil)
	cancel()
	<-answered
	return err
}

func (t turn) fail() error {
	code, err := strconv.Atoi(t.args[0])
	if err != nil {
		return rpcerr.InvalidParams(nil).WithCause(err)
	}
	var word any
	if len(t.args) > 1 {
		word = t.args[1]
	}
	return rpcerr.New(rpcerr.Code(code), "failed as asked", map[string]any{"word": word})
}
