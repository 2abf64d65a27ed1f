package contract

import "context"

type contextKey struct{}

// NewContext returns a ctx that carries the contract of the tool which is running, so
// that code below the tool can ask for what it declares.
func NewContext(ctx context.Context, c *Contract) context.Context {
	return context.WithValue(ctx, contextKey{}, c)
}

// FromContext returns the contract that ctx carries, or nil.
func FromContext(ctx context.Context) *Contract {
	c, _ := ctx.Value(contextKey{}).(*Contract)
	return c
}

// Hint returns the recovery that the running tool declares under the reason. It
// returns "" when the tool has no contract or does not declare the reason, and an
// empty hint is no hint, so that code below a tool need not know which tool it is:
//
//	kind.Validation.New("The formula does not parse.").WithReason("parse_failed").WithHint(contract.Hint(ctx, "parse_failed"))
func Hint(ctx context.Context, reason string) string { return FromContext(ctx).Hint(reason) }
