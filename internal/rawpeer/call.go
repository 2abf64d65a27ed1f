package rawpeer

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"testing"
)

// Caller is an end of a connection that sends requests by name.
type Caller interface {
	Call(ctx context.Context, method string, params, result any) error
}

// CallEndsWithCtx checks that a call ends with its ctx. If ctx is done before the call, nothing is
// sent. If it ends while the call is in flight, the peer receives the notification cancel, and its
// late response is dropped. The next call succeeds.
func (p *Peer) CallEndsWithCtx(c Caller, method, params, result, cancel string) {
	p.t.Helper()
	call := func(ctx context.Context) error { return c.Call(ctx, method, json.RawMessage(params), nil) }
	ctx, end := context.WithCancel(context.Background())
	end()
	if err := call(ctx); !errors.Is(err, context.Canceled) {
		p.fail("%s before it is sent: %v", method, err)
	}
	ctx, end = context.WithCancel(context.Background())
	defer end()
	ended := make(chan error, 1)
	go func() { ended <- call(ctx) }() // ends with ctx
	m := p.Expect(method)
	if !sameJSON(string(m.Params), params) {
		p.fail("%s was sent with %s in place of %s", method, m.Params, params)
	}
	end()
	p.Expect(cancel)
	if err := <-ended; !errors.Is(err, context.Canceled) {
		p.fail("%s in flight: %v", method, err)
	}
	p.Answer(m, result)

	go func() { p.Answer(p.Expect(method), result) }() // ends with the response
	if err := call(context.Background()); err != nil {
		p.fail("%s after that: %v", method, err)
	}
}

func sameJSON(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// Conn is the connection under test, in any version of the protocol.
type Conn interface {
	Start(context.Context) error
	Close() error
	Wait() error
}

// Start starts a connection and returns it. The connection ends with the test.
func Start[C Conn](t testing.TB, conn C) C {
	t.Helper()
	if err := conn.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		_ = conn.Wait() // a test that needs the error has checked it
	})
	return conn
}
