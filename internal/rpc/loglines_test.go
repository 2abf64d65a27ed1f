package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/internal/rpc"
)

// A peer sends bytes that mean nothing, as fast as it can: it cannot fill the disk with the
// log, and the log says how much it left out.
func TestPeerCannotFloodTheLog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var l logs
		fails := on(mEcho, func(context.Context, *msg) (*msg, error) { return nil, errors.New("no") })
		c, p := start(t, rpc.Config{Logger: l.logger(), Entries: []*rpc.Entry{fails}})
		const n = 1000
		for range n {
			p.Send("x")
			p.Next()
			p.Send(`{"jsonrpc":"2.0","method":"t/echo","id":1,"params":{}}`)
			p.Next()
		}
		assert.Equal(t, 256, strings.Count(l.String(), "\n"), "one budget for all lines")
		time.Sleep(3 * time.Second)
		p.Send("x")
		p.Next()
		assert.True(t, strings.HasSuffix(l.String(), fmt.Sprintf(" omitted=%d\n", 2*n-256)))
		for range 10 {
			p.Send("x")
			p.Next()
		}
		c.Close()
		assert.NoError(t, c.Wait())
		assert.True(t, strings.HasSuffix(l.String(), "msg=\"acp: lines of the log were omitted\" count=8\n"))
	})
}

// What a peer names is cut where it is logged, and a request that it got wrong is no warning.
func TestNamesOfThePeerAreCutInTheLog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var l, own logs
		long := strings.Repeat("m", 200_000)
		_, p := start(t, rpc.Config{Logger: l.logger(),
			OnError: func(_ context.Context, where string, err error) error {
				if logged, ok := errors.AsType[interface {
					error
					Logged() bool
				}](err); !ok || !logged.Logged() {
					own.logger().Error("failed", "where", where)
				}
				return nil
			},
			Entries: []*rpc.Entry{on(mEcho, func(context.Context, *msg) (*msg, error) { return nil, nil })},
			Defined: func(method string) bool { return method == long },
			Extension: func(_ context.Context, method string, _ json.RawMessage) (any, error) {
				return nil, errors.New("cannot " + method)
			}})
		p.Send(`{"jsonrpc":"2.0","method":"_%s","id":1}`, long)
		p.Next()
		p.Send(`{"jsonrpc":"2.0","method":"%s","id":2}`, long)
		p.Next()
		p.Send(`{"jsonrpc":"2.0","method":"t/echo","id":3,"params":{"n":-1}}`)
		assert.Contains(t, p.Next().Raw, "-32602")
		assert.Less(t, len(l.String()), 8<<10, "two names of 200 KB")
		assert.Equal(t, 1, strings.Count(own.String(), "\n"), "what the engine refuses is no failure")
		assert.Less(t, len(own.String()), 1<<10)
		assert.Equal(t, 2, strings.Count(l.String(), "level=DEBUG"), l.String())
	})
}
