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
	batch    stream.BatchWriter    // nil when s has no batches
	messages stream.MessageWriter  // nil when s does not route messages
	parses   stream.MessageReader  // nil when s does not parse messages
	meter    stream.ProgressWriter // nil when s does not tell
	hastener stream.Hastener       // nil when s does not care
	noise    func([]byte)          // nil when s is not tolerant
	log      *slog.Logger
}

func (g *guarded) Read() (msg []byte, err error) {
	defer g.recover(&err)
	return g.s.Read()
}

// next reads a message and takes it apart, unless the stream has done that.
func (g *guarded) next() (msg []byte, e envelope.Envelope, err error) {
	if g.parses == nil {
		if msg, err = g.Read(); err == nil {
			e = envelope.Parse(msg)
		}
		return msg, e, err
	}
	m, err := g.readMessage()
	if err != nil {
		return nil, e, err
	}
	if known := envelope.Handed(&m); known != nil {
		return m.Data, *known, nil
	}
	return m.Data, envelope.Parse(m.Data), nil
}

func (g *guarded) readMessage() (m stream.Message, err error) {
	defer g.recover(&err)
	return g.parses.ReadMessage()
}

// unchecked asks a tolerant stream to leave the checking to the connection.
func (g *guarded) unchecked() (noise func([]byte) error) {
	if s, ok := g.s.(stream.TolerantReader); ok {
		if g.noise = s.Unchecked(); g.noise != nil {
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

func (g *guarded) WriteMessage(m stream.Message) (err error) {
	defer g.recover(&err)
	return g.messages.WriteMessage(m)
}

func (g *guarded) WriteBatch(msgs [][]byte) (err error) {
	defer g.recover(&err)
	return g.batch.WriteBatch(msgs)
}

// Written tells of no progress when the stream panics.
func (g *guarded) Written() (n int64) {
	defer g.recover(new(error))
	return g.meter.Written()
}

func (g *guarded) Hasten() {
	defer g.recover(new(error))
	g.hastener.Hasten()
}

func (g *guarded) Close() (err error) {
	defer g.recover(&err)
	return g.s.Close()
}

// CloseFor is Close for a stream that can tell the peer why.
func (g *guarded) CloseFor(why stream.Reason) (err error) {
	s, ok := g.s.(stream.ReasonCloser)
	if !ok {
		return g.Close()
	}
	defer g.recover(&err)
	return s.CloseFor(why)
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
