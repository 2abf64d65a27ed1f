package classify

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/errs"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// OnErrorOptions are options for [OnError]. The zero value is ready to use.
type OnErrorOptions struct {
	// Logger receives each error once, without params, content and data. Nil means
	// slog.Default(). Unlike the lines of a connection, its lines have no budget: each request
	// of a peer that fails writes one. One budget for all connections would let a peer hide
	// the errors of the others. A program that serves strangers passes a Logger whose handler
	// limits what one of them can write.
	Logger *slog.Logger
	// Classifier adds adapters for errors of other packages. Nil means none.
	Classifier *Classifier
	// Map, if not nil, is called with each error before it is logged and sent. Its result
	// replaces the error unless it is nil. Map must be safe for concurrent use.
	Map func(ctx context.Context, where string, e *kind.Error) *kind.Error
}

// OnError returns a function for the option OnError of packages agent and client, which
// classifies and logs each error that is about to be sent. Nil options mean the defaults.
//
// With it, the error for a missing file is sent as -32002 and not as an internal error, still
// without its text. An error that defines what is sent, such as a *kind.Error or an
// acp.ToolFailure, is logged and not changed.
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
	own, ok := kind.From(err)
	if cancelled := errs.Is(err, context.Canceled); !ok && (cancelled || failsToolCall(err)) {
		// The connection itself converts the error of a cancelled request. It treats any other
		// error of a ctx as unexpected.
		level, message := slog.LevelWarn, "request failed"
		if cancelled && ctx.Err() != nil {
			level, message = slog.LevelDebug, "request cancelled"
		} else if cancelled {
			level = slog.LevelError
		}
		return o.logged(ctx, level, message, where, err, errs.Logged(err), slog.String("error", errs.LogText(err)))
	}
	e := own
	if !ok {
		e = o.Classifier.record(err)
	}
	if o.Map != nil {
		e = mapped(e, o.Map(ctx, where, e), err)
	}
	attrs := []slog.Attr{slog.Any("error", e)}
	if ok && error(own) != err { // keep the errors that wrap it
		attrs = append(attrs, slog.String("wrapped", errs.LogText(err)))
	}
	if e == own { // its type and the form of its data stay as they are
		return o.logged(ctx, levelOf(e.Kind), "request failed", where, err, errs.Logged(err), attrs...)
	}
	return o.logged(ctx, levelOf(e.Kind), "request failed", where, err, e.WithLogged(), attrs...)
}

// logged logs err, unless it is in the log already, and returns what is sent in its place.
func (o *OnErrorOptions) logged(ctx context.Context, level slog.Level, message, where string, err, sent error, attrs ...slog.Attr) error {
	if !errs.IsLogged(err) {
		attrs = append(append([]slog.Attr{slog.String("where", where)}, attrs...), errorID(sent)...)
		cmp.Or(o.Logger, slog.Default()).LogAttrs(ctx, level, message, attrs...)
	}
	return sent
}

// failsToolCall reports whether err decides itself how a tool call ends.
func failsToolCall(err error) bool {
	f, ok := errs.As[acp.ToolFailure](err)
	return ok && f.FailedToolCall() != nil
}

// errorID returns the id of an error for the log, if the connection sends it.
func errorID(err error) []slog.Attr {
	if code, _ := rpcerr.CodeOf(rpcerr.From(err)); code != rpcerr.CodeInternalError && code != rpcerr.CodeRequestCancelled {
		return nil
	}
	return []slog.Attr{slog.String("errorId", errs.ErrorID(err))}
}

// levelOf returns a higher level for failures of this program than for those that a caller caused.
func levelOf(k kind.Kind) slog.Level {
	switch k {
	case kind.Cancelled:
		return slog.LevelDebug
	case kind.Internal, kind.Unknown, kind.Fatal, kind.Database, kind.Configuration, kind.InitializationFailed, kind.Serialization:
		return slog.LevelError
	}
	return slog.LevelWarn
}
