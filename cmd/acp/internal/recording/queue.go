package recording

import (
	"bytes"
	"slices"
	"sync"
	"time"
	"unsafe"
)

const (
	chunkSize  = 64 << 10
	chunkParts = 512
	// maxQueue is how many bytes the queue takes.
	maxQueue = 64 << 20
	// keptBegin is how much of a message is queued when the queue is almost full. It has the method,
	// the id and the session of most messages.
	keptBegin = 512
	// spareChunks are kept for use when the queue is empty.
	spareChunks = 4

	// While messages follow each other within pause, they are only queued, up to half of the queue
	// and for as long as maxPause: the processors are for those who send and receive them.
	pause    = 5 * time.Millisecond
	maxPause = 250 * time.Millisecond
	// Those who pass on bytes wake the recorder only if nothing has come for so long.
	awake = time.Second
)

// queue carries what has passed from those who pass it on, who never wait, to the one who writes
// the recording. When it is full, messages are dropped until all that it holds is written.
type queue struct {
	start time.Time
	limit int // of chunks; beyond three quarters of it only the beginnings of messages are queued

	mu       sync.Mutex // guards the fields below, and those of lanes
	arrived  sync.Cond  // signalled when something is queued or the queue is closed, while asleep
	asleep   bool
	last     time.Duration // when something was queued last
	taken    time.Duration // when something was taken last, or the queue was empty
	list     []*chunk      // what is queued, the oldest first
	chunks   int           // queued, or being written
	spare    []*chunk
	dropping bool
	behind   []*Lane // those that have dropped messages and say so when the queue is empty
	closed   bool    // nothing more is queued
}

// chunk holds bytes of several lanes.
type chunk struct {
	used  int
	count int
	data  [chunkSize]byte
	parts [chunkParts]part
}

// part is a piece of what one lane has passed.
type part struct {
	lane *Lane
	time time.Duration // since the queue was made
	end  int           // of its bytes in the chunk; they begin where those of the part before end
	mark *mark         // what the part says beside its bytes; mostly nil
}

type mark struct {
	kind    markKind
	dropped int64  // of gapMark: how many messages
	size    int64  // of cutMark: length of the message; of gapMark: that of all together
	torn    bool   // of gapMark: the beginning of the last message was queued
	how     string // of endMark
}

type markKind uint8

const (
	cutMark markKind = iota // a message ends here of which only the beginning was queued
	gapMark                 // messages were dropped here
	endMark                 // nothing more comes
)

func newQueue(start time.Time, bytes int) *queue {
	q := &queue{start: start, limit: bytes / int(unsafe.Sizeof(chunk{}))}
	q.arrived.L = &q.mu
	return q
}

// put queues a part with as many bytes of b as fit into the last chunk, and returns their number.
// A part without bytes is always queued.
func (q *queue) put(l *Lane, at time.Duration, b []byte, m *mark) int {
	last := len(q.list) - 1
	if last < 0 || q.list[last].count == chunkParts || len(b) > 0 && q.list[last].used == chunkSize {
		c := new(chunk)
		if n := len(q.spare); n > 0 {
			c, q.spare = q.spare[n-1], q.spare[:n-1]
		}
		q.list = append(q.list, c)
		q.chunks++
		last++
	}
	c := q.list[last]
	n := copy(c.data[c.used:], b)
	c.used += n
	c.parts[c.count] = part{l, at, c.used, m}
	q.last = at
	c.count++
	return n
}

// take waits for the oldest chunk. Each time that the queue is empty, it calls idle with the gaps of
// the lanes that have dropped messages. It returns nil when the queue is closed and empty.
func (q *queue) take(idle func(gaps []part)) *chunk {
	q.mu.Lock()
	defer q.mu.Unlock()
	told := false // idle was called since something was queued
	for {
		now := time.Since(q.start)
		switch {
		case len(q.list) == 0 && !told:
			gaps := q.settle(now)
			told = true
			q.mu.Unlock()
			idle(gaps)
			q.mu.Lock()
			continue
		case len(q.list) == 0 && q.closed:
			return nil
		case len(q.list) == 0 && now-q.last >= awake:
			q.asleep = true
			q.arrived.Wait()
			q.asleep = false
			q.taken = time.Since(q.start)
			continue
		case len(q.list) == 0:
			q.taken = now
		case q.closed, q.chunks >= q.limit/2, now-q.last >= pause, now-q.taken >= maxPause:
			q.taken = now
			c := q.list[0]
			q.list[0] = nil
			q.list = q.list[1:]
			return c
		}
		q.mu.Unlock()
		time.Sleep(pause)
		q.mu.Lock()
	}
}

// settle ends the dropping of messages when the queue is empty, and returns the gaps.
func (q *queue) settle(now time.Duration) (gaps []part) {
	q.dropping, q.spare = false, slices.Delete(q.spare, min(len(q.spare), spareChunks), len(q.spare))
	for _, l := range q.behind {
		if l.dropped > 0 {
			gaps = append(gaps, part{lane: l, time: now, mark: l.gap()})
		}
	}
	q.behind = nil
	return gaps
}

// wake makes take notice what is queued.
func (q *queue) wake() {
	if q.asleep {
		q.arrived.Signal()
	}
}

// give returns a chunk that is written.
func (q *queue) give(c *chunk) {
	clear(c.parts[:c.count]) // which refer to lanes
	c.used, c.count = 0, 0
	q.mu.Lock()
	defer q.mu.Unlock()
	q.chunks--
	q.spare = append(q.spare, c)
}

// close makes the lanes pass nothing more into the queue.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wake()
}

// discard closes the queue and drops what it holds.
func (q *queue) discard() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.list, q.spare, q.chunks = true, nil, nil, 0
}

// Lane records what one peer of a connection sends. Each method is called by one goroutine at a
// time; none ever waits for the recording. The methods of a nil Lane do nothing.
type Lane struct {
	q    *queue
	conn int
	dir  Dir

	kept, size int64 // of the line that is being passed: how much is queued, and its length so far
	cut        bool  // the rest of the line is not queued
	dropped    int64 // messages that were dropped and not told yet, with their length
	lost       int64
	torn       bool // the beginning of the last of them was queued

	line []byte // what has come of a line, used by the one who writes the recording
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
		if !l.cut && !q.dropping && q.chunks < q.limit*3/4 && l.kept < maxMessage {
			n := q.put(l, at, b, nil)
			l.passed(b[:n])
			b = b[n:]
			continue
		}
		line, rest, ended := bytes.Cut(b, newline)
		l.crowded(at, line, ended)
		b = rest
	}
	q.wake()
}

var newline = []byte{'\n'}

// Message records a whole message.
func (l *Lane) Message(msg []byte) {
	if bytes.IndexByte(msg, '\n') >= 0 { // between two values, so a space means the same
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
		l.q.put(l, at, nil, l.gap())
	}
	l.q.put(l, at, nil, &mark{kind: endMark, how: how})
	l.q.wake()
}

// passed updates the state of the line for bytes that are queued.
func (l *Lane) passed(b []byte) {
	if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
		l.kept = int64(len(b) - i - 1)
		l.size = l.kept
		return
	}
	l.kept += int64(len(b))
	l.size += int64(len(b))
}

// crowded queues as much of a piece of a line as the queue has room for.
func (l *Lane) crowded(at time.Duration, piece []byte, ended bool) {
	l.size += int64(len(piece))
	room := max(keptBegin-l.kept, 0)
	for len(piece) > 0 && !l.cut {
		if l.q.dropping = l.q.dropping || l.q.chunks >= l.q.limit; l.q.dropping || room == 0 {
			l.cut = true
			break
		}
		n := l.q.put(l, at, piece[:min(int64(len(piece)), room)], nil)
		l.kept += int64(n)
		room -= int64(n)
		piece = piece[n:]
	}
	switch {
	case !ended:
		return
	case !l.cut && !l.q.dropping:
		l.q.put(l, at, newline, nil)
	case l.kept > 0 && !l.q.dropping:
		l.q.put(l, at, nil, &mark{kind: cutMark, size: l.size})
	case l.size > 0:
		if l.dropped++; l.dropped == 1 {
			l.q.behind = append(l.q.behind, l)
		}
		l.lost += l.size
		l.torn = l.torn || l.kept > 0
	}
	l.kept, l.size, l.cut = 0, 0, false
}

// gap returns the mark for what the lane has dropped, and forgets it.
func (l *Lane) gap() *mark {
	m := &mark{kind: gapMark, dropped: l.dropped, size: l.lost, torn: l.torn}
	l.dropped, l.lost, l.torn = 0, 0, false
	return m
}
