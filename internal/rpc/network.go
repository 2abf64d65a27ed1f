package rpc

import (
	"bytes"
	"encoding/json"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/rpc/outbox"
	"github.com/acpkit/go-sdk/stream"
)

// What streams need that cross a network: they route a message by its session, they lose
// single messages or sessions, and they are asked to drain.

// describe sets what a network stream must know of a message whose Data is complete: m, and
// the session that the params or the result name, which are what begins at f.Data[body:] if
// there are any.
func (c *Conn) describe(f *outbox.Frame, m stream.Message, body int) {
	if !c.network {
		return
	}
	if m.Method == methodCancel { // a user's own
		f.Message = stream.ParseMessage(f.Data)
		return
	}
	m.Data = f.Data
	if m.ID == nil && m.Kind == stream.KindErrorResponse {
		m.ID = json.RawMessage("null")
	}
	if m.Kind != stream.KindErrorResponse {
		if _, payload, ok := bytes.Cut(f.Data[body:], colon); ok {
			m.SessionID = envelope.SessionID(payload[:len(payload)-1])
		}
	}
	f.Message = m
}

var colon = []byte(":")

// reopens reports whether a request of the method opens a lost session again.
func (c *Conn) reopens(method string) bool { return c.cfg.Reopens != nil && c.cfg.Reopens(method) }

// lost fails the calls that a *stream.LostError names.
func (r *reader) lost(e *stream.LostError) {
	if e.ID != nil {
		if id, ok := callID(e.ID); ok {
			r.c.calls.failOne(id, e)
		}
		return
	}
	r.c.log.Warn("acp: a session was lost", "error", e)
	for _, id := range r.c.calls.lose(e) {
		r.c.calls.failOne(id, e)
	}
}
