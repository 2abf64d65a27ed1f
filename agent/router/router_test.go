package router_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/router"
	"github.com/acpkit/go-sdk/stream"
)

const (
	initialized1 = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}}`
	initialized2 = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}}`
)

func initialize(id, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"initialize","params":` + params + `}`
}

func failure(id string, code int, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, message)
}

func unsupported(requested, supported string) string {
	return `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version: ` + requested + `","data":{"requested":` + requested + `,"supported":` + supported + `}}}`
}

// The requested version decides which agent serves the connection and what it reads.
func TestChoice(t *testing.T) {
	const downgraded = `"clientCapabilities":{"fs":{},"session":{"configOptions":{"boolean":{}}},"plan":{},"auth":{}}`
	for _, tt := range []struct {
		name   string
		agents string // the versions that are served
		params string
		want   string
		seen   string
	}{
		{"version 1", "12", `{"protocolVersion":1,"clientCapabilities":{"terminal":true}}`, initialized1,
			`v1 {"protocolVersion":1,"clientCapabilities":{"terminal":true}}`},
		{"version 2", "12", `{"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":{}}`, initialized2,
			`v2 {"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":{}}`},
		{"version 2 with a fraction", "12", `{"protocolVersion":2.0,"info":{"name":"c","version":"1"}}`, initialized2,
			`v2 {"protocolVersion":2,"info":{"name":"c","version":"1"}}`},
		{"a newer version", "12", `{"protocolVersion":9}`, initialized2,
			`v2 {"protocolVersion":2,"info":{"name":"unknown","version":"unknown"},"capabilities":{}}`},
		{"a newer version, malformed", "2", `{"protocolVersion":65535,"info":{"name":"c"},"capabilities":[],"_meta":7,"future":{}}`, initialized2,
			`v2 {"protocolVersion":2,"info":{"name":"unknown","version":"unknown"},"capabilities":{}}`},
		{"a newer version, well formed", "2", `{"protocolVersion":3,"info":{"name":"c","version":"3"},"capabilities":{"elicitation":{"form":{}},"future":1},"_meta":{"a":1}}`, initialized2,
			`v2 {"protocolVersion":2,"info":{"name":"c","version":"3"},"capabilities":{"elicitation":{"form":{}}},"_meta":{"a":1}}`},
		{"0", "12", `{"protocolVersion":0}`, unsupported("0", "[1,2]"), ""},
		{"1 of an agent of version 2", "2", `{"protocolVersion":1}`, unsupported("1", "[2]"), ""},
		{"0 of an agent of version 1", "1", `{"protocolVersion":0,"clientCapabilities":{"terminal":true},"clientInfo":3}`, initialized1,
			`v1 {"protocolVersion":1,"clientCapabilities":{"terminal":true}}`},
		{"2 of an agent of version 1", "1", `{"protocolVersion":2}`, initialized1, `v1 {"protocolVersion":1,` + downgraded + `}`},
		{"2 with both shapes of an agent of version 1", "1",
			`{"protocolVersion":2,"info":{"name":"c","version":"1"},"clientInfo":{"name":"other","version":"1"},"clientCapabilities":{"terminal":true},` +
				`"capabilities":{"auth":{"terminal":{}},"elicitation":{"form":{},"url":{}},"_meta":{"b":[]}},"_meta":{"a":null}}`,
			initialized1,
			`v1 {"protocolVersion":1,"clientCapabilities":{"fs":{},"session":{"configOptions":{"boolean":{}}},"plan":{},"auth":{"terminal":true},` +
				`"elicitation":{"form":{},"url":{}},"_meta":{"b":[]}},"clientInfo":{"name":"c","version":"1"},"_meta":{"a":null}}`},
		{"2, malformed, of an agent of version 1", "1", `{"protocolVersion":2,"info":{"name":"c"},"capabilities":{"auth":5,"elicitation":{"form":7}}}`, initialized1,
			`v1 {"protocolVersion":1,"clientCapabilities":{"fs":{},"session":{"configOptions":{"boolean":{}}},"plan":{},"auth":{},"elicitation":{}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &seen{}
			agents := s.both()
			switch tt.agents {
			case "1":
				agents.V2 = nil
			case "2":
				agents.V1 = nil
			}
			scene(t, agents, func(p *peer) {
				p.send(initialize("1", tt.params))
				p.want(tt.want)
			})
			if tt.seen == "" {
				assert.Empty(t, s.all())
			} else if assert.Len(t, s.all(), 1) {
				assert.Equal(t, tt.seen[:3], s.all()[0][:3])
				assert.JSONEq(t, tt.seen[3:], s.all()[0][3:])
			}
		})
	}
}

// What cannot be routed gets its response, and the client may try again.
func TestBeforeTheChoice(t *testing.T) {
	const none = ""
	badVersion := failure("1", -32602, "Invalid params: protocolVersion must be an integer from 0 to 65535")
	for _, tt := range []struct{ name, sent, want string }{
		{"another request", `{"jsonrpc":"2.0","id":"x","method":"session/new","params":{}}`,
			failure(`"x"`, -32600, "Invalid request: ACP connection must be initialized before 'session/new'")},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}]`,
			failure("null", -32600, "Invalid request: JSON-RPC batches are not supported")},
		{"a number", `7`, failure("null", -32600, "Invalid request")},
		{"not JSON", `{"jsonrpc":`, failure("null", -32700, "Parse error")},
		{"a notification", `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`, none},
		{"initialize as a notification", `{"jsonrpc":"2.0","method":"initialize","params":{"protocolVersion":1}}`, none},
		{"a result", `{"jsonrpc":"2.0","id":1,"result":{}}`, none},
		{"an error", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}`, none},
		{"no params", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, failure("1", -32602, "Invalid params: params must be an object")},
		{"an array of params", initialize("1", `[1]`), failure("1", -32602, "Invalid params: params must be an object")},
		{"no version", initialize("1", `{}`), badVersion},
		{"a string", initialize("1", `{"protocolVersion":"1"}`), badVersion},
		{"null", initialize("1", `{"protocolVersion":null}`), badVersion},
		{"a fraction", initialize("1", `{"protocolVersion":1.5}`), badVersion},
		{"negative", initialize("1", `{"protocolVersion":-1}`), badVersion},
		{"too large", initialize("1", `{"protocolVersion":65536}`), badVersion},
		{"a fractional id", initialize("1.5", `{"protocolVersion":2,"info":{"name":"c","version":"1"}}`),
			failure("null", -32600, "Invalid request: id must be a string or an integer")},
		{"id null", initialize("null", `{"protocolVersion":3}`), failure("null", -32600, "Invalid request: id must be a string or an integer")},
		{"version 1 with a malformed member", initialize("1", `{"protocolVersion":1,"clientInfo":{"name":7}}`), none},
		{"version 2 without info", initialize("1", `{"protocolVersion":2}`),
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":{"_errors":[],"info":{"_errors":["missing"]}}}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &seen{}
			scene(t, s.both(), func(p *peer) {
				if tt.name == "version 1 with a malformed member" {
					p.send(tt.sent) // the member is read leniently
					p.want(initialized1)
					return
				}
				p.send(tt.sent)
				if tt.want != none {
					p.want(tt.want)
				}
				assert.Empty(t, s.all())
				p.send(initialize("1", `{"protocolVersion":1}`))
				p.want(initialized1)
				assert.Len(t, s.all(), 1)
			})
		})
	}
}

// An id that version 1 allows reaches an agent of version 1.
func TestFractionalIDOfVersion1(t *testing.T) {
	scene(t, (&seen{}).both(), func(p *peer) {
		p.send(initialize("1.5", `{"protocolVersion":1}`))
		p.want(`{"jsonrpc":"2.0","id":1.5,"result":{"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}}`)
	})
}

// What follows initialize in the same write reaches the agent, and a repeated initialize
// goes to the agent that was chosen.
func TestAfterTheChoice(t *testing.T) {
	s := &seen{}
	scene(t, s.both(), func(p *peer) {
		p.send(initialize("1", `{"protocolVersion":2,"info":{"name":"c","version":"1"}}`))
		p.send(initialize("2", `{"protocolVersion":1}`))
		p.send(`{"jsonrpc":"2.0","id":3,"method":"session/new","params":{"cwd":"/"}}`)
		p.want(initialized2)
		var got []string
		for range 2 {
			msg, err := p.s.Read()
			require.NoError(t, err)
			got = append(got, string(msg))
		}
		assert.ElementsMatch(t, []string{
			failure("2", -32600, "Invalid request: a repeated initialize must request protocol version 2 or later"),
			`{"jsonrpc":"2.0","id":3,"result":{"sessionId":"two"}}`,
		}, got)
	})
	s = &seen{}
	scene(t, s.both(), func(p *peer) {
		p.send(initialize("1", `{"protocolVersion":1}`))
		p.want(initialized1)
		p.send(initialize("1", `{"protocolVersion":2,"info":{"name":"c","version":"1"}}`))
		p.want(initialized1)
	})
}

func TestEndBeforeTheChoice(t *testing.T) {
	agents := (&seen{}).both()
	cause := errors.New("over")
	for name, tt := range map[string]struct {
		end  func(s *endable, cancel context.CancelCauseFunc)
		want error
	}{
		"the client leaves": {func(s *endable, _ context.CancelCauseFunc) { s.fail <- io.EOF }, nil},
		"ctx is done":       {func(_ *endable, cancel context.CancelCauseFunc) { cancel(cause) }, cause},
		"the stream drains": {func(s *endable, _ context.CancelCauseFunc) { close(s.drain) }, nil},
		"reading fails":     {func(s *endable, _ context.CancelCauseFunc) { s.fail <- io.ErrUnexpectedEOF }, io.ErrUnexpectedEOF},
		"the stream panics": {func(s *endable, _ context.CancelCauseFunc) { s.fail <- nil }, acp.ErrClosed},
		"a message is lost": {func(s *endable, _ context.CancelCauseFunc) { s.fail <- &stream.LostError{}; s.fail <- io.EOF }, nil},
		"writing fails":     {func(s *endable, _ context.CancelCauseFunc) { s.fail <- &stream.TooLargeError{Method: "m"} }, io.ErrClosedPipe},
		"a result too large": {func(s *endable, _ context.CancelCauseFunc) {
			s.fail <- &stream.TooLargeError{HasResult: true}
			s.fail <- io.EOF
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				s := &endable{fail: make(chan error), drain: make(chan struct{}), closed: make(chan struct{})}
				served := make(chan error, 1)
				go func() { served <- router.Serve(ctx, s, agents, discarding) }() // ends with the stream
				synctest.Wait()
				tt.end(s, cancel)
				err := <-served
				if tt.want == nil {
					assert.NoError(t, err)
				} else {
					assert.ErrorIs(t, err, tt.want)
				}
				<-s.closed
			})
		})
	}
}

// endable is a stream that ends as a test wants it.
type endable struct {
	fail   chan error // nil panics
	drain  chan struct{}
	closed chan struct{}
}

func (s *endable) Read() ([]byte, error) {
	select {
	case err := <-s.fail:
		if err == nil {
			panic("torn")
		}
		return nil, err
	case <-s.closed:
		return nil, stream.ErrClosed
	}
}

func (s *endable) Write([]byte) error        { return io.ErrClosedPipe }
func (s *endable) Close() error              { close(s.closed); return nil }
func (s *endable) Draining() <-chan struct{} { return s.drain }

func TestArguments(t *testing.T) {
	assert.ErrorContains(t, router.Serve(t.Context(), nil, (&seen{}).both(), nil), "nil stream")
	for _, agents := range []*router.Agents{nil, {}} {
		near, far := stream.Pipe()
		assert.ErrorContains(t, router.Serve(t.Context(), far, agents, nil), "no agent")
		_, err := near.Read()
		assert.ErrorIs(t, err, io.EOF, "the stream was taken over")
	}
}
