package agent

import (
	"context"
	"crypto/rand"
	"encoding/base64"

	"github.com/acpkit/go-sdk/draft2/acp"
)

// Terminal shows the client a terminal that runs at the agent. It implements io.Writer:
// the agent writes the output of the command to it. All methods are safe for concurrent
// use.
type Terminal struct {
	session *Session
	id      acp.TerminalID
	ctx     context.Context
}

// StartTerminal announces a terminal. It replaces an empty TerminalID by a new one. The
// argument u is neither modified nor retained. The methods of the Terminal send their
// updates with ctx.
func (s *Session) StartTerminal(ctx context.Context, u *acp.TerminalUpdate) (*Terminal, error) {
	var first acp.TerminalUpdate
	if u != nil {
		first = *u
	}
	if first.TerminalID == "" {
		first.TerminalID = acp.TerminalID("term_" + rand.Text())
	}
	if err := s.Update(ctx, &first); err != nil {
		return nil, err
	}
	return &Terminal{s, first.TerminalID, ctx}, nil
}

// StartTerminal is like [Session.StartTerminal] and adds the terminal to the content of the tool
// call.
func (t *ToolCall) StartTerminal(ctx context.Context, u *acp.TerminalUpdate) (*Terminal, error) {
	term, err := t.session.StartTerminal(ctx, u)
	if err == nil {
		err = t.session.AddToolContent(ctx, t.id, term.Content())
	}
	return term, err
}

// ID returns the terminal's id.
func (t *Terminal) ID() acp.TerminalID { return t.id }

// Content returns content that shows the terminal in a tool call.
func (t *Terminal) Content() acp.ToolCallContent { return &acp.Terminal{TerminalID: t.id} }

// Write sends p as output of the terminal. The data may end within a character.
func (t *Terminal) Write(p []byte) (int, error) {
	const most = 64 << 10 // bytes in one update
	for sent := 0; sent < len(p); {
		n := min(len(p)-sent, most)
		err := t.session.Update(t.ctx, &acp.TerminalOutputChunk{
			TerminalID: t.id, Data: base64.StdEncoding.EncodeToString(p[sent : sent+n]),
		})
		if err != nil {
			return sent, err
		}
		sent += n
	}
	return len(p), nil
}

// Exited reports that the command has ended with an exit code.
func (t *Terminal) Exited(code int64) error {
	return t.exit(acp.TerminalExitStatus{ExitCode: &code})
}

// Killed reports that a signal has ended the command.
func (t *Terminal) Killed(signal string) error {
	return t.exit(acp.TerminalExitStatus{Signal: signal})
}

func (t *Terminal) exit(status acp.TerminalExitStatus) error {
	return t.session.Update(t.ctx, &acp.TerminalUpdate{TerminalID: t.id, ExitStatus: acp.Some(status)})
}
