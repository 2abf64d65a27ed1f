package history

import (
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/fold"
)

// Text of an open message is stored at most recordTime after it was added, or when more than recordSize bytes are not stored yet.
const (
	recordTime = time.Second
	recordSize = 64 << 10

	keptBuffer = 4 << 10 // bytes; a larger buffer is released when its text is stored
)

// Open is the message of a session to which chunks are still added. It joins their texts, so that there is a record a message and
// not one a chunk.
type Open struct {
	mu    sync.Locker
	store func(acp.SessionUpdate)
	first acp.SessionUpdate // the first chunk that is not stored; nil if there is none
	text  []byte            // of first and the chunks after it
	timer *time.Timer       // will store the text; nil if there is none
}

// NewOpen returns an Open that calls store with what is to be stored. The caller holds mu in all calls, and store is called with it.
func NewOpen(mu sync.Locker, store func(acp.SessionUpdate)) *Open { return &Open{mu: mu, store: store} }

// Add adds a chunk. It ends the open message if that is another one. If the update is no chunk with a plain text, it reports
// false, and the caller stores the update.
func (o *Open) Add(u acp.SessionUpdate) bool {
	role, id, content := fold.Chunk(u)
	text := fold.PlainText(content)
	if r, i, _ := fold.Chunk(o.first); text == nil || r != role || i != id {
		o.End()
	}
	if text == nil {
		return false
	}
	if o.first == nil {
		o.first = u
	}
	o.text = append(o.text, text.Text...)
	if len(o.text) > recordSize {
		o.End()
	} else if o.timer == nil {
		o.timer = time.AfterFunc(recordTime, o.late) // ends by itself
	}
	return true
}

func (o *Open) late() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.End()
}

// End stores what is not stored of the open message.
func (o *Open) End() {
	if o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
	if o.first == nil {
		return
	}
	_, id, _ := fold.Chunk(o.first)
	u := fold.Rechunk(o.first, id, acp.Text(string(o.text)))
	o.first, o.text = nil, o.text[:0]
	if cap(o.text) > keptBuffer {
		o.text = nil
	}
	o.store(u)
}
