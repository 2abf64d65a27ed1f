package inside

import (
	"cmp"
	"crypto/rand"
	"errors"
	"log/slog"
	"strings"
)

// ErrBadUse is kind.ErrBadUse.
var ErrBadUse = errors.New("kind: bad use")

// Misuse is a call that cannot build what it was asked for. A record to which one is given
// as its cause stands in for the error that could not be built.
type Misuse struct {
	Func    string // the function that was called, such as "kind.Upstream"
	Problem string // what was wrong, such as "0 is not an HTTP error status"
}

// Error returns "Func: Problem".
func (m *Misuse) Error() string { return m.Func + ": " + m.Problem }

// Is makes it match ErrBadUse.
func (m *Misuse) Is(target error) bool { return target == ErrBadUse }

// Derived is the cause of a record whose kind a program chose by looking at Cause. The
// record keeps Cause alone, and its method Is reports true for [ErrDerived].
type Derived struct{ Cause error }

// Error returns the text of the cause.
func (d *Derived) Error() string { return d.Cause.Error() }

// ErrDerived asks the method Is of a record whether its kind was derived from its cause.
var ErrDerived = errors.New("kind: derived")

// logged marks the error inside as one that is in the log already. A connection looks for
// its methods Logged and ErrorID.
type logged struct {
	error
	id string
}

func (l *logged) Unwrap() error        { return l.error }
func (*logged) Logged() bool           { return true }
func (l *logged) ErrorID() string      { return l.id }
func (l *logged) LogValue() slog.Value { return LogAttr("", l.error).Value }

// Logged returns err with the mark that it is in the log already, and with its id or a new one.
func Logged(err error) error { return &logged{err, cmp.Or(ErrorID(err), NewErrorID())} }

// IsLogged reports whether err, or something that it wraps, is in the log already.
func IsLogged(err error) bool {
	l, ok := As[interface{ Logged() bool }](err)
	return ok && l.Logged()
}

// ErrorID returns the id under which err is in the log, and "" if it has none.
func ErrorID(err error) string {
	if l, ok := As[interface{ ErrorID() string }](err); ok {
		return l.ErrorID()
	}
	return ""
}

// NewErrorID is rpcerr.NewErrorID.
func NewErrorID() string { return strings.ToLower(rand.Text()[:8]) }
