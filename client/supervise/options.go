package supervise

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
)

// Options configure a [Supervisor]. Dial and Client must be set.
type Options struct {
	// Dial starts the agent or connects to it. See stream.CommandDial.
	Dial func(ctx context.Context) (stream.Stream, error)
	// Client makes the client of each connection, as the function given to client.New.
	Client func(*client.Conn) acp.Client
	// Conn are the options of each connection.
	Conn *client.Options
	// Initialize is the first request on each connection. Nil means the default of
	// client.Conn.Initialize.
	Initialize *acp.InitializeRequest
	// Handshake is how long Dial may take, and then initialize, whose error names the time; the first
	// time it includes the end of an agent that fails. Zero means 1 minute.
	Handshake time.Duration

	Restart Restart

	// SignIn signs the user in if the agent requires it. It is called at most once for each
	// connection. Nil means that the call fails.
	SignIn func(ctx context.Context, conn *client.Conn) error

	// OnDown is called when a connection ends without being closed, and OnReturn when a
	// session was reopened, or could not be reopened. OnReturn may be called for several
	// sessions at once. The agent is not started again before OnDown returns.
	OnDown   func(Down)
	OnReturn func(Return)
}

// Restart configures when an agent that has died is started again.
type Restart struct {
	// Min and Max bound the pause before a start. It begins at Min and doubles with each
	// failure in a row; half of it is random. Zero means 500 ms and 30 s.
	Min, Max time.Duration
	// Limit is the number of failures in a row (deaths and failed starts) that the Supervisor
	// tolerates; it gives up after one more. Zero means 5; a negative value means no limit.
	// A death after the agent has run for a minute counts as the first failure.
	Limit int
}

// longLife is how long an agent must have run for its death to count as the first failure.
const longLife = time.Minute

func (r *Restart) fill() {
	if r.Min <= 0 {
		r.Min = 500 * time.Millisecond
	}
	if r.Max <= 0 {
		r.Max = 30 * time.Second
	}
	r.Max = max(r.Max, r.Min)
	r.Limit = cmp.Or(r.Limit, 5)
}

// pause returns how long to wait after a number of failures in a row.
func (r *Restart) pause(failures int) time.Duration {
	d := r.Min
	for range failures - 1 {
		d = min(2*d, r.Max)
	}
	return d/2 + rand.N(d/2+1)
}

// Down describes the end of a connection.
type Down struct {
	// Err is the reason why it ended; nil if the agent closed it. See client.Conn.Wait.
	Err error
	// Failures is the number of failures in a row, including this one.
	Failures int
}

// Return describes the attempt to reopen a session on a new connection.
type Return struct {
	Session *Session
	// How is the way in which the session was reopened; empty if it was not.
	How How
	// OldID and NewID are its ids before and after. They differ if How is HowNew.
	OldID, NewID acp.SessionID
	// Lost is the reason why the session is new although the agent can resume or load
	// sessions.
	Lost error
	// Settings is the error of setting a mode or an option again; nil if there was none.
	Settings error
	// Err is the reason why the session could not be reopened. [Session.Retry] tries again.
	Err error
}

// How is the way in which a session was opened.
type How string

// The values of [How].
const (
	// HowNew means that the session is new: the agent does not know the conversation.
	HowNew How = "new"
	// HowResumed means that the session continues.
	HowResumed How = "resumed"
	// HowLoaded means that the session continues and that its history was replayed.
	HowLoaded How = "loaded"
)

// ErrGaveUp is wrapped by the error of a Supervisor whose agent has failed too often in a
// row. It wraps the last failure too.
var ErrGaveUp = errors.New("supervise: the agent failed too often in a row")

// ErrClosed is returned after [Supervisor.Close].
var ErrClosed = errors.New("supervise: the supervisor is closed")

var (
	errNotStarted = errors.New("supervise: the Supervisor is not started: call Start first")
	errStarted    = errors.New("supervise: the Supervisor is already started")
)
