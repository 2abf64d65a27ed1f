package outbox

import (
	"strconv"

	"github.com/acpkit/go-sdk/stream"
)

const (
	methodCancel = "$/cancel_request"
	cancelHead   = `{"jsonrpc":"2.0","method":"` + methodCancel + `","params":{"requestId":`
	cancelTail   = `}}`
	// longestCancel is the length of one cancel, at most.
	longestCancel = len(cancelHead) + 20 + len(cancelTail)
	// maxCancels is how many calls one frame cancels.
	maxCancels = 1000
)

// Cancel queues the cancel of a call that was queued before. It neither waits nor uses
// room: a cancel that is not written yet is eight bytes, and there are never more of them
// than calls. It is lost only if the connection is.
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
