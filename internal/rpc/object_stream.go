package rpc

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/acpkit/go-sdk/internal/rpc/outbox"
)

const (
	// overAtOnce is how many calls that are over the library may still remember while
	// there is nothing to do.
	overAtOnce = 64
	// mostOver is how many they may be before new calls wait. Hearing of one takes the
	// library about half as long as all the rest of a short call, on one goroutine, so
	// calls from many goroutines can be quicker than it.
	mostOver = 512
)

// keptIDs is how much room for ids outlives a burst.
const keptIDs = 1024

// objectStream is the library's side of the connection. The library keeps the
// calls, their ids and who waits for them; this hands it as little as it needs
// for that: of a response only the id, and of a call that is sent nothing but a
// pointer to the bytes. Notifications and responses do not concern it.
type objectStream struct {
	out *outbox.Box

	callMu sync.Mutex    // guards the one below, while the library is called
	call   *outbox.Frame // the frame of the call being sent

	buf [48]byte // ReadObject's alone

	arrived sync.Cond // uses mu: there is enough for ReadObject
	heard   sync.Cond // uses mu: the library remembers fewer

	mu     sync.Mutex // guards all below
	ids    []uint64   // calls that are over, for ReadObject
	spare  []uint64
	taken  []uint64 // ReadObject's own part of ids
	late   int      // callers that wait for the library
	closed bool
}

func newObjectStream(out *outbox.Box) *objectStream {
	s := &objectStream{out: out}
	s.arrived.L, s.heard.L = &s.mu, &s.mu
	return s
}

// over lets the library know that a call has its response, or no longer needs one.
// Nothing waits for the library to hear of it, so it is woken for many at a time.
func (s *objectStream) over(id uint64) {
	s.mu.Lock()
	s.ids = append(s.ids, id)
	enough := len(s.ids) >= overAtOnce
	s.mu.Unlock()
	if enough {
		s.arrived.Signal()
	}
}

// await holds back the caller of a new call while the library remembers too many that are
// over. That takes some milliseconds at most: the library waits for no one.
func (s *objectStream) await() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.ids)+len(s.taken) >= mostOver && !s.closed {
		s.late++
		s.heard.Wait()
		s.late--
	}
}

// dispatch sends a call for which room was reserved. Its frame travels beside the
// library's request: an extra field of the request would cost two allocations.
func (s *objectStream) dispatch(ctx context.Context, lib *jsonrpc2.Conn, method string, f *outbox.Frame) error {
	s.await()
	s.callMu.Lock()
	defer s.callMu.Unlock()
	s.call = f
	_, err := lib.DispatchCall(ctx, method, nil, jsonrpc2.PickID(jsonrpc2.ID{Num: f.Call}))
	s.call = nil
	return err
}

// WriteObject hands the frame of a call over to the writer. It never blocks and never
// fails: room was reserved before. The library calls it for nothing but calls.
func (s *objectStream) WriteObject(any) error {
	if s.out.Push(s.call) == outbox.Begin {
		s.out.StartLater() // the caller is about to wait for the response
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
	b := append(s.buf[:0], `{"id":`...)
	b = strconv.AppendUint(b, id, 10)
	b = append(b, `,"result":null}`...)
	if u, ok := v.(json.Unmarshaler); ok {
		return u.UnmarshalJSON(b) // saves the library's check of what is known to be well formed
	}
	return json.Unmarshal(b, v)
}

func (s *objectStream) pop() (uint64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.taken) == 0 {
		for len(s.ids) < overAtOnce && !s.closed {
			s.heard.Broadcast() // too few of those that went on may have made a call
			s.arrived.Wait()
		}
		if s.closed {
			return 0, false
		}
		if cap(s.spare) > keptIDs {
			s.spare = nil
		}
		s.spare, s.ids = s.ids, s.spare[:0]
		s.taken = s.spare
	}
	id := s.taken[0]
	s.taken = s.taken[1:]
	if s.late > 0 && len(s.ids)+len(s.taken) < mostOver {
		s.heard.Signal()
	}
	return id, true
}

// Close ends ReadObject. The stream below is closed by the connection itself.
func (s *objectStream) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.arrived.Broadcast()
	s.heard.Broadcast()
	return nil
}

// quiet swallows the library's log. It tells of calls that ended twice, which
// happens by design.
type quiet struct{}

func (quiet) Printf(string, ...any) {}
