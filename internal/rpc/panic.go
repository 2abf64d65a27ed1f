package rpc

import (
	"errors"
	"io"
	"log/slog"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/errs"
	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// safely runs code that may be the user's, an encoding method for example. A panic
// becomes an error.
func safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = Panicked(p)
		}
	}()
	return f()
}

// protect runs a function of the user whose error cannot be returned to anyone.
func protect(log *slog.Logger, what string, f func()) {
	if p := safely(func() error { f(); return nil }); p != nil {
		log.Error("acp: panic in "+what, errorAttr(p))
	}
}

// panicError is a panic of a handler, or of other code of the user. It is an internal error
// whatever its text.
type panicError struct{ *panics.Panic }

// Panicked returns the error for a value that was recovered. It must be called where the
// panic is recovered, and logs as its text with the stack.
func Panicked(v any) error { return &panicError{panics.Recovered(v)} }

// RequestError is the form in which the panic leaves.
func (e *panicError) RequestError() *rpcerr.RequestError { return rpcerr.InternalError(nil) }

// LogValue returns the text with the stack, for who logs the error in place of this package.
func (e *panicError) LogValue() slog.Value {
	return slog.GroupValue(slog.String("message", errs.LogText(e)), slog.String("stack", string(e.Stack)))
}

func errorAttr(err error) slog.Attr {
	text := slog.String("error", errs.LogText(err)) // LogText recovers a panic of the Error method
	p, ok := errors.AsType[*panics.Panic](err)
	if e, own := errors.AsType[*panicError](err); own {
		p, ok = e.Panic, true
	}
	if ok {
		return slog.Group("", text, slog.String("stack", string(p.Stack)))
	}
	return text
}

// guarded wraps a stream that may be the user's or may call a hook of the user. Goroutines of the
// connection use it. Without it a panic there would end the process, and the peer chooses the
// input. With it a panic ends the connection.
type guarded struct {
	s        stream.Stream
	features stream.Features   // of s, guarded too
	noise    func([]byte) bool // nil if s is not tolerant
	log      *slog.Logger
}

func guard(s stream.Stream, log *slog.Logger) *guarded {
	g := &guarded{s: s, log: log}
	_ = g.call(func() error { g.features = *stream.FeaturesOf(s); return nil })
	f := &g.features
	if write := f.WriteMessage; write != nil {
		f.WriteMessage = func(m stream.Message) error { return g.call(func() error { return write(m) }) }
	}
	if write := f.WriteBatch; write != nil {
		f.WriteBatch = func(msgs [][]byte) error { return g.call(func() error { return write(msgs) }) }
	}
	if written := f.Written; written != nil {
		f.Written = func() (n int64) { // no progress if the stream panics
			_ = g.call(func() error { n = written(); return nil })
			return n
		}
	}
	closeFor := f.CloseFor
	f.CloseFor = func(why stream.Reason) error {
		if why == stream.ReasonDone || closeFor == nil {
			return g.close()
		}
		return g.call(func() error { return closeFor(why) })
	}
	return g
}

// next reads a message and parses it, unless the stream has done that.
func (g *guarded) next() (msg []byte, e envelope.Envelope, err error) {
	defer g.recover(&err)
	if g.features.ReadMessage == nil {
		if msg, err = g.s.Read(); err == nil {
			e = envelope.Parse(msg)
		}
		return msg, e, err
	}
	m, err := g.features.ReadMessage()
	if err != nil {
		return nil, e, err
	}
	if known := envelope.Handed(&m, m.Data); known != nil {
		return m.Data, *known, nil
	}
	return m.Data, envelope.Parse(m.Data), nil
}

// unchecked tells a tolerant stream that the connection checks its lines.
func (g *guarded) unchecked() {
	g.noise = envelope.LeaveChecks(&g.features)
}

// report tells a tolerant stream that input from it is not a message.
func (g *guarded) report(msg []byte) (skipped bool, err error) {
	err = g.call(func() error { skipped = g.noise(msg); return nil })
	return skipped, err
}

func (g *guarded) write(msg []byte) error { return g.call(func() error { return g.s.Write(msg) }) }

func (g *guarded) close() error { return g.call(g.s.Close) }

func (g *guarded) call(f func() error) (err error) {
	defer g.recover(&err)
	return f()
}

// recover makes the error of a method safe to keep and to return. The error of a panic is not that
// of a handler.
func (g *guarded) recover(err *error) {
	if p := recover(); p != nil {
		panicked := Panicked(p)
		g.log.Error("acp: panic in the stream", errorAttr(panicked))
		*err = errors.New(panicked.Error())
		return
	}
	if *err != nil && *err != io.EOF {
		*err = panics.Sound(*err)
	}
}
