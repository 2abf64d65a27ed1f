package client

import (
	"context"
	"strings"

	"github.com/acpkit/go-sdk/acp"
)

// Turn is one prompt with its updates and its response. The caller must call Updates, Text
// or Wait, on any goroutine: if the unread updates of a turn exceed Limits.Backlog, the
// connection stops reading. All methods are safe for concurrent use.
type Turn struct {
	session *Session
	feed    feed

	done chan struct{} // closed when res and err are set
	res  *acp.PromptResponse
	err  error
}

func newTurn(s *Session) *Turn {
	t := &Turn{session: s, done: make(chan struct{})}
	t.feed.init(&s.conn.engine)
	return t
}

func (t *Turn) finish(res *acp.PromptResponse, err error) {
	t.feed.close()
	t.res, t.err = res, err
	close(t.done)
}

// Wait waits until the turn has ended and returns its response or its error. Unless a loop
// over Updates is running, it drops the unread updates. Wait may be called more than once.
func (t *Turn) Wait() (*acp.PromptResponse, error) {
	t.feed.dropUnread()
	<-t.done
	return t.res, t.err
}

// Text reads the remaining updates and returns the text of the agent's messages in them,
// without thoughts, tool calls and other updates. If the turn failed, Text also returns
// the error; if it ended with another stop reason than end_turn, a *[StopError]. Use
// [Turn.Wait] for the response.
func (t *Turn) Text() (string, error) {
	var b strings.Builder
	for u, err := range t.Updates() {
		if err != nil {
			return b.String(), err
		}
		if chunk, ok := u.(*acp.AgentMessageChunk); ok {
			b.WriteString(acp.PlainText(chunk.Content))
		}
	}
	res, err := t.Wait()
	if err == nil {
		err = stopError(res.StopReason)
	}
	return b.String(), err
}

// Cancel asks the agent to end the turn, which then ends with the stop reason "cancelled".
// If the turn has already ended, Cancel does nothing.
func (t *Turn) Cancel(ctx context.Context) error {
	select {
	case <-t.done:
		return nil
	default:
		return t.session.Cancel(ctx)
	}
}
