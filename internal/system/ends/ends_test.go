package ends_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	peertest2 "github.com/acpkit/go-sdk/internal/system/peertest/v2"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// conn is a connection of either role in either version.
type conn interface {
	Start(context.Context) error
	Run(context.Context) error
	Close() error
	Shutdown(context.Context) error
	Wait() error
	Err() error
	Done() <-chan struct{}
	OnEnd(func())
	Call(ctx context.Context, method string, params, result any) error
	Notify(ctx context.Context, method string, params any) error
}

// end is one role in one version.
type end struct {
	name string
	zero conn
	// full returns a connection of a value that has every method. New calls inside.
	full func(s stream.Stream, inside func(conn), unstable bool) conn
	// invalid has connections of no value, by a part of their error.
	invalid  map[string]func(s stream.Stream) conn
	peer     wire.Side
	params   map[string]string // of the requests that the end sends
	result   func(method string) string
	reckless func(s stream.Stream) conn // checks no capabilities
}

var ends = []end{
	{"agent of version 1", new(agent.Conn),
		func(s stream.Stream, inside func(conn), unstable bool) conn {
			return agent.New(s, func(c *agent.Conn) acp.Agent { inside(c); return &peertest.FullAgent{} }, &agent.Options{Unstable: unstable})
		}, map[string]func(stream.Stream) conn{
			"no newAgent":           func(s stream.Stream) conn { return agent.New(s, nil, nil) },
			"newAgent returned nil": func(s stream.Stream) conn { return agent.New(s, func(*agent.Conn) acp.Agent { return nil }, nil) },
			"(*peertest.FullAgent):": func(s stream.Stream) conn {
				return agent.New(s, func(*agent.Conn) acp.Agent { return (*peertest.FullAgent)(nil) }, nil)
			},
		}, wire.Client, peertest.Params, peertest.RawResult,
		func(s stream.Stream) conn {
			return agent.New(s, func(*agent.Conn) acp.Agent { return &peertest.Agent{} }, &agent.Options{Unstable: true, IgnoreCapabilities: true})
		}},
	{"agent of version 2", new(agent2.Conn),
		func(s stream.Stream, inside func(conn), unstable bool) conn {
			return agent2.New(s, func(c *agent2.Conn) acp2.Agent { inside(c); return &peertest2.FullAgent{} }, &agent2.Options{Unstable: unstable})
		}, map[string]func(stream.Stream) conn{
			"no newAgent": func(s stream.Stream) conn { return agent2.New(s, nil, nil) },
		}, wire.Client, peertest2.Params, peertest2.RawResult,
		func(s stream.Stream) conn {
			return agent2.New(s, func(*agent2.Conn) acp2.Agent { return &peertest2.FullAgent{} }, &agent2.Options{Unstable: true, IgnoreCapabilities: true})
		}},
	{"client of version 1", new(client.Conn),
		func(s stream.Stream, inside func(conn), unstable bool) conn {
			return client.New(s, func(c *client.Conn) acp.Client { inside(c); return &peertest.FullClient{} }, &client.Options{Unstable: unstable})
		}, map[string]func(stream.Stream) conn{
			"no newClient":           func(s stream.Stream) conn { return client.New(s, nil, nil) },
			"newClient returned nil": func(s stream.Stream) conn { return client.New(s, func(*client.Conn) acp.Client { return nil }, nil) },
			"(*peertest.FullClient):": func(s stream.Stream) conn {
				return client.New(s, func(*client.Conn) acp.Client { return (*peertest.FullClient)(nil) }, nil)
			},
		}, wire.Agent, peertest.Params, peertest.RawResult,
		func(s stream.Stream) conn {
			return client.New(s, func(*client.Conn) acp.Client { return &peertest.Client{} }, &client.Options{Unstable: true, IgnoreCapabilities: true, CancelGrace: -1})
		}},
	{"client of version 2", new(client2.Conn),
		func(s stream.Stream, inside func(conn), unstable bool) conn {
			return client2.New(s, func(c *client2.Conn) acp2.Client { inside(c); return &peertest2.FullClient{} }, &client2.Options{Unstable: unstable})
		}, map[string]func(stream.Stream) conn{
			"no newClient": func(s stream.Stream) conn { return client2.New(s, nil, nil) },
		}, wire.Agent, peertest2.Params, peertest2.RawResult,
		func(s stream.Stream) conn {
			return client2.New(s, func(*client2.Conn) acp2.Client { return &peertest2.FullClient{} }, &client2.Options{Unstable: true, IgnoreCapabilities: true, CancelGrace: -1})
		}},
}

// TestMain discards the log of the tests.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// eachEnd runs a test for each end.
func eachEnd(t *testing.T, test func(t *testing.T, e end)) {
	for _, e := range ends {
		t.Run(e.name, func(t *testing.T) { test(t, e) })
	}
}

func nothing(conn) {}

// silent is a stream that fails the test if something is sent.
type silent struct{ t *testing.T }

func (s silent) Read() ([]byte, error) { return nil, io.EOF }
func (s silent) Close() error          { return nil }
func (s silent) Write(msg []byte) error {
	s.t.Errorf("something was sent: %s", msg)
	return nil
}

// Every method of a Conn returns the error of an invalid argument of New, and nothing is sent.
func TestInvalidArgumentsOfNew(t *testing.T) {
	eachEnd(t, func(t *testing.T, e end) {
		leak.Check(t)
		check := func(c conn, want string) {
			ctx := t.Context()
			for what, err := range map[string]error{
				"Start": c.Start(ctx), "Run": c.Run(ctx), "Shutdown": c.Shutdown(ctx),
				"Call": c.Call(ctx, "_x", nil, nil), "Notify": c.Notify(ctx, "_x", nil),
				"elicitation/create": c.Call(ctx, "elicitation/create", nil, nil), "session/new": c.Call(ctx, "session/new", nil, nil),
			} {
				if !strings.Contains(fmt.Sprint(err), "does not handle this method") { // that of the other role
					assert.ErrorContains(t, err, want, what)
				}
			}
			require.NoError(t, c.Close())
			if c != e.zero {
				<-c.Done()
			}
		}
		check(e.zero, "New")
		check(e.full(nil, nothing, true), "nil stream")
		check(e.full((*silent)(nil), nothing, true), "nil stream")
		check(e.full(silent{t}, nothing, false), "which is unstable: set Options.Unstable")
		for want, c := range e.invalid {
			check(c(silent{t}), want)
		}
		require.NoError(t, e.full(silent{t}, nothing, true).Run(t.Context()))
	})
}

func TestCallsAtTheWrongTime(t *testing.T) {
	eachEnd(t, func(t *testing.T, e end) {
		leak.Check(t)
		s, peer := rawpeer.Pipe(t)
		var early error
		var done <-chan struct{}
		c := e.full(s, func(c conn) { early, done = c.Notify(t.Context(), "_x", nil), c.Done() }, true)
		assert.ErrorContains(t, early, "not ready", "inside the function given to New")
		method := "session/prompt"
		if e.peer == wire.Client {
			method = "session/request_permission"
		}
		call := func() error { return c.Call(t.Context(), method, json.RawMessage(e.params[method]), nil) }
		err := call()
		assert.NotErrorIs(t, err, acp.ErrClosed)
		assert.ErrorContains(t, err, "Start")
		require.NoError(t, c.Start(t.Context()))
		assert.ErrorContains(t, call(), "initialize")
		require.Error(t, c.Start(t.Context()), "twice")
		require.NoError(t, c.Close())
		require.NoError(t, c.Close(), "twice")
		require.NoError(t, c.Wait())
		assert.ErrorIs(t, call(), acp.ErrClosed)
		<-done
		_, sent := peer.Recv()
		assert.False(t, sent)
	})
}

func TestOnEnd(t *testing.T) {
	eachEnd(t, func(t *testing.T, e end) {
		for name, stop := range map[string]func(c conn, peer *rawpeer.Peer){
			"closed here":   func(c conn, _ *rawpeer.Peer) { c.Close() },
			"closed there":  func(_ conn, peer *rawpeer.Peer) { peer.Close() },
			"never started": nil,
		} {
			t.Run(name, func(t *testing.T) {
				leak.Check(t)
				s, peer := rawpeer.Pipe(t)
				var events []string
				var done <-chan struct{}
				c := e.full(s, func(c conn) {
					done = c.Done()
					c.OnEnd(func() {
						select {
						case <-c.Done():
						default:
							events = append(events, "too early")
						}
						events = append(events, "first")
					})
					c.OnEnd(func() { events = append(events, "second"); panic("the next one is called") })
				}, true)
				c.OnEnd(func() { events = append(events, "third") })
				if stop == nil {
					c.Close()
				} else {
					require.NoError(t, c.Start(t.Context()))
					stop(c, peer)
					require.NoError(t, c.Wait())
				}
				<-done
				assert.Equal(t, []string{"first", "second", "third"}, events)
				require.ErrorIs(t, c.Err(), acp.ErrClosed)
				c.OnEnd(func() { events = append(events, "late") })
				assert.Equal(t, []string{"first", "second", "third", "late"}, events)
			})
		}
	})
}

func TestNotificationsByName(t *testing.T) {
	eachEnd(t, func(t *testing.T, e end) {
		s, peer := rawpeer.Pipe(t)
		c := rawpeer.Start(t, e.reckless(s))
		sent := map[string]string{
			"session/cancel": `{"sessionId":"s"}`, "mcp/message": `{"serverId":"s","requestId":"r","method":"m"}`, "_note": `[1]`,
		}
		if e.peer == wire.Client {
			sent = map[string]string{
				"session/update":       `{"sessionId":"s","update":{"sessionUpdate":"brand_new","x":1}}`,
				"elicitation/complete": `{"elicitationId":"e"}`, "auth/status_update": `{"state":"authenticated","accounts":[]}`, "_note": `[1]`,
			}
		}
		for method, params := range sent {
			require.NoError(t, c.Notify(t.Context(), method, json.RawMessage(params)), method)
			assert.JSONEq(t, params, string(peer.Expect(method).Params))
		}
		refused := map[string]string{"review": "underscore", "": "underscore", "_": "underscore", "$/cancel_request": "end the ctx"}
		if e.peer == wire.Client {
			refused["session/prompt"], refused["session/update"] = "does not handle", "use Notify"
		}
		for method, want := range refused {
			assert.ErrorContains(t, c.Call(t.Context(), method, nil, nil), want, method)
		}
		for method := range e.params {
			if err := c.Notify(t.Context(), method, nil); !strings.HasPrefix(method, "_") && method != "mcp/message" {
				assert.Error(t, err, method)
			}
		}
	})
}

// Every request of the protocol is handled by a value that has every method.
func TestEveryRequestIsHandled(t *testing.T) {
	for _, s := range sides {
		t.Run(s.name, func(t *testing.T) {
			peer, _, err := s.start(t, &choice{asked: map[string]int{}, called: map[string]bool{}}, false)
			require.NoError(t, err)
			requests, side := peertest.Requests, wire.Agent
			if strings.HasSuffix(s.name, "2") {
				requests = peertest2.Requests
			}
			if strings.HasPrefix(s.name, "client") {
				side = wire.Client
			}
			for _, method := range requests(t, side) {
				if method == "initialize" {
					continue // s.start has sent it
				}
				peer.Call(`"x"`, method, s.params[method])
				res := peer.Next()
				assert.Nil(t, res.Error, "%s: %s", method, res.Raw)
			}
		})
	}
}

// TestHandles covers the capability of each interface.
func TestCapabilities(t *testing.T) {
	for name, tt := range map[string]struct {
		caps any
		want string
	}{
		"agent of version 1":  {agent.Capabilities(&peertest.Agent{}), `{}`},
		"client of version 1": {client.Capabilities(&peertest.Client{}), `{}`},
		"agent of version 2":  {agent2.Capabilities(struct{ acp2.Agent }{}), `{"session":{}}`},
		"client of version 2": {client2.Capabilities(struct{ acp2.Client }{}), `{}`},
		"full agent of version 1": {agent.Capabilities(&peertest.FullAgent{}), `{"loadSession":true,"mcpCapabilities":{"acp":true},"providers":{},
			"auth":{"logout":{},"status":{}},
			"sessionCapabilities":{"list":{},"delete":{},"resume":{},"close":{},"fork":{},"archive":{},"status":{},"options":{},"title":{}}}`},
		"full client of version 1": {client.Capabilities(&peertest.FullClient{}),
			`{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"elicitation":{"form":{},"url":{}}}`},
		"full agent of version 2": {agent2.Capabilities(&peertest2.FullAgent{}), `{"providers":{},"auth":{"status":{}},
			"session":{"delete":{},"fork":{},"archive":{},"status":{},"options":{},"title":{},"mcp":{"acp":{}}}}`},
		"full client of version 2": {client2.Capabilities(&peertest2.FullClient{}), `{"elicitation":{"form":{},"url":{}}}`},
	} {
		got, err := json.Marshal(tt.caps)
		require.NoError(t, err)
		assert.JSONEq(t, tt.want, string(got), name)
	}
}

// The error of initialize contains the versions of both ends, in whatever form the agent reports
// its own.
func TestVersionError(t *testing.T) {
	for _, e := range ends {
		if e.peer == wire.Client {
			continue
		}
		own, other := 1, 2
		if strings.HasSuffix(e.name, "2") {
			own, other = 2, 1
		}
		said := fmt.Sprintf("to a request for version %d; this client supports version %[1]d", own)
		for response, tt := range map[string]struct {
			want    acp.VersionError
			text    string
			proxied string
		}{
			`"result":{"protocolVersion":99}`:                                  {acp.VersionError{Answered: 99}, "client: the agent responded with protocol version 99 " + said, `[99]`},
			`"result":{"protocolVersion":0,"info":{"name":"a","version":"1"}}`: {acp.VersionError{}, "client: the agent responded with protocol version 0 " + said, `[0]`},
			fmt.Sprintf(`"result":{"protocolVersion":%d,"info":{"name":"a","version":"1"},"capabilities":{"session":{}},"authMethods":[{"methodId":"key","type":"agent","name":"Key"}]}`, other): {
				acp.VersionError{Answered: other}, fmt.Sprintf("client: the agent responded with protocol version %d %s", other, said), fmt.Sprintf(`[%d]`, other)},
			`"result":{"protocolVersion":3,"agentInfo":"a","info":1,"authMethods":7,"agentCapabilities":[]}`: {
				acp.VersionError{Answered: 3}, "client: the agent responded with protocol version 3 " + said, `[3]`},
			`"error":{"code":-32022,"message":"no","data":{"supported":["3",4.0,"draft",null]}}`: {
				acp.VersionError{Supported: []int{3, 4}}, fmt.Sprintf("client: the agent does not support protocol version %d, only versions 3 and 4; this client supports version %[1]d", own), `[3,4]`},
			`"error":{"code":-32022,"message":"no"}`: {
				acp.VersionError{}, fmt.Sprintf("client: the agent does not support protocol version %d; this client supports version %[1]d", own), `[]`},
		} {
			t.Run(e.name+"/"+response, func(t *testing.T) {
				s, peer := rawpeer.Pipe(t)
				c := rawpeer.Start(t, e.full(s, nothing, true))
				go func() { peer.Send(`{"jsonrpc":"2.0","id":%s,%s}`, peer.Expect("initialize").ID, response) }() // ends with the response
				err := c.Call(t.Context(), "initialize", nil, nil)
				version, ok := errors.AsType[*acp.VersionError](err)
				require.True(t, ok, "%v", err)
				assert.Equal(t, strings.HasPrefix(response, `"error"`), errors.Is(err, rpcerr.ErrUnsupportedProtocolVersion))
				got := *version
				tt.want.Requested, tt.want.Own, got.Err = own, []int{own}, nil
				assert.Equal(t, tt.want, got)
				assert.EqualError(t, err, tt.text)
				wire, ok := errors.AsType[*rpcerr.RequestError](rpcerr.From(err))
				require.True(t, ok)
				data, err := json.Marshal(wire.Data)
				require.NoError(t, err)
				assert.JSONEq(t, fmt.Sprintf(`{"requested":%d,"supported":%s}`, own, tt.proxied), string(data))
				assert.Error(t, c.Call(t.Context(), "session/new", json.RawMessage(e.params["session/new"]), nil), "not initialized")
			})
		}
	}
}

// An agent may list its versions in any form. Invalid entries are skipped.
func TestSupportedVersions(t *testing.T) {
	for data, want := range map[string][]int{
		`{"requested":2,"supported":[1]}`:                        {1},
		`{"requested":2,"supported":[3,4]}`:                      {3, 4},
		`{"supported":["3","4"]}`:                                {3, 4},
		`{"supported":[3.0,4e0]}`:                                {3, 4},
		`{"supported":3}`:                                        {3},
		`{"supported":["draft",null,1.5,-1,65536,{},[],true,3]}`: {3},
		`{"supported":["draft"]}`:                                nil,
		`{"supported":[]}`:                                       nil,
		`{"supported":null}`:                                     nil,
		`{"supported":{}}`:                                       nil,
		`{"supportedVersions":[3]}`:                              nil,
		`[3]`:                                                    nil,
		`"3"`:                                                    nil,
		`null`:                                                   nil,
		``:                                                       nil,
	} {
		assert.Equal(t, want, endpoint.SupportedVersions([]byte(data)), data)
	}
}

// losing is a stream that routes messages, and loses a session when the peer says so.
type losing struct{ stream.Stream }

func (l losing) Read() ([]byte, error) {
	b, err := l.Stream.Read()
	if session, ok := strings.CutPrefix(string(b), "lost "); ok {
		return nil, &stream.LostError{SessionID: session, Err: errors.New("cut")}
	}
	return b, err
}

func (l losing) Features() *stream.Features {
	return &stream.Features{WriteMessage: func(m stream.Message) error { return l.Stream.Write(m.Data) }}
}

// After a stream has lost messages of a session, its prompts fail until it is opened again.
func TestLostSessionIsOpenedAgain(t *testing.T) {
	for _, e := range ends {
		for _, method := range []string{"session/load", "session/resume"} {
			if e.peer == wire.Client || e.params[method] == "" {
				continue
			}
			t.Run(e.name+"/"+method, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, peer := rawpeer.Pipe(t)
					c := rawpeer.Start(t, e.reckless(losing{s}))
					call := func(method string) <-chan error {
						done := make(chan error, 1)
						go func() { done <- c.Call(t.Context(), method, json.RawMessage(e.params[method]), nil) }() // ends with the response
						return done
					}
					done := call("initialize")
					peer.Answer(peer.Expect("initialize"), e.result("initialize"))
					require.NoError(t, <-done)
					done = call("session/prompt")
					peer.Expect("session/prompt")
					peer.Send("lost s")
					require.ErrorAs(t, <-done, new(*stream.LostError))
					require.ErrorAs(t, <-call("session/prompt"), new(*stream.LostError), "nothing is sent")
					for _, method := range []string{method, "session/prompt"} {
						done = call(method)
						peer.Answer(peer.Expect(method), e.result(method))
						require.NoError(t, <-done)
					}
				})
			})
		}
	}
}
