package recording

import (
	"bytes"
	"slices"
	"time"
)

// Lane records what one peer of a connection sends. Each method is called by one goroutine at a
// time. They wait for the disk as long as [patience], once, and then no more until it has caught up. The methods of a nil Lane do nothing.
type Lane struct {
	q      *queue
	conn   int
	dir    Dir
	stderr bool // it has lines of standard error

	size, kept    int64 // of the current line: its length so far, and how much of it was queued
	dropped, lost int64 // messages that were dropped since the last gap, and their length

	// Only the goroutine that writes the recording uses the fields below.
	line []byte // the beginning of a line
	key  bool   // a private key goes on in the next line
}

// Stderr returns the lane for the standard error of the peer.
func (l *Lane) Stderr() *Lane {
	if l == nil {
		return nil
	}
	return &Lane{q: l.q, conn: l.conn, dir: l.dir, stderr: true}
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
	messages := bytes.Count(b, newline)
	if q.discarding {
		q.loss.miss(part{text: b})
	}
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
	q.wait(at, messages)
}

var newline = []byte{'\n'}

// Message records a whole message.
func (l *Lane) Message(msg []byte) {
	if bytes.IndexByte(msg, '\n') >= 0 { // JSON has it only between values, where a space means the same
		msg = bytes.ReplaceAll(msg, newline, []byte{' '})
	}
	l.Write(append(slices.Clip(msg), newline...))
}

// Note records something about the peer that is no message: a [Signal], or its [Exit].
func (l *Lane) Note(kind Kind, text string) {
	if l == nil {
		return
	}
	beside := &Lane{q: l.q, conn: l.conn, dir: l.dir} // the line of l may not have ended
	beside.end(kind, text)
}

// End records that the peer sends nothing more, and how it ended if that is known.
func (l *Lane) End(how string) {
	if l == nil {
		return
	}
	l.end(End, how)
}

// end records that the lane ends with a record.
func (l *Lane) end(kind Kind, text string) {
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
	if !l.stderr {
		l.q.put(part{lane: l, time: at, rec: &Record{Kind: kind, Line: text}})
	}
	l.q.wait(at, 1)
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
		q.loss.Cut++
	case l.size > 0:
		if l.dropped++; l.dropped == 1 {
			q.behind = append(q.behind, l)
		}
		l.lost += l.size
		q.loss.Messages++
		q.loss.Bytes += l.size
	}
	l.kept, l.size = 0, 0
}

// gap returns the record of what the lane has dropped, and forgets it.
func (l *Lane) gap() *Record {
	rec := &Record{Kind: Gap, Dropped: l.dropped, Bytes: l.lost}
	l.dropped, l.lost = 0, 0
	return rec
}
