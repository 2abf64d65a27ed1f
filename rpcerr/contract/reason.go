package contract

import (
	"strings"

	"github.com/acpkit/go-sdk/rpcerr/internal/inside"
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

// Recovery returns the declared recovery, for the hint of an error:
//
//	return NoMatch.Failf("no article has the id %d", id).WithHint(NoMatch.Recovery())
func (r Reason) Recovery() string { return r.Mode().Recovery }

// Fail returns the error of this failure mode. Kind, code, reason and retryable are those
// of the declaration; an empty message is replaced by When. The recovery is added only by
// WithHint. A member "reason" in the data of the error does not replace the reason.
func (r Reason) Fail(message string) *kind.Error {
	if strings.TrimSpace(message) == "" {
		message = r.Mode().When
	}
	return r.declared(func(k kind.Kind) *kind.Error { return k.New(message) })
}

// Failf is Fail with a formatted message. An operand of %w becomes the cause,
// whose text the peer does not see; see [kind.Kind.Errorf].
func (r Reason) Failf(format string, args ...any) *kind.Error {
	return r.declared(func(k kind.Kind) *kind.Error { return k.Errorf(format, args...) })
}

func (r Reason) declared(build func(kind.Kind) *kind.Error) *kind.Error {
	m := r.Mode()
	if m.Reason == "" {
		return new(kind.Error).WithCause(&inside.Misuse{Func: "contract.Fail", Problem: "a Reason that was not declared"})
	}
	return build(m.Kind).WithReason(m.Reason).WithRetryable(m.Retryable)
}
