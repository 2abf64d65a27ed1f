package guard

import (
	"context"
	"errors"
	"log/slog"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Options of [Middleware]. The zero value is fine.
type Options struct {
	// Logger is where errors are written, without params, content or data. Nil means
	// slog.Default().
	Logger *slog.Logger
	// Classifier adds adapters for errors of other packages. Nil means none.
	Classifier *classify.Classifier
	// Map, when set, sees each error before it is logged and leaves. What it returns
	// takes its place; nil leaves it as it is. It is called by many goroutines.
	Map func(ctx context.Context, method string, e *kind.Error) *kind.Error
	// Develop puts into the message and the data what otherwise only the log
	// has: the texts of unexpected errors, causes and debug messages. Never in
	// production.
	Develop bool
}

// Middleware returns the middleware. It belongs into the list for received
// messages, as the first, so that it sees the errors of the others too. A nil opts
// means the defaults.
func Middleware(opts *Options) acp.Middleware {
	var o Options
	if opts != nil {
		o = *opts
	}
	return func(next acp.Handler) acp.Handler {
		return func(ctx context.Context, method string, params any) (any, error) {
			result, err := next(ctx, method, params)
			if err != nil {
				err = o.leave(ctx, method, err)
			}
			return result, err
		}
	}
}

func (o *Options) leave(ctx context.Context, method string, err error) error {
	explicit, ok := kind.From(err)
	if !ok && errors.Is(err, context.Canceled) {
		// The connection knows how a cancelled request is answered.
		o.logger().LogAttrs(ctx, slog.LevelDebug, "request cancelled", slog.String("method", method))
		return err
	}
	e := explicit
	if !ok {
		e = o.Classifier.Error(err)
	}
	if o.Map != nil {
		if mapped := o.Map(ctx, method, e); mapped != nil && mapped != e {
			if errors.Unwrap(mapped) == nil {
				mapped = mapped.WithCause(err)
			}
			e = mapped
		}
	}
	if !loggedBelow(err) {
		o.logger().LogAttrs(ctx, levelOf(e.Kind), "request failed", slog.String("method", method), slog.Any("error", e))
	}
	switch {
	case o.Develop:
		return exposed(e, err, !ok)
	case e == explicit:
		return &logged{err} // as it is, whatever type it has and whatever its data looks like
	}
	return e.WithLogged()
}

// logged tells the connection that the error inside is in the log already.
type logged struct{ error }

func (l *logged) Unwrap() error { return l.error }
func (*logged) Logged() bool    { return true }

func (o *Options) logger() *slog.Logger {
	if o.Logger != nil {
		return o.Logger
	}
	return slog.Default()
}

func loggedBelow(err error) bool {
	e, ok := errors.AsType[interface {
		error
		Logged() bool
	}](err)
	return ok && e.Logged()
}

// levelOf tells failures of this program from those that a caller brought about.
func levelOf(k kind.Kind) slog.Level {
	switch k {
	case kind.Cancelled:
		return slog.LevelDebug
	case kind.Internal, kind.Unknown, kind.Fatal, kind.Database, kind.Configuration, kind.InitializationFailed, kind.Serialization:
		return slog.LevelError
	}
	return slog.LevelWarn
}

// exposed adds what a developer wants to see at the other end.
func exposed(e *kind.Error, err error, unexpected bool) error {
	c := *e
	if unexpected {
		c.Message = err.Error()
	}
	if with := c.With("debug", debugOf(e, err)); !errors.Is(with, kind.ErrBadUse) {
		return with
	}
	return &c // its data is no object: leave it
}

func debugOf(e *kind.Error, err error) map[string]any {
	debug := map[string]any{"error": err.Error()}
	if e.Debug != "" {
		debug["message"] = e.Debug
	}
	var causes []string
	for cause := errors.Unwrap(e); cause != nil && len(causes) < 20; cause = errors.Unwrap(cause) {
		causes = append(causes, cause.Error())
	}
	if causes != nil {
		debug["causes"] = causes
	}
	return debug
}
