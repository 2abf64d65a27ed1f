package rpc

import (
	"encoding/json"
	"strconv"
	"sync"

	"github.com/acpkit/go-sdk/internal/wire"
)

// frame is one encoded message on its way out.
type frame struct {
	b   json.RawMessage
	own bool // the connection's own answer: it uses the reserve of the queue
	// claim is set to true when the sender is to be the writer, which it can be
	// because it has nothing else to do. Nil: a writer is started when needed.
	claim *bool
}

// keptFrame is the largest buffer that is used again; larger ones are left to the
// collector, so that one big message does not stay in memory.
const keptFrame = 64 << 10

var frames = sync.Pool{New: func() any { return &frame{b: make([]byte, 0, 512)} }}

// frameOverhead is the memory that a frame takes beside its bytes.
const frameOverhead = 96

// cost is what the frame counts for in the outgoing queue: the memory that it takes.
// It is the same until the frame is freed, once it is encoded.
func (f *frame) cost() int64 {
	if f.own {
		return int64(len(f.b))
	}
	return int64(cap(f.b)) + frameOverhead
}

func newFrame() *frame { return frames.Get().(*frame) }

// free gives the buffer back. Nobody may use f after it.
func (f *frame) free() {
	if cap(f.b) > keptFrame {
		f.b = nil // the library may remember the request for a while, and f with it
		return
	}
	f.b, f.own, f.claim = f.b[:0], false, nil
	frames.Put(f)
}

const version = `{"jsonrpc":"2.0"`

func appendCall(b []byte, id uint64, method string) []byte {
	b = append(b, version+`,"id":`...)
	b = strconv.AppendUint(b, id, 10)
	b = append(b, `,"method":`...)
	return wire.AppendString(b, method)
}

func appendNotification(b []byte, method string) []byte {
	b = append(b, version+`,"method":`...)
	return wire.AppendString(b, method)
}

// appendAnswer begins a response; a nil id is null.
func appendAnswer(b []byte, id []byte) []byte {
	b = append(b, version+`,"id":`...)
	if id == nil {
		return append(b, "null"...)
	}
	return append(b, id...)
}
