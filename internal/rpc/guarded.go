package rpc

import (
	"log/slog"
	"runtime/debug"

	"github.com/acpkit/go-sdk/stream"
)

// guarded is a stream that may be the user's, or calls a hook of the user. It is used
// by goroutines of the connection, where a panic would end the process, and what it
// is given comes from the peer: so a panic ends the connection.
type guarded struct {
	s     stream.Stream
	batch stream.BatchWriter    // nil when s has no batches
	meter stream.ProgressWriter // nil when s does not tell
	noise func([]byte)          // nil when s is not tolerant
	log   *slog.Logger
}

func (g *guarded) Read() (msg []byte, err error) {
	defer g.recover(&err)
	return g.s.Read()
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

func (g *guarded) WriteBatch(msgs [][]byte) (err error) {
	defer g.recover(&err)
	return g.batch.WriteBatch(msgs)
}

// Written tells of no progress when the stream panics.
func (g *guarded) Written() (n int64) {
	defer g.recover(new(error))
	return g.meter.Written()
}

func (g *guarded) Close() (err error) {
	defer g.recover(&err)
	return g.s.Close()
}

func (g *guarded) recover(err *error) {
	if p := recover(); p != nil {
		e := &panicError{value: p, stack: debug.Stack()}
		g.log.Error("acp: panic in the stream", errorAttr(e))
		*err = e
	}
}
