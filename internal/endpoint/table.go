package endpoint

import (
	"fmt"
	"strings"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Table collects the methods that one end handles.
type Table struct {
	// Unstable means that roles with unstable methods are allowed.
	Unstable bool
	// Handles reports whether a method of an optional interface is served. If it is nil, all
	// are.
	Handles func(method string) bool

	Entries []*rpc.Entry
	refused string // the first role that is not allowed
	mixed   string // what Handles returned for the first role that is served in part
}

func (t *Table) add(e *rpc.Entry) *rpc.Entry {
	t.Entries = append(t.Entries, e)
	return e
}

// Serves reports whether the methods of a role are served. It asks once for each method.
func (t *Table) Serves(role string, methods ...string) bool {
	if t.Handles == nil {
		return true
	}
	var yes, no []string
	for _, m := range methods {
		if t.Handles(m) {
			yes = append(yes, m)
		} else {
			no = append(no, m)
		}
	}
	if len(yes) > 0 && len(no) > 0 && t.mixed == "" {
		t.mixed = fmt.Sprintf("true for %s and false for %s: %s needs all or none of them",
			strings.Join(yes, ", "), strings.Join(no, ", "), role)
	}
	return len(no) == 0
}

// Allows reports whether a role with unstable methods may be used.
func (t *Table) Allows(role string) bool {
	if !t.Unstable && t.refused == "" {
		t.refused = role
	}
	return t.Unstable
}

// Refused returns an error if v has a role that is not allowed or is served in part. end is
// the name of the package that v was passed to.
func (t *Table) Refused(end string, v any) error {
	switch {
	case t.mixed != "":
		return fmt.Errorf("%s: Handles of %T returned %s", end, v, t.mixed)
	case t.refused == "":
		return nil
	}
	return fmt.Errorf("%s: %T implements %s, which is unstable: set Options.Unstable or drop the method", end, v, t.refused)
}

// Entry returns the row of a method, or nil if it is not handled.
func (t *Table) Entry(m *wire.Method) *rpc.Entry {
	for _, e := range t.Entries {
		if e.Method == m {
			return e
		}
	}
	return nil
}

// has reports whether the request method is handled.
func (t *Table) has(method string) bool {
	for _, e := range t.Entries {
		if e.Name == method && !e.Notification {
			return true
		}
	}
	return false
}

// Promise is a capability that promises a method, and the role that defines the method.
type Promise struct{ Capability, Method, Role string }

// Broken returns the first promise that is advertised and whose method is not in the table. has
// reports whether a capability is advertised.
func (t *Table) Broken(promises []Promise, has func(path string) bool) (p Promise, broken bool) {
	for _, p := range promises {
		if has(p.Capability) && !t.has(p.Method) {
			return p, true
		}
	}
	return Promise{}, false
}

// Present returns *p, after setting it to a new value if it is nil.
func Present[T any](p **T) *T {
	if *p == nil {
		*p = new(T)
	}
	return *p
}

// notEnabled is the error for an unstable method without Options.Unstable.
type notEnabled struct{ end, method string }

// NotEnabled returns the error for an unstable method that the options do not allow. end is the
// name of the package of the end.
func NotEnabled(end, method string) error { return &notEnabled{end, method} }

func (e *notEnabled) Error() string {
	return fmt.Sprintf("%s: %s is an unstable method: set Options.Unstable to call it", e.end, e.method)
}

// RequestError returns the error for the peer of a proxy: method not found.
func (e *notEnabled) RequestError() *rpcerr.RequestError {
	return rpcerr.MethodNotFound(e.method).WithCause(e)
}
