package outbox

import (
	"bytes"
	"strconv"
	"sync"

	"github.com/acpkit/go-sdk/internal/reserve"
	"github.com/acpkit/go-sdk/stream"
)

// Frame is one encoded message on its way out. The zero value is not ready for use: see
// [NewFrame].
type Frame struct {
	// Message is the message to write. The fields other than Data are needed if the stream has
	// Features.WriteMessage.
	stream.Message

	// Call is the id of the call that the frame begins, or 0. Request is the id of the request
	// that the frame responds to, as the peer wrote it, or empty.
	Call    uint64
	Request string
	About   string        // the method of the message, or of the request it responds to, for logs
	Result  reserve.Claim // what the result of the response counts for, until the frame is written
	Crowd   bool          // other senders are about to queue frames, which may leave with this one

	own  bool // the connection's own response: it uses the reserve
	free bool // a cancel: it uses no room
}

const (
	// narrow is the size of the buffers in which short messages wait.
	narrow = 1 << 10
	// widest is the largest buffer that is used again, so that a long message does not stay in
	// memory.
	widest = 64 << 10
	// overhead is the memory that a frame takes in addition to its bytes.
	overhead = 224
)

// The buffers to encode in are few and grow with what is encoded; those in which short
// messages wait are many and small.
var (
	wide  = sync.Pool{New: func() any { return &Frame{Message: stream.Message{Data: make([]byte, 0, 4<<10)}} }}
	small = sync.Pool{New: func() any { return &Frame{Message: stream.Message{Data: make([]byte, 0, 512)}} }}
)

// NewFrame returns a frame with an empty buffer to encode in. Call Fit when Data is
// complete.
func NewFrame() *Frame { return wide.Get().(*Frame) }

// Fit returns a frame with the same message in a buffer that is not much larger. f must
// not be used after.
func (f *Frame) Fit() *Frame {
	n := len(f.Data)
	if n > narrow && cap(f.Data) <= 2*n {
		return f
	}
	var fit *Frame
	if n <= narrow {
		fit = small.Get().(*Frame)
	} else {
		fit = &Frame{}
	}
	data := append(fit.Data[:0], f.Data...)
	fit.Message, fit.Call, fit.Request, fit.About = f.Message, f.Call, f.Request, f.About
	fit.Data = data
	f.Free()
	return fit
}

// Own returns a frame with the same message for [Box.PushOwn]. Its buffer is no larger than the
// message, because there may be very many of them. f must not be used after.
func (f *Frame) Own() *Frame {
	own := &Frame{Message: f.Message, Request: f.Request, own: true}
	own.Data = bytes.Clone(f.Data)
	f.Free()
	return own
}

// IsOwn reports whether the frame is a response of the connection itself.
func (f *Frame) IsOwn() bool { return f.own }

// cost is the memory of the frame. It does not change until the frame is freed.
func (f *Frame) cost() int64 { return int64(cap(f.Data)) + overhead }

// Free returns the buffer to its pool. f must not be used after.
func (f *Frame) Free() {
	data := f.Data[:0]
	pool := &wide
	switch size := cap(data); {
	case f.own || f.free || size == 0 || size > widest:
		return
	case size <= narrow+narrow/4:
		pool = &small
	}
	*f = Frame{Message: stream.Message{Data: data}}
	pool.Put(f)
}

// Cancel queues the cancel of a call that was queued before. It neither waits nor uses room: there
// are never more cancels than calls.
func (b *Box) Cancel(call uint64) {
	const method = "$/cancel_request"
	data := strconv.AppendUint([]byte(`{"jsonrpc":"2.0","method":"`+method+`","params":{"requestId":`), call, 10)
	id := data[bytes.LastIndexByte(data, ':')+1:]
	f := &Frame{free: true}
	f.Message = stream.Message{Data: append(data, "}}"...), Kind: stream.KindNotification, Method: method, CancelID: bytes.Clone(id)}
	b.mu.Lock()
	start := !b.dead && b.room.closed == nil && b.appendLocked(f)
	b.mu.Unlock()
	if start {
		b.Start()
	}
}
