package classify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"

	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Op describes an operation of a service whose failures are caught: classified,
// written to the log once, and returned. The zero value of every field but Name
// has a meaning. An Op may be kept and used by several goroutines.
type Op struct {
	// Name stands in the log, such as "Store.Load". Required.
	Name string
	// Attrs stand beside it. They are for identifiers, not for content.
	Attrs []slog.Attr
	// Kind is what an error becomes that does not say itself what it is. Empty means
	// that the tables decide.
	Kind kind.Kind
	// Classifier adds adapters. Nil means none.
	Classifier *Classifier
	// Map, when set, has the last word on what is returned: enrich or replace the
	// error. A nil result leaves it as it was.
	Map func(*kind.Error) *kind.Error
	// Critical logs at level Error+4 in place of Error.
	Critical bool
	// Stack adds the stack of the catching goroutine to the log. A panic always
	// has it.
	Stack bool
	// Logger is where it is written. Nil means slog.Default().
	Logger *slog.Logger
}

// LevelCritical is the level of operations marked Critical.
const LevelCritical = slog.LevelError + 4

// Catch is for defer, with the address of the named result:
//
//	defer classify.Op{Name: "Store.Load"}.Catch(ctx, &err)
//
// It does nothing when *err is nil and nothing panicked. Otherwise *err becomes a
// *kind.Error that wraps it. A panic becomes an internal error, with the
// panic's value and stack in the log only. An error that a Catch further down has
// logged is not logged again; cancelling is logged at level Debug.
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

// Do runs f and catches what it returns or panics with, as [Op.Catch] does.
func Do[T any](ctx context.Context, op Op, f func(context.Context) (T, error)) (result T, err error) {
	defer op.Catch(ctx, &err)
	return f(ctx)
}

// PanicError is the cause of the internal error that a panic becomes.
type PanicError struct {
	Value any // what was passed to panic
}

// Error tells the value as the Go runtime does when it ends a program: errors, texts and
// numbers as they are, of everything else the type. Who panics with a request must not
// have its content in the log.
func (p *PanicError) Error() string {
	if err, ok := p.Value.(error); ok {
		return "panic: " + fmt.Sprint(err) // which survives an Error method that panics
	}
	switch k := reflect.ValueOf(p.Value).Kind(); {
	case k == reflect.String, reflect.Bool <= k && k <= reflect.Complex128:
		return "panic: " + fmt.Sprint(reflect.ValueOf(p.Value))
	}
	return fmt.Sprintf("panic: a value of type %T", p.Value)
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
	e := o.classify(err)
	if o.Map != nil {
		if mapped := o.Map(e); mapped != nil {
			if errors.Unwrap(mapped) == nil {
				mapped = mapped.WithCause(err)
			}
			e = mapped
		}
	}
	if loggedBelow(err) {
		return e.WithLogged()
	}
	o.log(ctx, e, err, stack)
	return e.WithLogged()
}

func (o Op) classify(err error) *kind.Error {
	if e, ok := kind.From(err); ok {
		if error(e) == err {
			return e
		}
		return e.WithCause(err) // keeps what was wrapped around it
	}
	// Giving up is never a failure of the kind that was expected.
	if o.Kind == "" || errors.Is(err, context.Canceled) {
		return o.Classifier.Error(err)
	}
	return o.Kind.New(o.Kind.Message()).WithCause(err)
}

func loggedBelow(err error) bool {
	e, ok := errors.AsType[interface {
		error
		Logged() bool
	}](err)
	return ok && e.Logged()
}

func (o Op) log(ctx context.Context, e *kind.Error, err error, stack []byte) {
	level := slog.LevelError
	switch {
	case e.Kind == kind.Cancelled:
		level = slog.LevelDebug
	case o.Critical:
		level = LevelCritical
	}
	logger := o.Logger
	if logger == nil {
		logger = slog.Default()
	}
	name := o.Name
	if name == "" {
		name = "(unnamed operation)"
	}
	attrs := append([]slog.Attr{slog.String("operation", name)}, o.Attrs...)
	attrs = append(attrs, slog.Any("error", e))
	if stack != nil {
		attrs = append(attrs, slog.String("stack", string(stack)))
	}
	logger.LogAttrs(ctx, level, "operation failed", attrs...)
}
