package rawpeer

import (
	"context"
	"testing"
)

// Conn is an end of a connection that a test examines, in any version of the protocol.
type Conn interface {
	Start(context.Context) error
	Close() error
	Wait() error
}

// Start starts an end of a connection, and returns it. When the test ends, so does the
// connection.
func Start[C Conn](t testing.TB, conn C) C {
	t.Helper()
	if err := conn.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		_ = conn.Wait() // the test has looked at the error, if it matters
	})
	return conn
}
