package contract

import (
	"encoding/json"
	"log/slog"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Error is a failure that a contract declares. It is a [kind.Error] whose kind and reason
// can no longer be changed: no method does, and a member "reason" in the data does not
// reach the place where clients look. The methods that begin with With return copies.
type Error struct {
	record *kind.Error
	mode   Mode
}

// edit returns a copy whose record is r.
func (e *Error) edit(r *kind.Error) *Error { return &Error{r, e.Mode()} }

// Mode returns the declaration that the error was made from.
func (e *Error) Mode() Mode {
	if e == nil {
		return Mode{}
	}
	return e.mode
}

// WithRecovery returns a copy that carries the declared recovery as its hint.
func (e *Error) WithRecovery() *Error { return e.WithHint(e.Mode().Recovery) }

// WithHint returns a copy with a hint made for this case, say one that names the ids
// which exist.
func (e *Error) WithHint(hint string) *Error { return e.edit(e.Record().WithHint(hint)) }

// WithData returns a copy whose data is v, encoded as by [kind.Error.WithData].
func (e *Error) WithData(v any) *Error { return e.edit(e.Record().WithData(v)) }

// With returns a copy that has one more member in its data.
func (e *Error) With(key string, value any) *Error { return e.edit(e.Record().With(key, value)) }

// WithRetryAfter returns a copy that may be retried after d.
func (e *Error) WithRetryAfter(d time.Duration) *Error { return e.edit(e.Record().WithRetryAfter(d)) }

// WithNoDelay returns a copy that may be retried at once.
func (e *Error) WithNoDelay() *Error { return e.edit(e.Record().WithNoDelay()) }

// WithCause returns a copy that wraps cause. The cause stays in the process.
func (e *Error) WithCause(cause error) *Error { return e.edit(e.Record().WithCause(cause)) }

// WithAttrs returns a copy with more attributes for the log.
func (e *Error) WithAttrs(attrs ...slog.Attr) *Error { return e.edit(e.Record().WithAttrs(attrs...)) }

// Error returns the message.
func (e *Error) Error() string { return e.Record().Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Record().Unwrap() }

// Is matches kinds and the sentinels of package rpcerr. For reasons there is
// [Reason.Matches].
func (e *Error) Is(target error) bool { return e.Record().Is(target) }

// As makes errors.As find the record, a *kind.Error, and the wire form, a
// *rpcerr.RequestError.
func (e *Error) As(target any) bool {
	record := e.Record()
	if r, ok := target.(**kind.Error); ok && record != nil {
		*r = record
		return true
	}
	return record.As(target)
}

// Record returns a copy of the record that all packages below rpcerr share.
func (e *Error) Record() *kind.Error {
	if e == nil || e.record == nil {
		return nil
	}
	c := *e.record
	return &c
}

// RequestError returns the wire form.
func (e *Error) RequestError() *rpcerr.RequestError {
	r := e.Record()
	if r == nil {
		return nil
	}
	if r.Mistake() != nil {
		return r.RequestError() // its cause names the mistake
	}
	return r.RequestError().WithCause(e)
}

// MarshalJSON writes the error object of JSON-RPC, so that errors can be stored;
// [kind.Error] reads it.
func (e Error) MarshalJSON() ([]byte, error) { return json.Marshal(e.Record()) }

// FailedToolCall makes it an [acp.ToolFailure].
func (e *Error) FailedToolCall() *acp.ToolCallUpdate { return e.Record().FailedToolCall() }

// LogValue returns everything except the data.
func (e *Error) LogValue() slog.Value { return e.Record().LogValue() }
