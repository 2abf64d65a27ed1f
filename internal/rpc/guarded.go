package rpc

import (
	"errors"
	"io"
	"log/slog"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/stream"
)

// guarded is a stream that may be the user's, or calls a hook of the user. It is used
// by goroutines of the connection, where a panic would end the process, and what it
// is given comes from the peer: so a panic ends the connection.
type guarded struct {
	s        stream.Stream
	features *stream.Features // of s, guarded too
	noise    func([]byte)     // nil if s is not tolerant
	log      *slog.Logger
}

func guard(s stream.Stream, log *slog.Logger) *guarded {
	g := &guarded{s: s, log: log, features: new(stream.Features)}
	var below *stream.Features
	func() {
		defer g.recover(new(error))
		below = stream.FeaturesOf(s)
	}()
	if below == nil { // Features has panicked: it is used without
		return g
	}
	f := g.features
	f.Unchecked, f.Draining = below.Unchecked, below.Draining
	if read := below.ReadMessage; read != nil {
		f.ReadMessage = func() (m stream.Message, err error) {
			defer g.recover(&err)
			return read()
		}
	}
	if write := below.WriteMessage; write != nil {
		f.WriteMessage = func(m stream.Message) (err error) {
			defer g.recover(&err)
			return write(m)
		}
	}
	if write := below.WriteBatch; write != nil {
		f.WriteBatch = func(msgs [][]byte) (err error) {
			defer g.recover(&err)
			return write(msgs)
		}
	}
	if written := below.Written; written != nil {
		f.Written = func() (n int64) { // no progress if the stream panics
			defer g.recover(new(error))
			return written()
		}
	}
	if hasten := below.Hasten; hasten != nil {
		f.Hasten = func() {
			defer g.recover(new(error))
			hasten()
		}
	}
	f.CloseFor = func(why stream.Reason) (err error) {
		defer g.recover(&err)
		if why == stream.ReasonDone || below.CloseFor == nil {
			return s.Close()
		}
		return below.CloseFor(why)
	}
	return g
}

func (g *guarded) Read() (msg []byte, err error) {
	defer g.recover(&err)
	return g.s.Read()
}

// next reads a message and takes it apart, unless the stream has done that.
func (g *guarded) next() (msg []byte, e envelope.Envelope, err error) {
	if g.features.ReadMessage == nil {
		if msg, err = g.Read(); err == nil {
			e = envelope.Parse(msg)
		}
		return msg, e, err
	}
	m, err := g.features.ReadMessage()
	if err != nil {
		return nil, e, err
	}
	if known := envelope.Handed(&m); known != nil {
		return m.Data, *known, nil
	}
	return m.Data, envelope.Parse(m.Data), nil
}

// unchecked asks a tolerant stream to leave the checking to the connection.
func (g *guarded) unchecked() (noise func([]byte) error) {
	if g.features.Unchecked != nil {
		if g.noise = g.features.Unchecked(); g.noise != nil {
			return g.report
		}
	}
	return nil
}

// report hands back a message that is none.
func (g *guarded) report(msg []byte) (err error) {
	defer g.recover(&err)
	g.noise(msg)
	return nil
}

func (g *guarded) Write(msg []byte) (err error) {
	defer g.recover(&err)
	return g.s.Write(msg)
}

func (g *guarded) Close() (err error) {
	defer g.recover(&err)
	return g.s.Close()
}

// recover makes the error of a method one that the connection can keep and return. That of
// a panic is no error of a handler.
func (g *guarded) recover(err *error) {
	if p := recover(); p != nil {
		panicked := Panicked(p)
		g.log.Error("acp: panic in the stream", errorAttr(panicked))
		*err = errors.New(panicked.Error())
		return
	}
	if *err != nil && *err != io.EOF {
		*err = Sound(*err)
	}
}
