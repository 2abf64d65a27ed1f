package connect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"time"

	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// earlyBytes limits what an agent may send before its response to initialize.
const earlyBytes = 1 << 20

// closeGrace is how long a read may take to end after its stream was closed. A read of standard
// input cannot be interrupted.
const closeGrace = 250 * time.Millisecond

var errEarly = fmt.Errorf("draft2/connect: the agent has sent more than %d bytes before its response to initialize", earlyBytes)

// probe finds out which version the agent at the other end of a stream speaks.
type probe struct {
	s        stream.Stream
	features *stream.Features // features of s
	send     func(stream.Message) error
	noise    func([]byte) bool // result of envelope.LeaveChecks of s
	log      *slog.Logger
	early    []read // what was read before the response
	bytes    int
	asked    int
}

func newProbe(s stream.Stream, log *slog.Logger) *probe {
	p := &probe{s: s, features: stream.FeaturesOf(s), log: endpoint.LimitLines(log.With("end", "client"))}
	_, p.send = p.features.Messages(s)
	p.noise = envelope.LeaveChecks(p.features)
	return p
}

// ask sends initialize with params and returns the response. If ctx ends, it closes the stream.
func (p *probe) ask(ctx context.Context, params []byte) (answer, error) {
	p.asked++
	id := strconv.Itoa(p.asked)
	type outcome struct {
		a   answer
		err error
	}
	done := make(chan outcome, 1)
	go func() { // ends with the response, or with the stream
		out := outcome{err: errPanic}
		defer func() { done <- out }()
		out.err = panics.Guard(func() (err error) { // a stream of the user may panic
			out.a, err = p.exchange(id, params)
			return err
		})
	}()
	select {
	case out := <-done:
		return out.a, out.err
	case <-ctx.Done():
	}
	p.s.Close()
	select {
	case <-done:
	case <-time.After(closeGrace):
	}
	return answer{}, context.Cause(ctx)
}

var errPanic = errors.New("draft2/connect: the stream ended the goroutine that reads it")

func (p *probe) exchange(id string, params []byte) (answer, error) {
	request := append([]byte(`{"jsonrpc":"2.0","id":`+id+`,"method":"initialize","params":`), params...)
	sent := make(chan error, 1)
	go func() { // ends when the message is written, or with the stream
		err := errPanic
		defer func() {
			if err != nil { // the last messages of the agent explain its end
				time.AfterFunc(closeGrace, func() { p.s.Close() })
			}
			sent <- err
		}()
		err = panics.Guard(func() error { return p.send(stream.ParseMessage(append(request, '}'))) })
	}()
	a, err := p.response(id)
	if err != nil {
		defer time.AfterFunc(closeGrace, func() { p.s.Close() }).Stop() // the agent may not read
	}
	if unsent := <-sent; unsent != nil && (err == nil || errors.Is(err, io.EOF) || errors.Is(err, stream.ErrClosed)) {
		return answer{}, fmt.Errorf("draft2/connect: sending initialize: %w", unsent)
	}
	return a, err
}

// response reads until the response with that id arrives.
func (p *probe) response(id string) (answer, error) {
	for {
		msg, err := p.s.Read()
		if err == nil {
			e := envelope.Parse(msg)
			switch {
			case e.Kind == envelope.KindBlank:
				continue
			case e.Kind == envelope.KindNotJSON && p.noise != nil:
				if p.noise(msg) && bytes.Contains(msg, []byte(`"jsonrpc"`)) { // as the connection says it later
					p.log.Warn("acp: skipped a line that looks like a message", "line", safetext.OneLine(string(msg), 200))
				}
				continue
			case isResponse(&e) && envelope.IDKey(string(e.ID)) == id, isRefusal(&e):
				return answerOf(&e), nil
			}
		} else if err := p.lost(err, id); err != nil {
			return answer{}, err
		}
		p.early = append(p.early, read{msg, err})
		if p.bytes += len(msg) + 64; p.bytes > earlyBytes {
			return answer{}, errEarly
		}
	}
}

func isResponse(e *envelope.Envelope) bool {
	return e.Kind == envelope.KindResponse || e.Kind == envelope.KindErrorResponse || e.Kind == envelope.KindBadResponse
}

// isRefusal reports whether the message is an error without an id. The agent could not read the
// request, which is the only one.
func isRefusal(e *envelope.Envelope) bool {
	return e.Kind == envelope.KindErrorResponse && (len(e.ID) == 0 || string(e.ID) == "null")
}

// lost returns the error if the response can no longer arrive. Other errors are kept for the
// connection, and reading continues.
func (p *probe) lost(err error, id string) error {
	if long, ok := errors.AsType[*stream.TooLargeError](err); ok {
		if long.HasResult && string(long.ID) == id {
			return fmt.Errorf("draft2/connect: the response to initialize is too long: %w", err)
		}
		return nil
	}
	if lost, ok := errors.AsType[*stream.LostError](err); ok {
		if string(lost.ID) == id {
			return fmt.Errorf("draft2/connect: sending initialize: %w", err)
		}
		return nil
	}
	return fmt.Errorf("draft2/connect: the agent has ended before its response to initialize: %w", err)
}

// responseTo returns the answer as a response to the initialize of a connection.
func responseTo(m *stream.Message, a *answer) read {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), m.ID...)
	if a.err != nil {
		b = append(append(b, `,"error":`...), a.failed...)
	} else {
		b = append(append(b, `,"result":`...), a.result...)
	}
	return read{msg: append(b, '}')}
}
