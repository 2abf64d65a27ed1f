package agent

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/acp"
)

// terminalGrace limits the calls that kill and release a terminal after the ctx of the caller is
// done.
const terminalGrace = 10 * time.Second

// errNoAnswer is the error of a call if a sending middleware called runtime.Goexit.
var errNoAnswer = errors.New("agent: a sending middleware ended its goroutine")

// Terminal is a command that runs at the client. The agent must release it when it is no
// longer needed, also after an error:
//
//	term, err := conn.StartTerminal(ctx, req)
//	if err != nil {
//		return err
//	}
//	defer term.Release(ctx)
//
// All methods are safe for concurrent use.
type Terminal struct {
	conn     *Conn
	session  acp.SessionID
	id       acp.TerminalID
	released atomic.Bool
}

// StartTerminal starts a command at the client and does not wait for its end. If ctx is
// done before the client has responded, StartTerminal returns the error of ctx, and a
// terminal that the client creates later is released.
func (c *Conn) StartTerminal(ctx context.Context, req *acp.CreateTerminalRequest) (*Terminal, error) {
	if ctx.Err() != nil {
		return nil, c.engine.CtxError(ctx)
	}
	if req == nil {
		req = &acp.CreateTerminalRequest{}
	}
	// The call continues after ctx is done, because the command can only be stopped with the
	// terminal's id in the response.
	lasting, stop := context.WithCancel(context.WithoutCancel(ctx))
	type answer struct {
		term *Terminal
		err  error
	}
	answered, abandoned := make(chan answer), make(chan struct{})
	go func() { // ends with the call: when the client responds, stop is called, or the connection ends
		defer stop()
		a := answer{err: errNoAnswer}
		defer func() { // runs even if a middleware calls runtime.Goexit
			select {
			case answered <- a:
			case <-abandoned:
				if a.term != nil {
					_ = a.term.Release(lasting) // the caller has left
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
		return nil, c.engine.CtxError(ctx)
	}
}

// StartTerminal calls [Conn.StartTerminal] with a copy of req that has the id of this
// session.
func (s *Session) StartTerminal(ctx context.Context, req *acp.CreateTerminalRequest) (*Terminal, error) {
	return s.conn.StartTerminal(ctx, s.ownTerminal(req))
}

// ownTerminal returns a copy of req with the id of this session.
func (s *Session) ownTerminal(req *acp.CreateTerminalRequest) *acp.CreateTerminalRequest {
	var own acp.CreateTerminalRequest
	if req != nil {
		own = *req
	}
	own.SessionID = s.id
	return &own
}

// ID returns the terminal's id.
func (t *Terminal) ID() acp.TerminalID { return t.id }

// Content returns content that shows the terminal in a tool call, while the command runs
// and after the release of the terminal.
func (t *Terminal) Content() acp.ToolCallContent { return &acp.Terminal{TerminalID: t.id} }

// Output returns the output of the command so far, and its exit status if it has ended.
// It does not wait for more output.
func (t *Terminal) Output(ctx context.Context) (*acp.TerminalOutputResponse, error) {
	return t.conn.TerminalOutput(ctx, &acp.TerminalOutputRequest{SessionID: t.session, TerminalID: t.id})
}

// WaitForExit waits until the command has ended or ctx is done.
func (t *Terminal) WaitForExit(ctx context.Context) (*acp.WaitForTerminalExitResponse, error) {
	return t.conn.WaitForTerminalExit(ctx, &acp.WaitForTerminalExitRequest{SessionID: t.session, TerminalID: t.id})
}

// Kill ends the command; its output can still be read. Kill ignores whether ctx is done,
// because a command is often killed for that reason. It takes 10 seconds at most.
func (t *Terminal) Kill(ctx context.Context) error {
	ctx, stop := outlive(ctx)
	defer stop()
	_, err := t.conn.KillTerminal(ctx, &acp.KillTerminalRequest{SessionID: t.session, TerminalID: t.id})
	return err
}

// Release ends the command if it still runs, and releases the terminal at the client.
// Calls after the first do nothing. Like [Terminal.Kill], it ignores whether ctx is done.
func (t *Terminal) Release(ctx context.Context) error {
	if t.released.Swap(true) {
		return nil
	}
	ctx, stop := outlive(ctx)
	defer stop()
	_, err := t.conn.ReleaseTerminal(ctx, &acp.ReleaseTerminalRequest{SessionID: t.session, TerminalID: t.id})
	return err
}

// outlive returns a ctx for cleaning up. It keeps the values of ctx but not its end. It ends after
// terminalGrace.
func outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), terminalGrace)
}

// TerminalResult is the output of a command and how the command ended.
type TerminalResult struct {
	// Output is the output of the command. If Truncated is true, it is only the last
	// part of the output.
	Output    string
	Truncated bool
	// ExitCode is nil if a signal ended the command, or if it is not known how the
	// command ended.
	ExitCode *uint32
	// Signal is the name of the signal that ended the command, or empty.
	Signal string
}

// RunTerminal runs a command at the client and waits for its end: it creates a terminal,
// waits for the exit, reads the output, and always releases the terminal. A non-zero exit
// code is not an error of RunTerminal.
//
// If ctx is done first, because of a deadline or because the turn was cancelled,
// RunTerminal kills the command and returns the error of ctx together with a result that
// holds the output so far. The result is nil only if the output could not be read.
func (c *Conn) RunTerminal(ctx context.Context, req *acp.CreateTerminalRequest) (*TerminalResult, error) {
	return c.RunTerminalFunc(ctx, req, func(*Terminal) error { return nil })
}

// RunTerminalFunc is like [Conn.RunTerminal] and calls started with the terminal before it waits,
// for example to show it. If started fails, the terminal is released.
func (c *Conn) RunTerminalFunc(ctx context.Context, req *acp.CreateTerminalRequest, started func(*Terminal) error) (*TerminalResult, error) {
	term, err := c.StartTerminal(ctx, req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = term.Release(ctx) }() // the result of the command is known
	if err := started(term); err != nil {
		return nil, err
	}
	exit, waitErr := term.WaitForExit(ctx)

	after, stop := outlive(ctx)
	defer stop()
	if waitErr != nil {
		// The caller no longer waits for the command. The command may print more between the kill
		// and its end.
		if term.Kill(after) == nil {
			exit, _ = term.WaitForExit(after)
		}
	}
	out, err := term.Output(after)
	if err != nil {
		if waitErr != nil {
			err = waitErr
		}
		return nil, err
	}
	res := &TerminalResult{Output: out.Output, Truncated: out.Truncated}
	switch {
	case exit != nil:
		res.ExitCode, res.Signal = exit.ExitCode, exit.Signal
	case out.ExitStatus != nil:
		res.ExitCode, res.Signal = out.ExitStatus.ExitCode, out.ExitStatus.Signal
	}
	return res, waitErr
}

// RunTerminal calls [Conn.RunTerminal] with a copy of req that has the id of this session.
func (s *Session) RunTerminal(ctx context.Context, req *acp.CreateTerminalRequest) (*TerminalResult, error) {
	return s.conn.RunTerminal(ctx, s.ownTerminal(req))
}

// RunTerminal is like [Session.RunTerminal] and shows the terminal in the tool call, where it
// replaces the previous content. The client still shows the output after the command has ended:
// call [ToolCall.Finish] without content.
func (t *ToolCall) RunTerminal(ctx context.Context, req *acp.CreateTerminalRequest) (*TerminalResult, error) {
	return t.session.conn.RunTerminalFunc(ctx, t.session.ownTerminal(req), func(term *Terminal) error {
		return t.Progress(ctx, term.Content())
	})
}

// ReadFile returns the content of a text file as the client sees it, including unsaved
// changes. Path must be absolute. If the file does not exist, the error is
// rpcerr.ErrResourceNotFound. For some lines of a file, call [Conn.ReadTextFile].
func (s *Session) ReadFile(ctx context.Context, path string) (string, error) {
	res, err := s.conn.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: s.id, Path: path})
	if err != nil {
		return "", err
	}
	return res.Content, nil
}

// WriteFile creates or replaces a text file. Path must be absolute.
func (s *Session) WriteFile(ctx context.Context, path, content string) error {
	_, err := s.conn.WriteTextFile(ctx, &acp.WriteTextFileRequest{SessionID: s.id, Path: path, Content: content})
	return err
}
