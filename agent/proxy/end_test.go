package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/proxy"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
)

// Requests that the client sent before it closed its input are still answered.
func TestClientClosesItsSide(t *testing.T) {
	eachWay(t, func(t *testing.T, m []proxy.Middleware) {
		reads := make(chan error, 1)
		p, client, agent := startOver(t, &proxy.Options{FromClient: m},
			func(s stream.Stream) stream.Stream { return &failing{Stream: s, reads: reads} }, unchanged)
		client.send(ask)
		agent.receive()
		agent.send(`{"jsonrpc":"2.0","id":9,"method":"to the client"}`)
		client.receive()
		reads <- io.EOF
		assert.Contains(t, agent.receive(), `"id":9,"error":{"code":-32603,"message":"Internal error: the client has left"`)
		agent.send(`{"jsonrpc":"2.0","method":"update"}`)
		agent.send(`{"jsonrpc":"2.0","id":1,"result":1}`)
		assert.Contains(t, client.receive(), "update")
		assert.Contains(t, client.receive(), `"result":1`)
		assert.NoError(t, p.Wait())
		_, err := agent.Read()
		assert.ErrorIs(t, err, io.EOF)
	})
}

// The proxy does not close the streams while it writes the last response.
func TestClientClosesItsSideAndReadsSlowly(t *testing.T) {
	for name, tt := range map[string]struct {
		m      []proxy.Middleware
		answer func(agent *testEnd, s *failing)
	}{
		"response":               {nil, func(a *testEnd, _ *failing) { a.send(`{"jsonrpc":"2.0","id":1,"result":1}`) }},
		"response to middleware": {[]proxy.Middleware{watching}, func(a *testEnd, _ *failing) { a.send(`{"jsonrpc":"2.0","id":1,"result":1}`) }},
		"too large": {nil, func(_ *testEnd, s *failing) {
			s.reads <- &stream.TooLargeError{ID: json.RawMessage("1"), HasResult: true}
		}},
		"lost": {nil, func(_ *testEnd, s *failing) { s.reads <- &stream.LostError{ID: json.RawMessage("1")} }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				reads := make(chan error, 1)
				may := make(chan struct{})
				answers := &failing{reads: make(chan error, 1)}
				p, client, agent := startOver(t, &proxy.Options{FromClient: tt.m},
					func(s stream.Stream) stream.Stream {
						s = &failing{Stream: s, reads: reads}
						return &hooked{Stream: s, write: func(msg []byte) error { <-may; return s.Write(msg) }}
					},
					func(s stream.Stream) stream.Stream { answers.Stream = s; return answers })
				client.send(ask)
				agent.receive()
				reads <- io.EOF
				synctest.Wait()
				tt.answer(agent, answers)
				synctest.Wait()
				close(may)
				assert.Contains(t, client.receive(), `"id":1`)
				assert.NoError(t, p.Wait())
			})
		})
	}
}

func TestClientLeavesAnAgentThatDoesNotRespond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leak.Check(t)
		p, client, agent := start(t, nil)
		client.send(ask)
		agent.receive()
		begin := time.Now()
		client.Close()
		require.NoError(t, p.Wait())
		assert.Equal(t, 5*time.Second, time.Since(begin))
	})
}

func TestAgentLeaves(t *testing.T) {
	eachWay(t, func(t *testing.T, m []proxy.Middleware) {
		p, client, agent := start(t, &proxy.Options{FromClient: m})
		client.send(ask)
		agent.receive()
		agent.send(`{"jsonrpc":"2.0","id":9,"method":"a question that stays open"}`)
		client.receive()
		agent.Close()
		assert.Contains(t, client.receive(), `"id":1,"error":{"code":-32603,"message":"Internal error: the agent has left"`)
		begin := time.Now()
		require.NoError(t, p.Wait())
		assert.Less(t, time.Since(begin), time.Second, "no one waits for the request in flight")
	})
}

func TestOtherEnds(t *testing.T) {
	cause, broken := errors.New("enough"), errors.New("broken")
	for name, tt := range map[string]struct {
		end  func(p *proxy.Proxy, cancel context.CancelCauseFunc, s *failing)
		want error
	}{
		"Close":       {func(p *proxy.Proxy, _ context.CancelCauseFunc, _ *failing) { p.Close(); p.Close() }, nil},
		"ctx":         {func(_ *proxy.Proxy, cancel context.CancelCauseFunc, _ *failing) { cancel(cause) }, cause},
		"read error":  {func(_ *proxy.Proxy, _ context.CancelCauseFunc, s *failing) { s.reads <- broken }, broken},
		"write error": {func(_ *proxy.Proxy, _ context.CancelCauseFunc, s *failing) { s.writes <- broken }, broken},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				a, left := stream.Pipe()
				right, b := stream.Pipe()
				s := &failing{Stream: right, reads: make(chan error, 1), writes: make(chan error, 1)}
				p := proxy.New(left, s, nil)
				ctx, cancel := context.WithCancelCause(t.Context())
				require.NoError(t, p.Start(ctx))
				require.Error(t, p.Start(ctx), "twice")
				tt.end(p, cancel, s)
				client := &testEnd{t, a}
				if name == "write error" {
					client.send(ask)
				}
				assert.ErrorIs(t, p.Wait(), tt.want)
				<-p.Done()
				a.Close()
				b.Close()
			})
		})
	}
}

// failing is a stream that fails when the test says so.
type failing struct {
	stream.Stream
	reads, writes chan error

	got chan readResult // of the read that has begun; nil if there is none
}

type readResult struct {
	b   []byte
	err error
}

func (f *failing) Read() ([]byte, error) {
	if f.got == nil {
		got := make(chan readResult, 1)
		f.got = got
		go func() { // ends with the stream
			b, err := f.Stream.Read()
			got <- readResult{b, err}
		}()
	}
	select {
	case r := <-f.got:
		f.got = nil
		return r.b, r.err
	case err := <-f.reads:
		return nil, err
	}
}

func (f *failing) Write(msg []byte) error {
	select {
	case err := <-f.writes:
		return err
	default:
		return f.Stream.Write(msg)
	}
}

func TestMiddlewareThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		deaf := func(proxy.Handler) proxy.Handler {
			return func(ctx context.Context, _ *proxy.Message) (json.RawMessage, error) {
				<-stuck
				return nil, nil
			}
		}
		p, client, _ := start(t, &proxy.Options{FromClient: []proxy.Middleware{deaf}})
		client.send(ask)
		synctest.Wait()
		p.Close()
		err := p.Wait()
		assert.ErrorIs(t, err, acp.ErrHandlerStuck)
		assert.ErrorContains(t, err, "ask")
		close(stuck)
	})
}

func TestBadConstruction(t *testing.T) {
	s, _ := stream.Pipe()
	for want, p := range map[string]*proxy.Proxy{
		"nil stream to the client": proxy.New(nil, s, nil),
		"nil stream to the agent":  proxy.New(s, nil, nil),
	} {
		require.ErrorContains(t, p.Start(t.Context()), want)
		require.ErrorContains(t, p.Run(t.Context()), want)
		require.ErrorContains(t, p.Agent().Notify(t.Context(), "x", nil), want)
		require.NoError(t, p.Close())
	}
	other, _ := stream.Pipe()
	p := proxy.New(s, other, nil)
	require.ErrorContains(t, p.Wait(), "Start")
	require.ErrorContains(t, p.Agent().Notify(t.Context(), "x", nil), "Start")
	require.NoError(t, p.Close())
	require.ErrorIs(t, p.Start(t.Context()), acp.ErrClosed)
}

// If a message cannot be carried, only that message fails.
func TestMessagesThatCannotBeCarried(t *testing.T) {
	eachWay(t, func(t *testing.T, m []proxy.Middleware) {
		errs := make(chan error, 1)
		p, client, agent := startOver(t, &proxy.Options{FromClient: m}, unchanged,
			func(s stream.Stream) stream.Stream { return picky(s, errs) })
		client.send(`{"jsonrpc":"2.0","id":1,"method":"refused"}`)
		assert.Contains(t, client.receive(), `"id":1,"error":{"code":-32603,"message":"Internal error: the request cannot be passed on: refused"`)
		client.send(`{"jsonrpc":"2.0","method":"refused"}`)

		for id, err := range map[string]error{
			"2": &stream.TooLargeError{ID: json.RawMessage(`2`), HasResult: true},
			"3": &stream.LostError{ID: json.RawMessage(`3`), Err: io.ErrUnexpectedEOF},
			"4": &stream.LostError{SessionID: "s4", Err: io.ErrUnexpectedEOF},
		} {
			client.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"x","params":{"sessionId":"s` + id + `"}}`)
			agent.receive()
			errs <- err
			agent.send(`{"jsonrpc":"2.0","method":"wake the reader"}`)
			got := client.receive() + client.receive()
			assert.Contains(t, got, `"id":`+id+`,"error":{"code":-32603`)
		}
		errs <- &stream.TooLargeError{ID: json.RawMessage(`8`), Method: "big"}
		agent.send(`{"jsonrpc":"2.0","method":"wake the reader"}`)
		assert.Contains(t, agent.receive(), `"id":8,"error":{"code":-32600`)
		client.receive()
		p.Close()
		assert.NoError(t, p.Wait())
	})
}

// picky refuses some messages to s, and reports an error of errs before the message that is read next.
func picky(s stream.Stream, errs <-chan error) stream.Stream {
	var kept []byte
	return &hooked{s, func() (b []byte, err error) {
		if b, kept = kept, nil; b == nil {
			b, err = s.Read()
		}
		select {
		case bad := <-errs:
			kept = b
			return nil, bad
		default:
			return b, err
		}
	}, func(msg []byte) error {
		if strings.Contains(string(msg), `"refused"`) {
			return &stream.MessageError{Reason: "refused"}
		}
		return s.Write(msg)
	}}
}

// Close of a proxy that was never started closes its streams, even if one of them is missing.
func TestCloseWithoutStart(t *testing.T) {
	for name, missing := range map[string]stream.Stream{"both": nil, "a nil stream": nil, "a nil process": (*stream.Process)(nil)} {
		t.Run(name, func(t *testing.T) {
			near, far := stream.Pipe()
			client := missing
			var other stream.Stream
			if name == "both" {
				client, other = stream.Pipe()
			}
			p := proxy.New(client, near, nil)
			for range 2 {
				require.NoError(t, p.Close())
			}
			<-p.Done()
			assert.Error(t, p.Start(t.Context()))
			_, err := far.Read()
			assert.ErrorIs(t, err, io.EOF)
			if other != nil {
				_, err = other.Read()
				assert.ErrorIs(t, err, io.EOF)
			}
		})
	}
}

// A stream of the user that returns a nil pointer as its error, or panics, ends the proxy and
// not the program.
func TestARudeStreamEndsTheProxy(t *testing.T) {
	for name, fail := range map[string]func() error{
		"nil pointer": func() error { return (*url.Error)(nil) },
		"panic":       func() error { panic("oops") },
	} {
		synctest.Test(t, func(t *testing.T) {
			a, left := stream.Pipe()
			right, b := stream.Pipe()
			done := make(chan error, 1)
			go func() {
				done <- proxy.New(left, &hooked{Stream: right, write: func([]byte) error { return fail() }}, nil).Run(t.Context())
			}() // ends with the stream
			require.NoError(t, a.Write([]byte(`{"jsonrpc":"2.0","method":"a"}`)))
			assert.ErrorContains(t, <-done, "panic", name)
			b.Close()
		})
	}
}
