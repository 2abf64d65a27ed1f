package contract

import (
	"strings"

	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Reason is a declared failure mode, as [Contract.Declare] returns it. The zero
// value belongs to no contract; failing with it is bad use.
type Reason struct {
	contract *Contract
	index    int
}

// Mode returns the declaration.
func (r Reason) Mode() Mode {
	if r.contract == nil {
		return Mode{}
	}
	return r.contract.modes[r.index]
}

// String returns the reason's name.
func (r Reason) String() string { return r.Mode().Reason }

// Matches reports whether err carries this reason: an error that Fail built, one of a
// lower layer that names the reason, or an error that a peer sent.
func (r Reason) Matches(err error) bool {
	e, ok := kind.From(err)
	return ok && e.Reason != "" && e.Reason == r.String()
}

// Fail returns the error of this failure mode. Kind, code, reason and retryable are those
// of the declaration; an empty message is replaced by When. The recovery is added only by
// [Error.WithRecovery].
func (r Reason) Fail(message string) *Error {
	m := r.Mode()
	if m.Reason == "" {
		return &Error{kind.BadUse("contract.Fail", "a Reason that was not declared"), m}
	}
	if strings.TrimSpace(message) == "" {
		message = m.When
	}
	return r.declared(m.Kind.New(message))
}

// Failf is Fail with a formatted message. An operand of %w becomes the cause,
// whose text the peer does not see; see [kind.Kind.Errorf].
func (r Reason) Failf(format string, args ...any) *Error {
	m := r.Mode()
	if m.Reason == "" {
		return r.Fail("")
	}
	return r.declared(m.Kind.Errorf(format, args...))
}

func (r Reason) declared(e *kind.Error) *Error {
	m := r.Mode()
	return &Error{e.WithReason(m.Reason).WithRetryable(m.Retryable), m}
}
