package recording

import (
	"bytes"
	"sync"
	"time"
)

const (
	// maxQueue is how many bytes the queue takes, with partSize for each part.
	maxQueue = 64 << 20
	partSize = 128
	// batchSize is how many bytes are taken at a time.
	batchSize = 64 << 10
	// keptBegin is how much of a message is queued when the queue is almost full. It has the method,
	// the id and the session of most messages.
	keptBegin = 512

	// Writing the recording must not take the processors from the peers. Messages are written when
	// none has come for pause, when the oldest has waited for about maxPause, or when the queue is
	// half full.
	pause    = 5 * time.Millisecond
	maxPause = 250 * time.Millisecond
)

// queue carries what the peers send from the lanes to the goroutine that writes the recording. A lane
// never waits. When the queue is full, messages are dropped until it is empty again.
type queue struct {
	start time.Time
	limit int // of size; above three quarters of it, only the beginnings of messages are queued

	mu       sync.Mutex    // guards the fields below, and those of lanes
	arrived  sync.Cond     // signalled when something is queued or the queue is closed
	last     time.Duration // when something was queued last
	list     []part        // what is queued, the oldest first
	size     int           // of what is queued or being written
	dropping bool
	behind   []*Lane // the lanes that have dropped messages; their gaps are recorded when the queue is empty
	closed   bool    // nothing more is queued
}

// part is a piece of what one lane has passed.
type part struct {
	lane *Lane
	time time.Duration // since the queue was made
	text []byte
	cut  int64   // if not 0, the lane's message ends here: it has this length, and its rest was not queued
	rec  *Record // if not nil, a gap or the end of the lane
}

func newQueue(start time.Time, limit int) *queue {
	q := &queue{start: start, limit: limit}
	q.arrived.L = &q.mu
	return q
}

func (q *queue) put(p part) {
	p.text = bytes.Clone(p.text)
	q.list = append(q.list, p)
	q.size += len(p.text) + partSize
	q.last = p.time
}

// take waits for parts, and returns the oldest with their size. It returns no parts when the queue is
// closed and empty.
func (q *queue) take() (batch []part, size int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.list) == 0 && !q.closed {
		q.arrived.Wait()
	}
	began := time.Since(q.start)
	for now := began; now-q.last < pause && now-began < maxPause && q.size < q.limit/2 && !q.closed; {
		q.mu.Unlock()
		time.Sleep(pause)
		q.mu.Lock()
		now = time.Since(q.start)
	}
	n := 0
	for ; n < len(q.list) && size < batchSize; n++ {
		size += len(q.list[n].text) + partSize
	}
	batch, q.list = q.list[:n:n], q.list[n:]
	return batch, size
}

// wrote makes room for more, after a batch from take was written. If nothing more is queued, it queues
// the gaps of the lanes that have dropped messages. It reports whether the queue is empty.
func (q *queue) wrote(batch []part, size int) (empty bool) {
	clear(batch) // the list still refers to it
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.size -= size; len(q.list) > 0 {
		return false
	}
	for _, l := range q.behind {
		if l.dropped > 0 {
			q.put(part{lane: l, time: time.Since(q.start), rec: l.gap()})
		}
	}
	q.dropping, q.behind = false, nil
	return len(q.list) == 0
}

// close ends queueing: lanes ignore what they are given from now on. With discard, what is in the queue
// is dropped.
func (q *queue) close(discard bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed = true; discard {
		q.list, q.size = nil, 0
	}
	q.arrived.Signal()
}

// Lane records what one peer of a connection sends. Each method is called by one goroutine at a
// time; none ever waits for the recording. The methods of a nil Lane do nothing.
type Lane struct {
	q    *queue
	conn int
	dir  Dir

	size, kept    int64 // of the current line: its length so far, and how much of it was queued
	dropped, lost int64 // messages that were dropped since the last gap, and their length

	line []byte // the beginning of a line; only the goroutine that writes the recording uses it
}

// Write records a piece of the bytes that the peer sends, which are lines. It keeps no reference to
// b.
func (l *Lane) Write(b []byte) {
	if l == nil {
		return
	}
	q := l.q
	at := time.Since(q.start)
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(b) > 0 && !q.closed {
		if l.kept == l.size && l.kept < maxMessage && !q.dropping && q.size < q.limit*3/4 {
			piece := b[:min(len(b), batchSize)]
			q.put(part{lane: l, time: at, text: piece})
			b = b[len(piece):]
			if i := bytes.LastIndexByte(piece, '\n'); i >= 0 {
				l.size, piece = 0, piece[i+1:]
			}
			l.size += int64(len(piece))
			l.kept = l.size
			continue
		}
		line, rest, ended := bytes.Cut(b, newline)
		l.crowded(at, line, ended)
		b = rest
	}
	q.arrived.Signal()
}

var newline = []byte{'\n'}

// Message records a whole message.
func (l *Lane) Message(msg []byte) {
	if bytes.IndexByte(msg, '\n') >= 0 { // JSON has it only between values, where a space means the same
		msg = bytes.ReplaceAll(msg, newline, []byte{' '})
	}
	l.Write(msg)
	l.Write(newline)
}

// End records that the peer sends nothing more, and how it ended if that is known.
func (l *Lane) End(how string) {
	if l == nil {
		return
	}
	l.q.mu.Lock()
	defer l.q.mu.Unlock()
	if l.q.closed {
		return
	}
	at := time.Since(l.q.start)
	if l.size > 0 {
		l.crowded(at, nil, true)
	}
	if l.dropped > 0 {
		l.q.put(part{lane: l, time: at, rec: l.gap()})
	}
	l.q.put(part{lane: l, time: at, rec: &Record{Kind: End, Line: how}})
	l.q.arrived.Signal()
}

// crowded queues the first bytes of a line while the queue has room for them, and counts the rest.
func (l *Lane) crowded(at time.Duration, piece []byte, ended bool) {
	q := l.q
	q.dropping = q.dropping || q.size >= q.limit
	begin := piece[:min(int64(len(piece)), max(keptBegin-l.kept, 0))]
	if len(begin) > 0 && l.kept == l.size && !q.dropping {
		q.put(part{lane: l, time: at, text: begin})
		l.kept += int64(len(begin))
	}
	l.size += int64(len(piece))
	switch {
	case !ended:
		return
	case l.kept == l.size && !q.dropping:
		q.put(part{lane: l, time: at, text: newline})
	case l.kept > 0 && !q.dropping:
		q.put(part{lane: l, time: at, cut: l.size})
	case l.size > 0:
		if l.dropped++; l.dropped == 1 {
			q.behind = append(q.behind, l)
		}
		l.lost += l.size
	}
	l.kept, l.size = 0, 0
}

// gap returns the record of what the lane has dropped, and forgets it.
func (l *Lane) gap() *Record {
	rec := &Record{Kind: Gap, Dropped: l.dropped, Bytes: l.lost}
	l.dropped, l.lost = 0, 0
	return rec
}
