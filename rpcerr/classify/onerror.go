package classify

import (
	"context"
	"errors"
	"log/slog"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// OnErrorOptions are options for [OnError]. The zero value is ready to use.
type OnErrorOptions struct {
	// Logger receives each error once, without params, content and data. Nil means
	// slog.Default().
	Logger *slog.Logger
	// Classifier adds adapters for errors of other packages. Nil means none.
	Classifier *Classifier
	// Map, if not nil, is called with each error before it is logged and sent. Its result
	// is used in place of the error; if it returns nil, the error is used. Map must be
	// safe for concurrent use.
	Map func(ctx context.Context, where string, e *kind.Error) *kind.Error
}

// OnError returns a function for the option OnError of packages agent and client. The
// function classifies and logs each error that is about to be sent as the error of a
// request or of a tool call. Nil options mean the defaults.
//
//	agent.Serve(ctx, stream.Stdio(), newAgent, &agent.Options{OnError: classify.OnError(nil)})
//
// Without it, an unexpected error is sent as -32603 "Internal error". With it, the error
// for a missing file is sent as -32002, and that for a refused connection as "Service
// unavailable, retryable", still without the text of the error. An error that defines
// what is sent, such as a *kind.Error or an acp.ToolFailure, is logged and not changed.
func OnError(opts *OnErrorOptions) func(ctx context.Context, where string, err error) error {
	var o OnErrorOptions
	if opts != nil {
		o = *opts
	}
	return o.leave
}

func (o *OnErrorOptions) leave(ctx context.Context, where string, err error) error {
	if err == nil {
		return nil
	}
	err = WithContext(ctx, err)
	explicit, ok := kind.From(err)
	if !ok && errors.Is(err, context.Canceled) {
		// The connection knows how the error of a cancelled request leaves, and that any
		// other is unexpected.
		level, message := slog.LevelDebug, "request cancelled"
		if ctx.Err() == nil {
			level, message = slog.LevelError, "request failed"
		}
		o.log(ctx, level, message, where, err, slog.String("error", rpcerr.LogText(err)))
		return &logged{err}
	}
	if !ok && failsToolCall(err) {
		o.log(ctx, slog.LevelWarn, "request failed", where, err, slog.String("error", rpcerr.LogText(err)))
		return &logged{err}
	}
	e := explicit
	if !ok {
		e = o.Classifier.Error(err)
	}
	if o.Map != nil {
		if mapped := o.Map(ctx, where, e); mapped != nil && mapped != e {
			if errors.Unwrap(mapped) == nil {
				mapped = mapped.WithCause(err)
			}
			e = mapped
		}
	}
	attrs := []slog.Attr{slog.Any("error", e)}
	if ok && error(explicit) != err { // what was wrapped around it
		attrs = append(attrs, slog.String("wrapped", rpcerr.LogText(err)))
	}
	o.log(ctx, levelOf(e.Kind), "request failed", where, err, attrs...)
	if e == explicit {
		return &logged{err} // its type and the form of its data stay as they are
	}
	return e.WithLogged()
}

func (o *OnErrorOptions) log(ctx context.Context, level slog.Level, message, where string, err error, attrs ...slog.Attr) {
	if loggedBelow(err) {
		return
	}
	logger := o.Logger
	if logger == nil {
		logger = slog.Default()
	}
	logger.LogAttrs(ctx, level, message, append([]slog.Attr{slog.String("where", where)}, attrs...)...)
}

// failsToolCall reports whether err decides itself how a tool call ends.
func failsToolCall(err error) bool {
	f, ok := errors.AsType[acp.ToolFailure](err)
	return ok && f.FailedToolCall() != nil
}

// logged says to the connection that the error inside is in the log already.
type logged struct{ error }

func (l *logged) Unwrap() error { return l.error }
func (*logged) Logged() bool    { return true }

func loggedBelow(err error) bool {
	e, ok := errors.AsType[interface {
		error
		Logged() bool
	}](err)
	return ok && e.Logged()
}

// levelOf separates failures of this program from those that a caller brought about.
func levelOf(k kind.Kind) slog.Level {
	switch k {
	case kind.Cancelled:
		return slog.LevelDebug
	case kind.Internal, kind.Unknown, kind.Fatal, kind.Database, kind.Configuration, kind.InitializationFailed, kind.Serialization:
		return slog.LevelError
	}
	return slog.LevelWarn
}
