package contract

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Mode is one way in which a tool fails, as it is declared.
type Mode struct {
	// Reason is the stable name that clients compare, in snake_case. Required, and
	// unique within the contract.
	Reason string
	// Kind is the kind of the failure, which determines its code. Required.
	Kind kind.Kind
	// When describes when it happens, for documentation. Required.
	When string
	// Recovery is what the caller should do next. Required; a model reads it, so "Try again."
	// is not enough.
	Recovery string
	// Retryable reports whether the same call may succeed later.
	Retryable bool
}

// Contract is the list of the failure modes of a tool. It is built while the program starts,
// from package-level variables, and does not change afterwards. Its methods but Declare are
// safe for concurrent use.
type Contract struct {
	tool  string
	modes []Mode
}

// New returns an empty contract for the tool of that name. It panics without a
// name, as regexp.MustCompile does for a bad pattern: contracts are declared in
// package-level variables.
func New(tool string) *Contract {
	if strings.TrimSpace(tool) == "" {
		panic("contract.New: a contract needs the name of its tool")
	}
	return &Contract{tool: tool}
}

var snake = regexp.MustCompile(`^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$`)

// Declare adds a failure mode and returns the handle by which the tool fails with
// it. Keep the handle in a package-level variable: a misspelt variable does not
// compile, where a misspelt string would.
//
// It panics if a required field is missing, or if the reason is taken or not in snake_case.
// That happens when the program starts and not when the tool fails.
func (c *Contract) Declare(m Mode) Reason {
	if problem := c.problem(m); problem != "" {
		panic(fmt.Sprintf("contract %s: reason %q: %s", c.tool, m.Reason, problem))
	}
	c.modes = append(c.modes, m)
	return Reason{c, len(c.modes) - 1}
}

func (c *Contract) problem(m Mode) string {
	switch {
	case m.Reason == "":
		return "Reason is empty"
	case !snake.MatchString(m.Reason):
		return "Reason is not in snake_case"
	case slices.ContainsFunc(c.modes, func(o Mode) bool { return o.Reason == m.Reason }):
		return "is declared twice"
	case m.Kind == "":
		return "Kind is missing"
	case !m.Kind.Known():
		return fmt.Sprintf("Kind %q is none of the constants of package kind", string(m.Kind))
	case strings.TrimSpace(m.When) == "":
		return "When is empty"
	case strings.TrimSpace(m.Recovery) == "":
		return "Recovery is empty"
	}
	return ""
}

// Tool returns the tool's name.
func (c *Contract) Tool() string { return c.tool }

// Modes returns the failure modes in the order of their declaration.
func (c *Contract) Modes() iter.Seq[Mode] { return slices.Values(c.modes) }

// Lookup returns the mode that is declared under the reason.
func (c *Contract) Lookup(reason string) (Mode, bool) {
	for _, m := range c.modes {
		if m.Reason == reason {
			return m, true
		}
	}
	return Mode{}, false
}

// Hint returns the recovery that is declared under the reason, and "" for an
// unknown reason or a nil contract.
func (c *Contract) Hint(reason string) string {
	if c == nil {
		return ""
	}
	m, _ := c.Lookup(reason)
	return m.Recovery
}

type contextKey struct{}

// NewContext returns a ctx that carries the contract of the tool which is running, so
// that code below the tool can ask for what it declares.
func NewContext(ctx context.Context, c *Contract) context.Context {
	return context.WithValue(ctx, contextKey{}, c)
}

// Hint returns the recovery that the running tool declares under the reason. It
// returns "" when the tool has no contract or does not declare the reason, and an
// empty hint is no hint, so that code below a tool need not know which tool it is:
//
//	kind.Validation.New("The formula does not parse.").WithReason("parse_failed").WithHint(contract.Hint(ctx, "parse_failed"))
func Hint(ctx context.Context, reason string) string {
	c, _ := ctx.Value(contextKey{}).(*Contract)
	return c.Hint(reason)
}

// Markdown returns the declared list as a table, for the documentation of the tool.
func (c *Contract) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Errors of %s\n\n", c.tool)
	b.WriteString("| reason | kind | code | when | retry | recovery |\n|---|---|---|---|---|---|\n")
	for _, m := range c.modes {
		retry := "no"
		if m.Retryable {
			retry = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %d | %s | %s | %s |\n", m.Reason, string(m.Kind), m.Kind.Code(), cell(m.When), retry, cell(m.Recovery))
	}
	return b.String()
}

// cell makes text fit into a cell of a table.
func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}
