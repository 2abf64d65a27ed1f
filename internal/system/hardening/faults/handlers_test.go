// Package faults holds tests of faults at an agent, at a client and between
// them: peers that die at any moment, streams that break, connections that are closed
// from everywhere, and handlers that panic or never return. It has no code of its own.
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
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/internal/wire"
)

const secret = "hunter2"

// misdeed is a mistake of a handler.
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

// roles makes every method of a role do the misdeed once it is armed.
func (m misdeed) roles(log *pairtest.Log, armed *bool) (peertest.Do, endOptions) {
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
	return do, endOptions{log: log.Logger(), receiving: change}
}

// A handler of any method that panics or fails gets the response -32603, without its text. The
// log has the error, and the connection goes on.
func TestMisdeedsOfRequestHandlers(t *testing.T) {
	for name, m := range misdeeds {
		eachSide(t, name, func(t *testing.T, v *protocol, side wire.Side) {
			var log pairtest.Log
			var armed bool
			do, opts := m.roles(&log, &armed)
			_, peer := v.start(t, side, do, opts)
			for i, method := range v.requests(t, side) {
				armed = true
				id := fmt.Sprint(i + 1)
				before := len(log.String())
				peer.Call(id, method, v.params[method])
				answer, ok := peer.Recv()
				require.True(t, ok, method)
				assert.Equal(t, id, string(answer.ID), method)
				require.NotNil(t, answer.Error, method)
				assert.Equal(t, -32603, answer.Error.Code, method)
				assert.Equal(t, "Internal error", answer.Error.Message, method)
				assert.JSONEq(t, `{"errorId":"ID"}`, rawpeer.NameErrorIDs(string(answer.Error.Data)), method)
				synctest.Wait()
				said := log.String()[before:]
				var data struct{ ErrorID string }
				require.NoError(t, json.Unmarshal(answer.Error.Data, &data))
				assert.Contains(t, said, "errorId="+data.ErrorID, method)
				assert.Contains(t, said, method, "the log names the method")
				assert.Equal(t, m.stack, strings.Contains(said, "stack="), "%s: %s", method, said)

				armed = false
				peer.Call(id, method, v.params[method])
				answer, ok = peer.Recv()
				require.True(t, ok, method)
				assert.Nil(t, answer.Error, method)
			}
		})
	}
}

// A handler of a notification may do the same; the next one is handled.
func TestMisdeedsOfNotificationHandlers(t *testing.T) {
	for name, m := range misdeeds {
		if m.do == nil {
			continue
		}
		eachSide(t, name, func(t *testing.T, v *protocol, side wire.Side) {
			var log pairtest.Log
			var armed bool
			do, opts := m.roles(&log, &armed)
			_, peer := v.start(t, side, do, opts)
			for method, params := range v.notes[side] {
				armed = true
				before := len(log.String())
				for range 3 {
					peer.Notify(method, params)
				}
				synctest.Wait()
				said := log.String()[before:]
				assert.Equal(t, m.stack, strings.Contains(said, "stack="), "%s: %s", method, said)
				armed = false
				goesOn(t, peer, method)
			}
		})
	}
}

// A handler that ignores its ctx does not keep the connection from ending. The error of Run
// names it.
func TestHandlersThatNeverReturn(t *testing.T) {
	for _, v := range protocols {
		for _, side := range []wire.Side{wire.Agent, wire.Client} {
			for _, closes := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s of version %d, closes %t", sideNames[side], v.version, closes), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { neverReturn(t, v, side, closes) })
				})
			}
		}
	}
}

func neverReturn(t *testing.T, v *protocol, side wire.Side, closes bool) {
	gate := make(chan struct{})
	armed := false
	c, peer := v.start(t, side, func(context.Context, string, any) (any, error) {
		if armed {
			<-gate
		}
		return nil, nil
	}, endOptions{})
	armed = true
	var names []string
	for i, method := range v.requests(t, side) {
		peer.Call(fmt.Sprint(i+1), method, v.params[method])
		names = append(names, method)
	}
	for method, params := range v.notes[side] {
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
}

func TestMain(m *testing.M) { pairtest.Main(m) }
