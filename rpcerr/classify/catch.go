package classify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"

	"github.com/acpkit/go-sdk/internal/errs"
	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Op describes an operation of a service, whose errors [Op.Catch] classifies and logs once.
// All fields except Name may be zero. An Op is safe for concurrent use.
type Op struct {
	// Name is the name of the operation in the log, such as "Store.Load". Required.
	Name string
	// Attrs are added to the log record. They are for identifiers, not for content.
	Attrs []slog.Attr
	// Kind is the kind of every error that carries none, no adapter knows and is not that of a
	// ctx or a deadline. If Kind is empty, the rules of this package determine the kind.
	Kind kind.Kind
	// Classifier adds adapters. Nil means none.
	Classifier *Classifier
	// Map, if not nil, is called with each error. Its result replaces the error unless it is nil.
	Map func(*kind.Error) *kind.Error
	// Critical logs at level Error+4 in place of Error.
	Critical bool
	// Stack adds the stack to the log record. The record of a panic always has it.
	Stack bool
	// Logger receives the records. Nil means slog.Default().
	Logger *slog.Logger
}

// Catch is for defer, with the address of the named result:
//
//	defer classify.Op{Name: "Store.Load"}.Catch(ctx, &err)
//
// It does nothing if *err is nil and nothing panicked. Otherwise *err becomes a *kind.Error
// that wraps it. A panic becomes an internal error, with the value and the stack in the log
// only. An error that is in the log already is not logged again; a cancelled operation is
// logged at level Debug. Catch calls [WithContext].
func (o Op) Catch(ctx context.Context, err *error) {
	if v := recover(); v != nil {
		if err == nil {
			panic(v) // there is no result to set
		}
		// The error gets a kind, so that an error that was passed to panic is not sent as if it had
		// been returned.
		*err = o.caught(ctx, kind.Internal.New(kind.Internal.Message()).WithCause(&panicError{v}), debug.Stack())
		return
	}
	if err == nil || *err == nil {
		return
	}
	var stack []byte
	if o.Stack {
		stack = debug.Stack()
	}
	*err = o.caught(ctx, *err, stack)
}

// panicError is the cause of the internal error that a panic becomes.
type panicError struct{ value any }

// Error shows errors, texts and numbers as they are, and the type of any other value: the
// content of a request that is passed to panic must not reach the log.
func (p *panicError) Error() string { return "panic: " + panics.Text(p.value) }

func (p *panicError) Unwrap() error {
	err, _ := p.value.(error)
	return err
}

func (o Op) caught(ctx context.Context, err error, stack []byte) error {
	err = WithContext(ctx, err)
	e := o.classify(err)
	if o.Map != nil {
		e = mapped(e, o.Map(e), err)
	}
	logged := e.WithLogged()
	if errs.IsLogged(err) {
		return logged
	}
	level := slog.LevelError
	switch {
	case e.Kind == kind.Cancelled:
		level = slog.LevelDebug
	case o.Critical:
		level += 4
	}
	attrs := slices.Concat([]slog.Attr{slog.String("operation", cmp.Or(o.Name, "(unnamed operation)"))}, o.Attrs, []slog.Attr{slog.Any("error", e)}, errorID(logged))
	if stack != nil {
		attrs = append(attrs, slog.String("stack", string(stack)))
	}
	cmp.Or(o.Logger, slog.Default()).LogAttrs(ctx, level, "operation failed", attrs...)
	return logged
}

// mapped returns to, with the cause err if it has none, and from if to is nil.
func mapped(from, to *kind.Error, err error) *kind.Error {
	switch {
	case to == nil || to == from:
		return from
	case errors.Unwrap(to) == nil:
		return to.WithCause(err)
	}
	return to
}

func (o Op) classify(err error) *kind.Error {
	if e, ok := kind.From(err); ok {
		if error(e) == err {
			return e
		}
		return e.WithCause(err) // keeps the errors that wrap e
	}
	// An operation that was cancelled or ran out of time says nothing about the kind of
	// failure that was expected.
	if o.Kind == "" || errs.Is(err, context.Canceled) || errs.Is(err, context.DeadlineExceeded) || errs.Is(err, os.ErrDeadlineExceeded) {
		return o.Classifier.record(err)
	}
	if e := o.Classifier.adapted(err); e != nil {
		return e
	}
	return withoutLogin(o.Kind.New(o.Kind.Message())).WithCause(err)
}

// WithContext adds the reason of ctx to the error of a command that ctx killed, for which
// package os/exec returns nothing but "signal: killed". The result wraps err, ctx.Err and, if
// it differs, the cause of ctx, so that it classifies as a timeout or as cancelled.
// WithContext returns any other err unchanged. [Op.Catch] and the function of [OnError] call it.
func WithContext(ctx context.Context, err error) error {
	if err == nil || ctx == nil || ctx.Err() == nil || errs.Is(err, ctx.Err()) {
		return err
	}
	exit, ok := errs.As[*exec.ExitError](err)
	if !ok || exit.ProcessState == nil || exit.ExitCode() != -1 { // it was not ended by a signal
		return err
	}
	if cause := context.Cause(ctx); cause != ctx.Err() {
		return fmt.Errorf("%w: %w: %w", ctx.Err(), cause, err)
	}
	return fmt.Errorf("%w: %w", ctx.Err(), err)
}
