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
	// Message is what is written. The fields other than Data are needed if the stream has
	// Features.WriteMessage.
	stream.Message

	// Call is the id of the call that the frame begins, or 0. Request is the id of the request
	// that the frame responds to, as the peer wrote it, or empty.
	Call    uint64
	Request string
	About   string        // the method of the message, or of the request it responds to, for logs
	Result  reserve.Claim // what the result of the response counts for, until the frame is written
	Awaited bool          // Hasten of the stream is called when the frame was written
	Crowd   bool          // other senders are about to queue frames, which may leave with this one

	own     bool     // the connection's own response: it uses the reserve
	cancels []uint64 // the calls that the frame cancels, in place of Data
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
	fit.Message, fit.Call, fit.Request, fit.About, fit.Awaited = f.Message, f.Call, f.Request, f.About, f.Awaited
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

func (f *Frame) isAwaited() bool { return f.Awaited }

// cost is the memory of the frame. It does not change until the frame is freed.
func (f *Frame) cost() int64 { return int64(cap(f.Data)) + overhead }

// size is how many bytes the frame writes, or a little more.
func (f *Frame) size() int { return len(f.Data) + len(f.cancels)*longestCancel }

// Free returns the buffer to its pool. f must not be used after.
func (f *Frame) Free() {
	data := f.Data[:0]
	pool := &wide
	switch size := cap(data); {
	case f.own || f.cancels != nil || size == 0 || size > widest:
		return
	case size <= narrow+narrow/4:
		pool = &small
	}
	*f = Frame{Message: stream.Message{Data: data}}
	pool.Put(f)
}

const (
	methodCancel = "$/cancel_request"
	cancelHead   = `{"jsonrpc":"2.0","method":"` + methodCancel + `","params":{"requestId":`
	cancelTail   = `}}`
	// longestCancel is the length of one cancel, at most.
	longestCancel = len(cancelHead) + 20 + len(cancelTail)
	// maxCancels is how many calls one frame cancels.
	maxCancels = 1000
)

// Cancel queues the cancel of a call that was queued before. It neither waits nor uses room: a
// queued cancel is eight bytes, and there are never more of them than calls.
func (b *Box) Cancel(call uint64) {
	b.mu.Lock()
	if b.dead || b.room.closed != nil {
		b.mu.Unlock()
		return
	}
	if n := len(b.queue); n > 0 {
		if last := b.queue[n-1]; last.cancels != nil && len(last.cancels) < maxCancels {
			last.cancels = append(last.cancels, call)
			b.mu.Unlock()
			return
		}
	}
	start := b.appendLocked(&Frame{cancels: []uint64{call}})
	b.mu.Unlock()
	if start {
		b.Start()
	}
}

// appendCancels appends one message for each call.
func appendCancels(msgs [][]byte, calls []uint64) [][]byte {
	text := make([]byte, 0, len(calls)*longestCancel)
	for _, call := range calls {
		begin := len(text)
		text = append(text, cancelHead...)
		text = strconv.AppendUint(text, call, 10)
		text = append(text, cancelTail...)
		msgs = append(msgs, text[begin:len(text):len(text)])
	}
	return msgs
}

func cancelMessage(call uint64) stream.Message {
	return stream.ParseMessage(appendCancels(nil, []uint64{call})[0])
}
