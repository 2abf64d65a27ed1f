package classify

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/rpcerr/internal/inside"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Op describes an operation of a service. [Op.Catch] classifies its errors, logs each of
// them once, and returns them. All fields except Name may be zero. An Op is safe for
// concurrent use.
type Op struct {
	// Name is the name of the operation in the log, such as "Store.Load". Required.
	Name string
	// Attrs are added to the log record. They are for identifiers, not for content.
	Attrs []slog.Attr
	// Kind is the kind of every error of the operation, unless the error carries a kind,
	// an adapter knows it, or a ctx or a deadline ended the operation. If Kind is empty,
	// the rules of this package determine the kind.
	Kind kind.Kind
	// Classifier adds adapters. Nil means none.
	Classifier *Classifier
	// Map, if not nil, is called with each error. Its result is returned in place of the
	// error; if it returns nil, the error is returned.
	Map func(*kind.Error) *kind.Error
	// Critical logs at level Error+4 in place of Error.
	Critical bool
	// Stack adds the stack of the goroutine to the log record. The record of a panic
	// always has it.
	Stack bool
	// Logger receives the records. Nil means slog.Default().
	Logger *slog.Logger
}

// Catch is for defer, with the address of the named result:
//
//	defer classify.Op{Name: "Store.Load"}.Catch(ctx, &err)
//
// It does nothing if *err is nil and nothing panicked. Otherwise *err becomes a *kind.Error
// that wraps it. A panic becomes an internal error, with the value and the stack of the panic
// in the log only. An error that is in the log already is not logged again; a cancelled
// operation is logged at level Debug. Catch calls [WithContext] with ctx.
func (o Op) Catch(ctx context.Context, err *error) {
	if v := recover(); v != nil {
		if err == nil {
			panic(v) // nowhere to put it
		}
		*err = o.caught(ctx, panicked(v), debug.Stack())
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

// PanicError is the cause of the internal error that a panic becomes.
type PanicError struct {
	Value any // what was passed to panic
}

// Error shows the value as the Go runtime does when it ends a program: errors, texts and
// numbers as they are, and the type of any other value. The content of a request that is
// passed to panic must not reach the log.
func (p *PanicError) Error() string {
	return "panic: " + panics.Text(p.Value)
}

// Unwrap returns the value when it is an error.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// panicked is explicit, so that an error used as the panic's value does not
// leave as if it had been returned.
func panicked(v any) error {
	return kind.Internal.New(kind.Internal.Message()).WithCause(&PanicError{v})
}

func (o Op) caught(ctx context.Context, err error, stack []byte) error {
	err = WithContext(ctx, err)
	e := o.classify(err)
	if o.Map != nil {
		if mapped := o.Map(e); mapped != nil {
			if errors.Unwrap(mapped) == nil {
				mapped = mapped.WithCause(err)
			}
			e = mapped
		}
	}
	logged := e.WithLogged()
	if !inside.IsLogged(err) {
		o.log(ctx, e, errorID(logged), stack)
	}
	return logged
}

func (o Op) classify(err error) *kind.Error {
	if e, ok := kind.From(err); ok {
		if error(e) == err {
			return e
		}
		return e.WithCause(err) // keeps what was wrapped around it
	}
	// An operation that was cancelled or ran out of time says nothing about the kind of
	// failure that was expected.
	if o.Kind == "" || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return o.Classifier.Error(err)
	}
	if e := o.Classifier.adapted(err); e != nil {
		return e
	}
	return withoutLogin(o.Kind.New(o.Kind.Message())).WithCause(err)
}

func (o Op) log(ctx context.Context, e *kind.Error, id []slog.Attr, stack []byte) {
	level := slog.LevelError
	switch {
	case e.Kind == kind.Cancelled:
		level = slog.LevelDebug
	case o.Critical:
		level = slog.LevelError + 4
	}
	logger := o.Logger
	if logger == nil {
		logger = slog.Default()
	}
	attrs := append([]slog.Attr{slog.String("operation", cmp.Or(o.Name, "(unnamed operation)"))}, o.Attrs...)
	attrs = append(append(attrs, slog.Any("error", e)), id...)
	if stack != nil {
		attrs = append(attrs, slog.String("stack", string(stack)))
	}
	logger.LogAttrs(ctx, level, "operation failed", attrs...)
}
