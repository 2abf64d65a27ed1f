package rpc

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// frameField is the name under which an encoded request rides on a
// *jsonrpc2.Request. It never reaches the wire.
const frameField = "acp"

// overAtOnce is how many calls that are over the library may still remember.
const overAtOnce = 64

// keptIDs is how much room for ids outlives a burst.
const keptIDs = 1024

// objectStream is the library's side of the connection. The library keeps the
// calls, their ids and who waits for them; this hands it as little as it needs
// for that: of a response only the id, and of what is sent nothing but a pointer
// to the bytes.
type objectStream struct {
	out *outbox

	// next is the frame that WriteObject is about to be called for. The library
	// calls onSend and WriteObject under one lock of its own.
	next *frame

	answerMu sync.Mutex // guards the two below, while the library is called
	answer   *frame     // the frame of the response being sent
	response jsonrpc2.Response

	noteMu sync.Mutex // guards the one below, while the library is called
	note   *frame     // the frame of the notification being sent

	arrived sync.Cond // uses mu

	mu     sync.Mutex // guards all below
	ids    []uint64   // calls that are over, for ReadObject
	spare  []uint64
	taken  []uint64 // ReadObject's own part of ids
	closed bool
}

func newObjectStream(out *outbox) *objectStream {
	s := &objectStream{out: out}
	s.arrived.L = &s.mu
	return s
}

// over lets the library know that a call has its answer, or needs none any more.
// Nobody waits for the library to hear of it, so it is woken for many at a time.
func (s *objectStream) over(id uint64) {
	s.mu.Lock()
	s.ids = append(s.ids, id)
	enough := len(s.ids) >= overAtOnce
	s.mu.Unlock()
	if enough {
		s.arrived.Signal()
	}
}

// onSend remembers which frame belongs to the object that WriteObject gets next.
func (s *objectStream) onSend(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
	s.next = nil
	switch {
	case req != nil && req.Notif:
		s.next = s.note
	case req != nil:
		for _, f := range req.ExtraFields {
			if f.Name == frameField {
				s.next, _ = f.Value.(*frame)
			}
		}
	case resp == &s.response:
		s.next = s.answer
	}
}

// respond sends a response for which room was reserved. A response has no field
// that a frame could ride on, so it travels beside the library's own.
func (s *objectStream) respond(lib *jsonrpc2.Conn, f *frame) error {
	s.answerMu.Lock()
	defer s.answerMu.Unlock()
	s.answer = f
	err := lib.SendResponse(context.Background(), &s.response)
	s.answer = nil // a long answer must not stay until the next one
	return err
}

// notify sends a notification for which room was reserved. Its frame travels beside
// the library's request as well, which saves the library's options.
func (s *objectStream) notify(ctx context.Context, lib *jsonrpc2.Conn, method string, f *frame) error {
	s.noteMu.Lock()
	defer s.noteMu.Unlock()
	s.note = f
	err := lib.Notify(ctx, method, nil)
	s.note = nil
	return err
}

// WriteObject hands the frame over to the writer. It never blocks and never fails:
// room was reserved before.
func (s *objectStream) WriteObject(any) error {
	if s.next != nil {
		s.out.push(s.next)
		s.next = nil
	}
	return nil
}

// ReadObject waits for the end of a call and makes it look like a response to the
// library.
func (s *objectStream) ReadObject(v any) error {
	id, ok := s.pop()
	if !ok {
		return io.EOF
	}
	var buf [48]byte
	b := append(buf[:0], `{"id":`...)
	b = strconv.AppendUint(b, id, 10)
	b = append(b, `,"result":null}`...)
	if u, ok := v.(json.Unmarshaler); ok {
		return u.UnmarshalJSON(b) // saves the library's check of what is known to be well formed
	}
	return json.Unmarshal(b, v)
}

func (s *objectStream) pop() (uint64, bool) {
	if len(s.taken) == 0 {
		s.mu.Lock()
		for len(s.ids) < overAtOnce && !s.closed {
			s.arrived.Wait()
		}
		if s.closed {
			s.mu.Unlock()
			return 0, false
		}
		if cap(s.spare) > keptIDs {
			s.spare = nil
		}
		s.spare, s.ids = s.ids, s.spare[:0]
		s.taken = s.spare
		s.mu.Unlock()
	}
	id := s.taken[0]
	s.taken = s.taken[1:]
	return id, true
}

// Close ends ReadObject. The stream below is closed by the connection itself.
func (s *objectStream) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.arrived.Broadcast()
	return nil
}

// quiet swallows the library's log. It tells of calls that ended twice, which
// happens by design.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
