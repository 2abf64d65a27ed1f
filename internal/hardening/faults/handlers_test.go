package faults_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/hardening/pairtest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/wire"
)

const secret = "hunter2"

// misdeed is something a handler should not do.
type misdeed struct {
	do     func() error      // in place of the handler's work
	result func(own any) any // in place of its result
	stack  bool              // the log tells where it was
}

var misdeeds = map[string]misdeed{
	"panics":               {do: func() error { panic(secret) }, stack: true},
	"panics with an error": {do: func() error { panic(errors.New(secret)) }, stack: true},
	"panics in the runtime": {do: func() error {
		var list []string
		list[len(secret)-1] = secret
		return nil
	}, stack: true},
	"ends its goroutine":               {do: func() error { runtime.Goexit(); return nil }},
	"returns an error":                 {do: func() error { return errors.New(secret) }},
	"returns what cannot be encoded":   {result: func(own any) any { return withMeta(own, make(chan int)) }},
	"returns what panics when encoded": {result: func(own any) any { return withMeta(own, unencodable{}) }, stack: true},
	"returns something else":           {result: func(any) any { return 5i }},
}

// unencodable panics where it should return an error.
type unencodable struct{}

func (unencodable) MarshalJSON() ([]byte, error) { panic(secret) }

// withMeta puts a value into the _meta of a result.
func withMeta(own, value any) any {
	if _, ok := own.(json.RawMessage); ok {
		return value
	}
	v := reflect.ValueOf(own)
	fresh := reflect.New(v.Elem().Type())
	fresh.Elem().Set(v.Elem())
	fresh.Elem().FieldByName("Meta").Set(reflect.ValueOf(acp.Meta{"x": value}))
	return fresh.Interface()
}

// setup makes every method of both roles do the misdeed once it is armed.
func (m misdeed) setup(log *pairtest.Log, armed *bool) pairtest.Setup {
	do := func(context.Context, string, any) (any, error) {
		if *armed && m.do != nil {
			return nil, m.do()
		}
		return nil, nil
	}
	change := []acp.Middleware{func(next acp.Handler) acp.Handler {
		return func(ctx context.Context, method string, params any) (any, error) {
			res, err := next(ctx, method, params)
			if *armed && err == nil && m.result != nil {
				res = m.result(res)
			}
			return res, err
		}
	}}
	return pairtest.Setup{
		Agent:         func(*agent.Conn) acp.Agent { return &peertest.FullAgent{Do: do} },
		Client:        func(*client.Conn) acp.Client { return &peertest.FullClient{Do: do} },
		AgentOptions:  agent.Options{Logger: log.Logger(), Receiving: change},
		ClientOptions: client.Options{Logger: log.Logger(), Receiving: change},
	}
}

// startSide starts one end, and returns its peer.
func startSide(t *testing.T, side wire.Side, s pairtest.Setup) *rawpeer.Peer {
	t.Helper()
	over, peer := rawpeer.Pipe(t)
	if side == wire.Client {
		pairtest.StartClient(t, over, s)
		return peer
	}
	pairtest.StartAgent(t, over, s)
	peer.Call("0", "initialize", peertest.Params["initialize"])
	_, ok := peer.Recv()
	require.True(t, ok)
	return peer
}

// Whatever the handler of whichever method does, it is answered -32603 and nothing of
// it reaches the peer; the log has it all, and the connection goes on.
func TestMisdeedsOfRequestHandlers(t *testing.T) {
	for name, m := range misdeeds {
		for _, side := range []wire.Side{wire.Agent, wire.Client} {
			t.Run(fmt.Sprint(name, " ", side), func(t *testing.T) {
				pairtest.Bubble(t, func(t *testing.T) {
					var log pairtest.Log
					var armed bool
					peer := startSide(t, side, m.setup(&log, &armed))
					for i, method := range peertest.Requests(t, side) {
						armed = true
						id := fmt.Sprint(i + 1)
						before := len(log.String())
						peer.Call(id, method, peertest.Params[method])
						answer, ok := peer.Recv()
						require.True(t, ok, method)
						assert.Equal(t, id, string(answer.ID), method)
						require.NotNil(t, answer.Error, method)
						assert.Equal(t, -32603, answer.Error.Code, method)
						assert.Equal(t, "Internal error", answer.Error.Message, method)
						assert.Nil(t, answer.Error.Data, method)
						synctest.Wait()
						said := log.String()[before:]
						assert.Contains(t, said, method, "the log names the method")
						assert.Equal(t, m.stack, strings.Contains(said, "stack="), "%s: %s", method, said)

						armed = false
						peer.Call(id, method, peertest.Params[method])
						answer, ok = peer.Recv()
						require.True(t, ok, method)
						assert.Nil(t, answer.Error, method)
					}
				})
			})
		}
	}
}

// notifications has params for what the sides are told.
var notifications = map[wire.Side]map[string]string{
	wire.Agent: {
		"session/cancel": `{"sessionId":"s"}`,
		"mcp/message":    `{"serverId":"s","requestId":"r","method":"notifications/progress"}`,
		"_note":          `{"n":1}`,
	},
	wire.Client: {
		"session/update":       `{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}`,
		"elicitation/complete": `{"elicitationId":"e"}`,
		"auth/status_update":   `{"state":"authenticated"}`,
		"_note":                `{"n":1}`,
	},
}

// A handler of a notification may do the same; the next one is handled.
func TestMisdeedsOfNotificationHandlers(t *testing.T) {
	for name, m := range misdeeds {
		if m.do == nil {
			continue
		}
		for side, all := range notifications {
			t.Run(fmt.Sprint(name, " ", side), func(t *testing.T) {
				pairtest.Bubble(t, func(t *testing.T) {
					var log pairtest.Log
					var armed bool
					peer := startSide(t, side, m.setup(&log, &armed))
					for method, params := range all {
						armed = true
						before := len(log.String())
						for range 3 {
							peer.Notify(method, params)
						}
						synctest.Wait()
						said := log.String()[before:]
						assert.Equal(t, m.stack, strings.Contains(said, "stack="), "%s: %s", method, said)
						armed = false
						peer.Call("1", "_extension", "[1]")
						answer, ok := peer.Recv()
						require.True(t, ok)
						assert.JSONEq(t, "[1]", string(answer.Result), method)
					}
				})
			})
		}
	}
}

// A handler that takes no notice of its ctx does not keep the connection from ending,
// and Run names it.
func TestHandlersThatNeverReturn(t *testing.T) {
	gate := make(chan struct{})
	hang := func(context.Context, string, any) (any, error) { <-gate; return nil, nil }
	for _, side := range []wire.Side{wire.Agent, wire.Client} {
		for _, closes := range []bool{false, true} {
			t.Run(fmt.Sprint(side, " closes ", closes), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					gate = make(chan struct{})
					s, peer := rawpeer.Pipe(t)
					var c interface {
						Wait() error
						Close() error
					}
					armed := false
					do := func(ctx context.Context, method string, params any) (any, error) {
						if armed {
							return hang(ctx, method, params)
						}
						return nil, nil
					}
					if side == wire.Agent {
						c = pairtest.StartAgent(t, s, pairtest.Setup{Agent: func(*agent.Conn) acp.Agent { return &peertest.FullAgent{Do: do} }})
						peer.Call("0", "initialize", peertest.Params["initialize"])
						_, ok := peer.Recv()
						require.True(t, ok)
					} else {
						c = pairtest.StartClient(t, s, pairtest.Setup{Client: func(*client.Conn) acp.Client { return &peertest.FullClient{Do: do} }})
					}
					armed = true
					var names []string
					for i, method := range peertest.Requests(t, side) {
						peer.Call(fmt.Sprint(i+1), method, peertest.Params[method])
						names = append(names, method)
					}
					for method, params := range notifications[side] {
						if method != "session/cancel" { // it would wait for the prompt
							peer.Notify(method, params)
							names = append(names, method)
							break // one is handled at a time
						}
					}
					synctest.Wait()
					begun := time.Now()
					want := 5 * time.Second
					if closes {
						_ = c.Close()
						assert.Zero(t, time.Since(begun), "Close waits for no handler")
					} else {
						peer.Close()
						want += 5 * time.Second
					}
					err := c.Wait()
					assert.Equal(t, want, time.Since(begun))
					require.ErrorIs(t, err, acp.ErrHandlerStuck)
					for _, name := range names {
						assert.ErrorContains(t, err, name)
					}
					close(gate)
				})
			})
		}
	}
}
