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
// returns the id of the log line, the details for development, and the error that the client reads. own
// reports whether an error determines the update itself, and what it wraps.
func FailedCall(ctx context.Context, engine *rpc.Conn, id string, err error, own func(error) (ok, complete bool, wrapped error)) (errorID, details string, told error) {
	const msg = "acp: a tool call failed"
	_, meant := rpcerr.CodeOf(err)
	details = engine.Details(err)
	ok, complete, wrapped := own(err)
	if ok && complete && !meant {
		engine.LogKept(err, wrapped, msg, "toolCallId", id)
		return "", details, err
	}
	fault, errorID := engine.Fault(ctx, err, msg, "toolCallId", id)
	if !ok {
		err = fault
	}
	return errorID, details, err
}
