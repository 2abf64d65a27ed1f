package serve_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/internal/rawpeer"
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

// The requested version decides which agent serves the connection and which initialize the agent
// reads.
func TestChoice(t *testing.T) {
	const downgraded = `"clientCapabilities":{"fs":{},"session":{"configOptions":{"boolean":{}}},"plan":{},"auth":{}}`
	for _, tt := range []struct {
		name   string
		agents string // the versions of the agents
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
			scene(t, agents, func(p *rawpeer.Peer) {
				p.Send("%s", initialize("1", tt.params))
				p.ExpectJSON(tt.want)
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

// Messages before the choice are answered or ignored. Messages after it reach the agent.
func TestRouting(t *testing.T) {
	rawpeer.Dialogues(t, "testdata/routing.txtar", func(t *testing.T) (*rawpeer.Peer, func()) {
		s := &seen{}
		p, end := serving(t, s.both())
		return p, func() {
			assert.Len(t, s.all(), 1, "initialize of an agent")
			end()
		}
	})
}

// A repeated initialize goes to the agent that was chosen.
func TestAfterTheChoice(t *testing.T) {
	s := &seen{}
	scene(t, s.both(), func(p *rawpeer.Peer) {
		p.Send("%s", initialize("1", `{"protocolVersion":1}`))
		p.ExpectJSON(initialized1)
		p.Send("%s", initialize("1", `{"protocolVersion":2,"info":{"name":"c","version":"1"}}`))
		p.ExpectJSON(initialized1)
	})
	assert.Len(t, s.all(), 2)
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
				go func() { served <- serve.Route(ctx, s, agents, discarding) }() // ends with the stream
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

// endable is a stream that ends when the test says so.
type endable struct {
	fail   chan error // nil makes Read panic
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

func (s *endable) Write([]byte) error         { return io.ErrClosedPipe }
func (s *endable) Close() error               { close(s.closed); return nil }
func (s *endable) Features() *stream.Features { return &stream.Features{Draining: s.drain} }

func TestArguments(t *testing.T) {
	assert.ErrorContains(t, serve.Route(t.Context(), nil, (&seen{}).both(), nil), "no stream")
	for _, agents := range []*serve.Agents{nil, {}} {
		near, far := stream.Pipe()
		assert.ErrorContains(t, serve.Route(t.Context(), far, agents, nil), "no agent")
		_, err := near.Read()
		assert.ErrorIs(t, err, io.EOF, "the stream was taken over")
	}
}

// rude is a stream whose read fails with an error that cannot be compared.
type rude struct{ stream.Stream }

func (rude) Read() ([]byte, error) { return nil, rudeError{} }

type rudeError struct{}

func (rudeError) Error() string { return "rude" }
func (rudeError) Is(error) bool { panic("no comparison") }

func TestARudeStreamEndsTheConnection(t *testing.T) {
	s, far := stream.Pipe()
	defer far.Close()
	err := serve.Route(t.Context(), rude{s}, new(seen).both(), nil)
	assert.ErrorIs(t, err, acp.ErrClosed)
	assert.ErrorContains(t, err, "no comparison")
}
