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

	// patience is how long a lane waits until what it was given is in the file. A free writer takes some
	// microseconds. A disk that takes longer has the peers wait once, until the queue is empty again.
	patience = 500 * time.Millisecond
	// A peer that has sent more than maxRush messages before they are read sends as fast as it can. It waits
	// no more then, and leaves the processors to the peers: messages are written when none has come for
	// pause, or the oldest has waited for about maxPause.
	maxRush  = 16
	pause    = 2 * time.Millisecond
	maxPause = 250 * time.Millisecond
)

// queue carries what the peers send from the lanes to the goroutine that writes the recording. A lane
// waits until that has written, so that a program that is killed has lost nothing that it has passed on,
// unless the writer cannot keep up. When the queue is full, messages are dropped until it is empty again.
type queue struct {
	start time.Time
	limit int // of size; above three quarters of it, only the beginnings of messages are queued

	mu       sync.Mutex    // guards the fields below, and those of lanes
	arrived  sync.Cond     // signalled when something is queued or the queue is closed
	list     []part        // what is queued, the oldest first
	size     int           // of what is queued or being written
	queued   int64         // how many parts were queued
	inFile   int64         // how many of them are written
	wrote    chan struct{} // closed when inFile grows; nil while no lane waits
	slow     bool          // lanes do not wait, until the queue is empty
	rushed   time.Duration // when a peer has last sent as fast as it can; 0 means never
	dropping bool
	behind   []*Lane // the lanes that have dropped messages; their gaps are recorded when the queue is empty
	closed   bool    // nothing more is queued
	taken    []part  // the batch that is being written

	discarding bool // the recording has ended before the traffic
	loss       Loss
}

// Loss is what is missing in a recording.
type Loss struct {
	Messages int64 // that are not in it
	Bytes    int64 // of those
	Cut      int64 // messages of which only the beginning is
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
	q.queued++
	q.arrived.Signal()
}

// wait waits until all that is queued is in the file, unless the writer is slow or the peer is fast. The
// caller holds mu.
func (q *queue) wait(at time.Duration, messages int) {
	if messages > maxRush {
		q.slow, q.rushed = true, at
	}
	if q.inFile == q.queued || q.slow || q.closed {
		return
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	for until := q.queued; q.inFile < until && !q.slow && !q.closed; {
		if q.wrote == nil {
			q.wrote = make(chan struct{})
		}
		wrote := q.wrote
		q.mu.Unlock()
		select {
		case <-wrote:
			q.mu.Lock()
		case <-late.C:
			q.mu.Lock()
			q.slow = q.inFile < until
		}
	}
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
	for now := began; q.rushed > 0 && now-q.rushed < pause && now-began < maxPause && q.size < q.limit/2 && q.wrote == nil && !q.closed; {
		q.mu.Unlock()
		time.Sleep(pause)
		q.mu.Lock()
		now = time.Since(q.start)
	}
	n := 0
	for ; n < len(q.list) && size < batchSize; n++ {
		size += len(q.list[n].text) + partSize
	}
	q.taken, q.list = q.list[:n:n], q.list[n:]
	return q.taken, size
}

// done makes room for more, after a batch from take was written. If nothing more is queued, it queues the
// gaps of the lanes that have dropped messages.
func (q *queue) done(batch []part, size int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.inFile += int64(len(batch))
	clear(batch) // the list still refers to it
	q.taken = nil
	if q.size -= size; q.wrote != nil {
		close(q.wrote)
		q.wrote = nil
	}
	if len(q.list) > 0 {
		return
	}
	for _, l := range q.behind {
		if l.dropped > 0 {
			q.put(part{lane: l, time: time.Since(q.start), rec: l.gap()})
		}
	}
	q.slow, q.dropping, q.behind = false, false, nil
}

// close ends queueing: lanes ignore what they are given from now on.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.arrived.Signal()
}

// discard drops all that is not in the file, and what lanes are given from now on. With failed, the
// batch that was taken last is not in it.
func (q *queue) discard(failed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed, q.discarding = true, true
	if failed {
		q.loss = q.lossLocked()
		q.taken = nil
	}
	for _, p := range q.list {
		q.loss.miss(p)
	}
	q.list, q.size = nil, 0
	if q.wrote != nil { // nobody waits for a disk that does not write
		close(q.wrote)
		q.wrote = nil
	}
	q.arrived.Signal()
}

// progress returns how much is in the file, and what is missing in it. It reports whether the recording
// has ended before the traffic.
func (q *queue) progress() (inFile int64, loss Loss, discarding bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.inFile, q.lossLocked(), q.discarding
}

// lossLocked returns what is missing if the batch that was taken last is.
func (q *queue) lossLocked() Loss {
	loss := q.loss
	for _, p := range q.taken {
		loss.miss(p)
	}
	return loss
}

// lose counts messages that are in the file no more.
func (q *queue) lose(messages int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.loss.Messages += messages
}

// miss counts the messages that end in a part that is not recorded.
func (l *Loss) miss(p part) {
	l.Messages += int64(bytes.Count(p.text, newline))
	l.Bytes += int64(len(p.text))
	switch {
	case p.cut > 0:
		l.Messages++
		l.Bytes += p.cut
		l.Cut--
	case p.rec != nil && p.rec.Kind != Gap: // which counts already
		l.Messages++
	}
}
