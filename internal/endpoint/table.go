package endpoint

import (
	"context"
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
)

// Table collects the methods that one end handles.
type Table struct {
	Entries []*rpc.Entry
	has     map[string]bool // by table key
}

// Has tells whether the request method is handled.
func (t *Table) Has(method string) bool { return t.has[method] }

func (t *Table) add(key string, e *rpc.Entry) *rpc.Entry {
	if e.Method == nil {
		// Both tables are written by us and covered by a test.
		panic("endpoint: no row for " + key)
	}
	if t.has == nil {
		t.has = map[string]bool{}
	}
	t.has[key] = true
	t.Entries = append(t.Entries, e)
	return e
}

// Request adds a request method that f answers.
func Request[P, R any](t *Table, name string, f func(context.Context, *P) (*R, error)) *rpc.Entry {
	return t.add(name, &rpc.Entry{
		Method: wire.Request(acp.ProtocolVersion, name),
		Handle: func(ctx context.Context, params any) (any, error) {
			p, ok := params.(*P)
			if !ok {
				return nil, badParams[P](name, params)
			}
			res, err := f(ctx, p)
			if err != nil {
				return nil, err
			}
			if res == nil {
				// An empty answer, which most methods allow; the check of what
				// leaves finds the others.
				res = new(R)
			}
			return res, nil
		},
	})
}

// Notification adds a notification that f handles.
func Notification[P any](t *Table, name string, f func(context.Context, *P) error) *rpc.Entry {
	return t.add(wire.NotificationKey(name), &rpc.Entry{
		Method: wire.Notification(acp.ProtocolVersion, name),
		Handle: func(ctx context.Context, params any) (any, error) {
			p, ok := params.(*P)
			if !ok {
				return nil, badParams[P](name, params)
			}
			return nil, f(ctx, p)
		},
	})
}

// badParams is what a middleware gets that hands on params of another type.
func badParams[P any](name string, params any) error {
	return fmt.Errorf("acp: %s: a middleware passed on %T instead of %T", name, params, new(P))
}
