package agent

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/acp"
)

// terminalGrace bounds what is done for a terminal after the ctx of its user has
// ended: it has to be killed and released all the same.
const terminalGrace = 10 * time.Second

// errNoAnswer is what a call returns whose goroutine a sending middleware ended.
var errNoAnswer = errors.New("agent: a sending middleware ended its goroutine")

// Terminal is a command that runs at the client. Release it when it is no longer
// needed, also after an error:
//
//	term, err := conn.StartTerminal(ctx, req)
//	if err != nil {
//		return err
//	}
//	defer term.Release(ctx)
//
// All methods may be called from any goroutine.
type Terminal struct {
	conn     *Conn
	session  acp.SessionID
	id       acp.TerminalID
	released atomic.Bool
}

// StartTerminal starts a command at the client and returns at once. When ctx ends
// before the client has answered, a terminal that is created nevertheless is
// released.
func (c *Conn) StartTerminal(ctx context.Context, req *acp.CreateTerminalRequest) (*Terminal, error) {
	if ctx.Err() != nil {
		return nil, c.engine.Get().CtxError(ctx)
	}
	if req == nil {
		req = &acp.CreateTerminalRequest{}
	}
	// The call outlives ctx, because an answer that nobody reads would leave a
	// command running that nobody can stop.
	lasting, stop := context.WithCancel(context.WithoutCancel(ctx))
	type answer struct {
		term *Terminal
		err  error
	}
	answered, abandoned := make(chan answer), make(chan struct{})
	go func() { // ends with the call: when the client answers, stop is called, or the connection ends
		defer stop()
		a := answer{err: errNoAnswer}
		defer func() { // also when a middleware ends the goroutine
			select {
			case answered <- a:
			case <-abandoned:
				if a.term != nil {
					a.term.Release(lasting)
				}
			}
		}()
		res, err := c.CreateTerminal(lasting, req)
		if a.err = err; err == nil {
			a.term = &Terminal{conn: c, session: req.SessionID, id: res.TerminalID}
		}
	}()
	select {
	case a := <-answered:
		return a.term, a.err
	case <-ctx.Done():
		close(abandoned)
		time.AfterFunc(terminalGrace, stop)
		return nil, c.engine.Get().CtxError(ctx)
	}
}

// StartTerminal is [Conn.StartTerminal] for this session; the request's SessionID is
// filled in.
func (s *Session) StartTerminal(ctx context.Context, req *acp.CreateTerminalRequest) (*Terminal, error) {
	return s.conn.StartTerminal(ctx, s.ownTerminal(req))
}

// ownTerminal makes req one of this session.
func (s *Session) ownTerminal(req *acp.CreateTerminalRequest) *acp.CreateTerminalRequest {
	var own acp.CreateTerminalRequest
	if req != nil {
		own = *req
	}
	own.SessionID = s.id
	return &own
}

// ID is the terminal's id at the client.
func (t *Terminal) ID() acp.TerminalID { return t.id }

// Content shows the terminal in a tool call, live and after its release.
func (t *Terminal) Content() acp.ToolCallContent { return &acp.Terminal{TerminalID: t.id} }

// Output returns what the command has printed so far, without waiting, and its exit
// status when it has ended.
func (t *Terminal) Output(ctx context.Context) (*acp.TerminalOutputResponse, error) {
	return t.conn.TerminalOutput(ctx, &acp.TerminalOutputRequest{SessionID: t.session, TerminalID: t.id})
}

// WaitForExit waits until the command has ended, for as long as ctx allows.
func (t *Terminal) WaitForExit(ctx context.Context) (*acp.WaitForTerminalExitResponse, error) {
	return t.conn.WaitForTerminalExit(ctx, &acp.WaitForTerminalExitRequest{SessionID: t.session, TerminalID: t.id})
}

// Kill ends the command; its output can still be read. It works with a ctx that has
// ended too, since that is when it is needed, and then takes 10 seconds at most.
func (t *Terminal) Kill(ctx context.Context) error {
	ctx, stop := outlive(ctx)
	defer stop()
	_, err := t.conn.KillTerminal(ctx, &acp.KillTerminalRequest{SessionID: t.session, TerminalID: t.id})
	return err
}

// Release ends the command if it still runs and gives the terminal up. Calls after
// the first do nothing. Like Kill it works with a ctx that has ended.
func (t *Terminal) Release(ctx context.Context) error {
	if t.released.Swap(true) {
		return nil
	}
	ctx, stop := outlive(ctx)
	defer stop()
	_, err := t.conn.ReleaseTerminal(ctx, &acp.ReleaseTerminalRequest{SessionID: t.session, TerminalID: t.id})
	return err
}

// outlive returns a ctx for cleaning up, which does not end with ctx but after a
// while.
func outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), terminalGrace)
}
