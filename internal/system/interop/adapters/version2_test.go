package adapters_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	model "github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/draft2/thread"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// conversationTimeout bounds the conversation with one process of an agent.
const conversationTimeout = 90 * time.Second

// conversation is the state of a test of version 2.
type conversation struct {
	ctx     context.Context
	place   *workplace
	viewer  *viewer
	threads *thread.Set
	conn    *client.Conn
	session *client.Session
	dies    bool // the process is killed
	plain   bool // the agent speaks version 1, and has no terminals of its own
}

// Each agent holds a conversation with our client of version 2, through all that the protocol
// has for sessions and prompts.
func TestVersion2(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a *adapter) {
		place := newWorkplace(t, a)
		rec := &recording{place: place}
		var id acp.SessionID
		t.Run("first process", func(t *testing.T) {
			c := converse(t, place, rec)
			c.start(t)
			id = c.session.ID()
			c.turns(t)
			t.Run("close", c.close)
			t.Run("replay", c.replay)
		})
		require.NotEmpty(t, id)
		t.Run("second process", func(t *testing.T) {
			c := converse(t, place, rec)
			t.Run("resume", func(t *testing.T) { c.resume(t, id) })
			t.Run("unknown session", c.unknown)
			t.Run("delete", c.delete)
		})
		rec.write(t, "transcripts-v2", "")
	})
}

// turns are the steps in a session that was started.
func (c *conversation) turns(t *testing.T) {
	t.Run("text", c.text)
	t.Run("thought", c.thought)
	t.Run("allowed", c.allowed)
	t.Run("rejected", c.rejected)
	t.Run("command", c.command)
	t.Run("cancel", c.cancel)
	t.Run("cancel while asked", c.cancelAsked)
	t.Run("prompts during a turn", c.queue)
	t.Run("option", c.option)
	t.Run("list", c.list)
}

// converse starts a process of the agent, which is gone when the test ends.
func converse(t *testing.T, p *workplace, rec *recording) *conversation {
	t.Helper()
	return converseOver(t, p, func(_ *testing.T, s stream.Stream) stream.Stream { return rec.tap(s, "") })
}

// converseOver is converse with something between the client and the process.
func converseOver(t *testing.T, p *workplace, link func(*testing.T, stream.Stream) stream.Stream) *conversation {
	t.Helper()
	process, err := stream.Command(p.command(), &stream.CommandOptions{
		OnNoise: func(line string) { t.Errorf("the agent wrote what is no message: %s", line) },
	})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), conversationTimeout)
	t.Cleanup(cancel)
	c := &conversation{ctx: ctx, place: p, viewer: &viewer{}, threads: new(thread.Set)}
	c.conn = client.New(link(t, process), func(*client.Conn) acp.Client { return c.threads.Client(c.viewer) }, &client.Options{
		Unstable: true, Logger: pairtest.StrictLogger(t),
		OnDropped: func(method string, err error) { t.Errorf("dropped %s: %v", method, err) },
		Sending:   []acp.Middleware{c.threads.Sending},
	})
	require.NoError(t, c.conn.Start(context.Background()))
	t.Cleanup(func() {
		assert.NoError(t, c.conn.Close())
		if err := c.conn.Wait(); !c.dies {
			assert.NoError(t, err)
		}
		if t.Failed() {
			t.Logf("stderr: %s", process.Stderr())
		}
	})
	res, err := c.conn.Initialize(ctx, nil)
	require.NoError(t, err, "stderr: %s", process.Stderr())
	assert.Equal(t, acp.ProtocolVersion, c.conn.ProtocolVersion())
	assert.Equal(t, "@agentclientprotocol/"+p.adapter.name, res.Info.Name)
	assert.Equal(t, p.adapter.version, res.Info.Version)
	require.NotNil(t, res.Capabilities.Session)
	return c
}

func (c *conversation) start(t *testing.T) {
	s, err := c.conn.StartSession(c.ctx, &acp.NewSessionRequest{Cwd: acp.AbsolutePath(c.place.dir)})
	require.NoError(t, err)
	c.session = s
	require.NoError(t, s.SetConfigOption(c.ctx, "mode", acp.SessionConfigValueID(c.place.adapter.asking)))
}

func (c *conversation) prompt(word string) *client.Turn {
	return c.session.Prompt(c.ctx, acp.Text(scriptMark+word))
}

func (c *conversation) snapshot() *model.Snapshot { return c.threads.Thread(c.session.ID()).Snapshot() }

func (c *conversation) text(t *testing.T) {
	c.viewer.next("")
	turn := c.prompt("say")
	text, err := turn.Text()
	require.NoError(t, err)
	assert.Contains(t, text, "One two three.")
	res, err := turn.Accepted()
	require.NoError(t, err)
	assert.NotEmpty(t, res.MessageID)
	end, err := turn.Wait()
	require.NoError(t, err)
	assert.Equal(t, acp.StopReasonEndTurn, end.StopReason)
	assert.Equal(t, []string{"running", "idle"}, c.viewer.story())
	assert.IsType(t, &acp.IdleStateUpdate{}, c.session.State())
	s := c.snapshot()
	assert.Equal(t, model.Turn{State: model.StateIdle, StopReason: "end_turn", Usage: s.Turn.Usage, Background: s.Turn.Background, Meta: s.Turn.Meta}, s.Turn)
	assert.Contains(t, messages(s), "user: script: say")
}

func (c *conversation) thought(t *testing.T) {
	_, err := c.prompt("think").Wait()
	require.NoError(t, err)
	assert.Contains(t, messages(c.snapshot()), "thought: Let me see.")
	assert.Contains(t, messages(c.snapshot()), "agent: I have thought.")
}

func (c *conversation) allowed(t *testing.T) {
	c.viewer.next(acp.PermissionOptionKindAllowOnce)
	turn := c.prompt(c.place.writing(t))
	text, err := turn.Text()
	require.NoError(t, err)
	assert.Contains(t, text, "Written.")
	assert.Equal(t, "new\n", c.place.text(t))
	assert.Equal(t, []string{"running", "requires_action", "ask", "running", "idle"}, c.viewer.story())

	asked := c.viewer.questions()
	require.Len(t, asked, 1)
	subject, ok := asked[0].Subject.(*acp.ToolCallPermissionSubject)
	require.True(t, ok, "%T", asked[0].Subject)
	call := c.snapshot().ToolCall(string(subject.ToolCall.ToolCallID))
	require.NotNil(t, call)
	assert.Equal(t, model.ToolCompleted, call.Status)
	assert.Equal(t, "edit", call.Kind)
	require.NotEmpty(t, call.Content.Slice())
	diff := call.Content.At(0).Diff
	require.NotNil(t, diff)
	assert.Regexp(t, `(?m)^-old\n(\\ No newline.*\n)?\+new$`, diff.Patch)
	require.Len(t, diff.Changes, 1)
	assert.Contains(t, diff.Changes[0].Path, c.place.file)
}

func (c *conversation) rejected(t *testing.T) {
	c.viewer.next(acp.PermissionOptionKindRejectOnce)
	_, err := c.prompt(c.place.writing(t)).Wait()
	require.NoError(t, err)
	assert.Equal(t, "old\n", c.place.text(t))
	require.Len(t, c.viewer.questions(), 1)
	for _, call := range calls(c.snapshot()) {
		assert.False(t, call.Open(), "%s", call.Title)
	}
}

func (c *conversation) command(t *testing.T) {
	c.viewer.next(acp.PermissionOptionKindAllowOnce)
	text, err := c.prompt("run").Text()
	require.NoError(t, err)
	assert.Contains(t, text, "It ran.")
	s := c.snapshot()
	if c.plain {
		all := calls(s)
		assert.Equal(t, model.ToolCompleted, all[len(all)-1].Status)
		assert.Zero(t, s.Terminals.Len())
		return
	}
	require.Positive(t, s.Terminals.Len())
	terminal := s.Terminals.At(s.Terminals.Len() - 1)
	assert.Contains(t, string(terminal.Output), "there")
	require.NotNil(t, terminal.Exit)
	require.NotNil(t, terminal.Exit.Code)
	assert.Zero(t, *terminal.Exit.Code)
}

// waits reads the turn until the model has said all, and waits.
func waits(t *testing.T, turn *client.Turn) {
	t.Helper()
	text := ""
	for u, err := range turn.Updates() {
		require.NoError(t, err)
		if chunk, ok := u.(*acp.AgentMessageChunk); ok {
			if text += acp.PlainText(chunk.Content); strings.Contains(text, "I wait.") {
				return
			}
		}
	}
	assert.Fail(t, "the turn has ended", text)
}

func (c *conversation) cancel(t *testing.T) {
	turn := c.prompt("wait")
	waits(t, turn)
	require.NoError(t, turn.Cancel(c.ctx))
	end, err := turn.Wait()
	require.NoError(t, err)
	assert.Equal(t, acp.StopReasonCancelled, end.StopReason)
	c.text(t)
}

func (c *conversation) cancelAsked(t *testing.T) {
	asked := make(chan struct{})
	c.viewer.hold(asked)
	turn := c.prompt(c.place.writing(t))
	select {
	case <-asked:
	case <-c.ctx.Done():
		t.Fatal("not asked")
	}
	require.NoError(t, c.session.Cancel(c.ctx))
	end, err := turn.Wait()
	require.NoError(t, err)
	assert.Equal(t, acp.StopReasonCancelled, end.StopReason)
	assert.Equal(t, "old\n", c.place.text(t))
	assert.Empty(t, c.snapshot().Permissions)
	c.text(t)
}

func (c *conversation) queue(t *testing.T) {
	first := c.prompt("wait")
	waits(t, first)
	second := c.prompt("say")
	require.NoError(t, first.Cancel(c.ctx))
	_, err := first.Wait()
	require.NoError(t, err)
	if _, err := second.Wait(); err != nil {
		code, _ := rpcerr.CodeOf(err)
		assert.Equal(t, rpcerr.CodeRequestCancelled, code, "%v", err)
	}
	assert.Empty(t, c.snapshot().Queued)
	c.text(t)
}

func (c *conversation) option(t *testing.T) {
	value := func() string {
		for _, o := range c.snapshot().Options {
			if o.ID == "mode" {
				return o.Value
			}
		}
		return ""
	}
	assert.Equal(t, c.place.adapter.asking, value())
	require.NoError(t, c.session.SetConfigOption(c.ctx, "mode", acp.SessionConfigValueID(c.place.adapter.other)))
	assert.Equal(t, c.place.adapter.other, value())
	require.NoError(t, c.session.SetConfigOption(c.ctx, "mode", acp.SessionConfigValueID(c.place.adapter.asking)))
	assert.Equal(t, c.place.adapter.asking, value())
}

func (c *conversation) list(t *testing.T) {
	found := 0
	for info, err := range c.conn.Sessions(c.ctx, &acp.ListSessionsRequest{}) {
		require.NoError(t, err)
		if info.SessionID == c.session.ID() {
			found++
			assert.Equal(t, c.place.dir, string(info.Cwd))
		}
	}
	assert.Equal(t, 1, found)
}

func (c *conversation) close(t *testing.T) {
	require.NoError(t, c.session.Close(c.ctx))
	_, err := c.conn.Prompt(c.ctx, &acp.PromptRequest{SessionID: c.session.ID(), Prompt: []acp.ContentBlock{acp.Text("closed")}})
	assert.Error(t, err)
}

// replay resumes the session with its history, and checks that the history contains the
// earlier messages.
func (c *conversation) replay(t *testing.T) {
	before := messages(c.snapshot())
	s, err := c.conn.StartResumedSession(c.ctx, &acp.ResumeSessionRequest{
		SessionID: c.session.ID(), Cwd: acp.AbsolutePath(c.place.dir), ReplayFrom: &acp.ReplayFromStart{},
	}, nil)
	require.NoError(t, err)
	c.session = s
	after := c.snapshot()
	for _, m := range before {
		if !slices.Contains(c.place.adapter.forgets, m) {
			assert.Contains(t, messages(after), m)
		}
	}
	for _, call := range calls(after) {
		assert.False(t, call.Open(), "%s", call.Title)
	}
	assert.NotEmpty(t, calls(after))
	assert.IsType(t, &acp.IdleStateUpdate{}, s.State())
	c.text(t)
}

func (c *conversation) resume(t *testing.T, id acp.SessionID) {
	s, err := c.conn.StartResumedSession(c.ctx, &acp.ResumeSessionRequest{SessionID: id, Cwd: acp.AbsolutePath(c.place.dir)}, nil)
	require.NoError(t, err)
	c.session = s
	assert.Empty(t, messages(c.snapshot()))
	c.text(t)
}

func (c *conversation) unknown(t *testing.T) {
	_, err := c.conn.ResumeSession(c.ctx, &acp.ResumeSessionRequest{
		SessionID: "00000000-0000-4000-8000-000000000000", Cwd: acp.AbsolutePath(c.place.dir),
	})
	assert.Error(t, err)
}

func (c *conversation) delete(t *testing.T) {
	require.NoError(t, c.session.Delete(c.ctx))
	for info, err := range c.conn.Sessions(c.ctx, nil) {
		require.NoError(t, err)
		assert.NotEqual(t, c.session.ID(), info.SessionID)
	}
}

// messages returns who said what, without the space around it.
func messages(s *model.Snapshot) []string {
	var all []string
	for _, item := range s.Items.All() {
		if m, ok := item.(*model.Message); ok {
			all = append(all, line(m))
		}
	}
	return all
}

// line returns one message. Codex warns of a program that its sandbox misses, in version 1 in
// the middle of what it says.
func line(m *model.Message) string {
	text, _, _ := strings.Cut(m.Text(), "Config warning: ")
	return string(m.Role) + ": " + strings.TrimSpace(text)
}

func calls(s *model.Snapshot) []*model.ToolCall {
	var all []*model.ToolCall
	for _, item := range s.Items.All() {
		if c, ok := item.(*model.ToolCall); ok {
			all = append(all, c)
		}
	}
	return all
}
