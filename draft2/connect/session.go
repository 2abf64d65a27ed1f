package connect

import (
	"context"
	"fmt"
	"slices"

	"github.com/acpkit/go-sdk/client/thread"
)

// Session is one conversation with an agent, in either version. All methods are safe for
// concurrent use.
type Session struct {
	conn   *Conn
	back   session
	thread *thread.Thread
}

// session contains what differs between the versions.
type session interface {
	id() string
	prompt(ctx context.Context, blocks []thread.Block) (wait func() (thread.Turn, error))
	cancel(ctx context.Context) error
	close(ctx context.Context) error
	setOption(ctx context.Context, id, value string) error
	setBool(ctx context.Context, id string, on bool) error
	setMode(ctx context.Context, id string) error
}

// ID returns the session's id.
func (s *Session) ID() string { return s.back.id() }

// Thread returns the thread of the session. Snapshot.Permissions are the pending permission
// requests; they are answered by Options.Permission or by the client of the program.
func (s *Session) Thread() *thread.Thread { return s.thread }

// Turn is one prompt and the work on it.
type Turn struct {
	done   chan struct{}
	result thread.Turn
	err    error
}

// Text returns a text block.
func Text(text string) thread.Block { return thread.Block{Type: thread.BlockText, Text: text} }

// Skill returns a block that calls a skill for the whole prompt. The skill is a [thread.Command] with Skill set;
// see Features.Skill. An agent lists its skills only to a client that advertised session.commands.skill in
// Options.InitializeV2.
func Skill(name string) thread.Block { return thread.Block{Type: thread.BlockSkill, Name: name} }

// Prompt sends a prompt and returns its turn when the prompt is queued for sending. The
// updates of the turn appear in the thread of the session. If a turn is already in
// progress, an agent of version 2 accepts the prompt at once or later; in version 1 the new
// turn fails with acp.ErrTurnRunning.
//
// If ctx is done, the agent is asked to cancel its work in the session.
func (s *Session) Prompt(ctx context.Context, blocks ...thread.Block) *Turn {
	t := &Turn{done: make(chan struct{})}
	wait := s.back.prompt(ctx, blocks)
	go func() { // ends with the turn
		t.result, t.err = wait()
		close(t.done)
	}()
	return t
}

// Done returns a channel that is closed when the turn has ended.
func (t *Turn) Done() <-chan struct{} { return t.done }

// Wait waits until the turn has ended, and returns the final state of the session. If the
// turn failed, Wait also returns the error.
func (t *Turn) Wait() (thread.Turn, error) {
	<-t.done
	return t.result, t.err
}

// Cancel asks the agent to end its work in the session. Turns end with the stop reason
// "cancelled".
func (s *Session) Cancel(ctx context.Context) error { return s.back.cancel(ctx) }

// Close ends the turns of the session and releases its resources at the agent. If the agent
// cannot close sessions, Close cancels the turns. The thread of the session keeps its content,
// but gets no more updates.
func (s *Session) Close(ctx context.Context) error {
	err := s.back.close(ctx)
	if err == nil {
		s.conn.forget(s.ID())
	}
	return err
}

// ModeOption is the id of the option for the modes of a session; see [Session.Options].
const ModeOption = "acpkit:mode"

// Options returns the settings of the session. If the session has modes and no options, as
// with some agents of version 1, the modes are one option with the id [ModeOption].
func (s *Session) Options() []thread.Option { return optionsOf(s.thread.Snapshot()) }

func optionsOf(now *thread.Snapshot) []thread.Option {
	if len(now.Options) > 0 || now.Modes == nil {
		return slices.Clone(now.Options)
	}
	mode := thread.Option{ID: ModeOption, Name: "Mode", Category: "mode", Type: thread.OptionSelect, Value: now.Modes.Current}
	var group thread.OptionGroup
	for _, m := range now.Modes.Available {
		group.Values = append(group.Values, thread.OptionValue(m))
	}
	mode.Groups = []thread.OptionGroup{group}
	return []thread.Option{mode}
}

// SetOption sets a select option of the session to the value with the given id. The agent
// may change other options with it.
func (s *Session) SetOption(ctx context.Context, id, value string) error {
	if id == ModeOption {
		return s.back.setMode(ctx, value)
	}
	return s.back.setOption(ctx, id, value)
}

// SetOptionBool sets a boolean option of the session.
func (s *Session) SetOptionBool(ctx context.Context, id string, on bool) error {
	return s.back.setBool(ctx, id, on)
}

// lost ends the turn in the thread, because the connection has ended.
func (s *Session) lost(err error) {
	if state := s.thread.Snapshot().Turn.State; state == "" || state == thread.StateIdle {
		return
	}
	why := "the connection to the agent was closed"
	if err != nil {
		why = fmt.Sprint(err)
	}
	s.thread.Do(thread.StateChanged{
		State: thread.StateIdle, StopReason: "error", Error: &thread.Failure{Message: why}, Background: &[]thread.Background{},
	})
}
