package serving

import (
	"context"
	"sync/atomic"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Failure is an agent's own failure that has ended its connection, if there is one.
type Failure struct{ err atomic.Pointer[error] }

// End ends the connection with err, because the agent is faulty.
func (f *Failure) End(engine *rpc.Conn, err error) {
	f.err.CompareAndSwap(nil, &err)
	engine.Close()
}

// Or returns the failure, or err, which is that of the engine.
func (f *Failure) Or(err error) error {
	if own := f.err.Load(); own != nil {
		return *own
	}
	return err
}

// FailedCall decides what the client reads of the error that ended a tool call, and logs the rest: it
// returns the error that it reads, the id of the log line, and the details for development. own
// reports whether an error determines the update itself, and what it wraps.
func FailedCall(ctx context.Context, engine *rpc.Conn, id string, err error, own func(error) (wrapped error, ok, complete bool)) (told error, errorID, details string) {
	const msg = "acp: a tool call failed"
	_, meant := rpcerr.CodeOf(err)
	details = engine.Details(err)
	wrapped, ok, complete := own(err)
	if ok && complete && !meant {
		engine.LogKept(err, wrapped, msg, "toolCallId", id)
		return err, "", details
	}
	fault, errorID := engine.Fault(ctx, err, msg, "toolCallId", id)
	if !ok {
		err = fault
	}
	return err, errorID, details
}
