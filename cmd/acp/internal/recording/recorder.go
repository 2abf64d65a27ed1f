package recording

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/mask"
)

// pruneEvery is how many bytes are written before the limits of the folder are applied again.
const pruneEvery = 64 << 20

// errFull ends a recording that has become as large as the folder may be.
var errFull = fmt.Errorf("it has reached %d GiB, the limit", maxBytes>>30)

// Recorder writes a recording. Its methods are safe for concurrent use. A failure of the disk ends
// the recording and nothing else. A nil Recorder records nothing.
type Recorder struct {
	// Path is the name of the file.
	Path string

	queue  *queue
	conns  atomic.Int64
	ended  chan struct{} // closed when everything is written, or writing has failed
	failed func(error)

	// Only the goroutine of write uses the fields below.
	file    io.WriteCloser
	out     *bufio.Writer
	started time.Time
	raw     bool
	seq     uint64
	conn    int  // of the last record
	told    Loss // in the gaps that are recorded
	written int64
	ends    []end // of what is in the file, after the last batches
	checked int64 // the value of written when the limits of the folder were last applied
	buf     bytes.Buffer
	encoder *json.Encoder // into buf
	masker  mask.Masker
}

// Create begins a recording in a folder, which it creates if necessary. Of the head it takes Version
// and Command. With raw, credentials are not masked. A goroutine of the Recorder calls failed once if
// the recording ends early.
func Create(dir string, head Head, raw bool, failed func(error)) (*Recorder, error) {
	now := time.Now()
	file, err := create(dir, now)
	if err != nil {
		return nil, err
	}
	r := newRecorder(file, now, raw, failed)
	r.Path = file.Name()
	if err := r.begin(head); err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	go r.write() // ends with Close
	return r, nil
}

func newRecorder(file io.WriteCloser, now time.Time, raw bool, failed func(error)) *Recorder {
	r := &Recorder{
		queue: newQueue(now, maxQueue), ended: make(chan struct{}), failed: failed,
		file: file, out: bufio.NewWriterSize(file, 64<<10), started: now, raw: raw,
	}
	r.encoder = json.NewEncoder(&r.buf)
	r.encoder.SetEscapeHTML(false)
	return r
}

// begin writes the head.
func (r *Recorder) begin(head Head) error {
	head.ACP, head.Format, head.Started = "recording", Format, r.started
	if !r.raw {
		head.Command, _ = texts(&r.masker, head.Command)
	}
	_ = r.encoder.Encode(head) // texts and a time
	r.written, _ = r.buf.WriteTo(r.out)
	r.ends = []end{{r.written, 0}}
	return r.out.Flush()
}

// Connect returns the lanes of a new connection.
func (r *Recorder) Connect() (client, agent *Lane) {
	if r == nil {
		return nil, nil
	}
	n := int(r.conns.Add(1))
	return &Lane{q: r.queue, conn: n, dir: Client}, &Lane{q: r.queue, conn: n, dir: Agent}
}

// Close ends the recording and waits until everything is written, unless the disk writes nothing for as
// long as patience. It returns what is missing in the recording, which the recording says too if the disk
// can be written.
func (r *Recorder) Close(patience time.Duration) Loss {
	if r == nil {
		return Loss{}
	}
	r.queue.close()
	for before := int64(-1); ; {
		inFile, _, _ := r.queue.progress()
		stuck := inFile == before
		if before = inFile; stuck {
			r.queue.discard(false)
			patience = min(patience, time.Second) // for the record about it
		}
		select {
		case <-r.ended:
			stuck = true
		case <-time.After(patience):
		}
		if stuck {
			_, loss, _ := r.queue.progress()
			return loss
		}
	}
}

// write writes what is queued until the queue is closed.
func (r *Recorder) write() {
	defer close(r.ended)
	defer r.file.Close()
	var err error
	for err == nil {
		batch, size := r.queue.take()
		if len(batch) == 0 {
			break
		}
		for _, p := range batch {
			r.part(p)
		}
		if err = r.check(); err == nil {
			err = r.out.Flush()
		}
		if err == nil {
			r.ends = append(r.ends[max(0, len(r.ends)-7):], end{r.written, r.seq})
			r.queue.done(batch, size)
		}
	}
	if err != nil {
		r.queue.discard(true)
		r.cut(err.Error(), 0, 0) // more will be missing
		r.failed(err)
	} else if _, loss, discarding := r.queue.progress(); discarding {
		r.cut("the disk was too slow", loss.Messages-r.told.Messages, loss.Bytes-r.told.Bytes)
	}
}

// end is where a batch ends in the file, and the number of its last record.
type end struct {
	offset int64
	seq    uint64
}

// cut records that the recording ends here. On a full disk it takes the place of the records that were
// written last, as many as it needs.
func (r *Recorder) cut(why string, messages, bytes int64) {
	file, ok := r.file.(interface {
		io.Seeker
		Truncate(size int64) error
	})
	last := r.ends[len(r.ends)-1].seq
	for _, e := range slices.Backward(r.ends) {
		if ok && (file.Truncate(e.offset) != nil || !seeks(file, e.offset)) {
			return // the program says it too
		}
		r.seq = e.seq
		r.out.Reset(r.file)
		r.record(part{lane: &Lane{conn: r.conn}, time: time.Since(r.started)}, &Record{Kind: Cut, Line: why, Dropped: messages, Bytes: bytes})
		if r.out.Flush() == nil || !ok {
			r.queue.lose(int64(last - e.seq))
			return
		}
	}
}

func seeks(file io.Seeker, offset int64) bool {
	_, err := file.Seek(offset, io.SeekStart)
	return err == nil
}

// check returns the error of writing if there was one, and applies the limits of the folder.
func (r *Recorder) check() error {
	if r.written-r.checked >= pruneEvery {
		r.checked = r.written
		if r.written >= maxBytes {
			return errFull
		}
		if err := prune(filepath.Dir(r.Path), maxFiles, maxBytes); err != nil {
			return err
		}
	}
	_, err := r.out.Write(nil)
	return err
}

// part records a part of the queue.
func (r *Recorder) part(p part) {
	l := p.lane
	for piece := range bytes.Lines(p.text) {
		piece, ended := bytes.CutSuffix(piece, newline)
		if l.line = append(l.line, piece...); ended {
			r.line(p)
		}
	}
	if p.cut > 0 {
		r.line(p)
	}
	if p.rec != nil {
		if p.rec.Kind == Gap {
			r.told.Messages += p.rec.Dropped
			r.told.Bytes += p.rec.Bytes
		}
		l.line = nil // the rest of this line was dropped: it counts in the gap
		r.record(p, p.rec)
	}
}

// line records the line that the lane has collected.
func (r *Recorder) line(p part) {
	l := p.lane
	text := bytes.TrimFunc(l.line, func(c rune) bool { return unicode.IsSpace(c) || c == '\ufeff' })
	switch {
	case l.stderr && p.cut > 0:
		r.record(p, &Record{Kind: Stderr, Size: p.cut})
	case l.stderr && len(text) > 0:
		r.plain(p, &Record{Kind: Stderr, Line: string(bytes.TrimRight(l.line, " \r\t"))})
	case p.cut > 0:
		r.record(p, beginning(text, p.cut))
	case len(text) > 0:
		r.whole(p, text)
	}
	if l.line = l.line[:0]; cap(l.line) > 1<<20 {
		l.line = nil // a long line is seldom followed by another one
	}
}

// whole records a line that was not cut. It need not be a message.
func (r *Recorder) whole(p part, text []byte) {
	m := stream.ParseMessage(text)
	rec := &Record{Kind: kinds[m.Kind], Session: m.SessionID, ID: m.ID, Method: m.Method, Raw: text}
	looksLikeJSON := text[0] == '{' || text[0] == '['
	if !r.raw && looksLikeJSON {
		rec.Raw, rec.Masked = r.masker.JSON(text)
	}
	switch {
	case rec.Kind != Invalid:
		r.record(p, rec)
	case looksLikeJSON:
		rec.Line, rec.Raw = string(rec.Raw), nil
		r.record(p, rec)
	default:
		rec.Line, rec.Raw = string(text), nil
		r.plain(p, rec)
	}
}

// plain records a line that is no JSON. The lines of a private key look like nothing, so all that follow
// its first one are masked.
func (r *Recorder) plain(p part, rec *Record) {
	l := p.lane
	begins, ends := strings.LastIndex(rec.Line, "-----BEGIN "), strings.LastIndex(rec.Line, "-----END ")
	goesOn := begins > ends && strings.Contains(rec.Line[begins:], "PRIVATE KEY") || l.key && ends < 0
	switch {
	case r.raw:
	case l.key:
		rec.Line, rec.Masked = mask.Masked, true
	default:
		rec.Line, rec.Masked = texts(&r.masker, rec.Line)
	}
	l.key = goesOn
	r.record(p, rec)
}

var kinds = map[stream.Kind]Kind{
	stream.KindInvalid: Invalid, stream.KindRequest: Request, stream.KindNotification: Notification,
	stream.KindResponse: Response, stream.KindErrorResponse: Response,
}

var sessionMember = regexp.MustCompile(`"sessionId"\s*:\s*("(?:[^"\\]|\\.)*")`)

// beginning returns the record of a message of which only the beginning was queued. Size is the length
// of the message.
func beginning(text []byte, size int64) *Record {
	text = text[:min(len(text), keptBegin)]
	rec := &Record{Kind: Invalid, Size: size}
	_, err := stream.Lines(bytes.NewReader(text), nil, &stream.LinesOptions{MaxMessage: 1}).Read()
	if long, ok := errors.AsType[*stream.TooLargeError](err); ok {
		rec.Method, rec.ID = long.Method, long.ID
		switch {
		case long.HasResult:
			rec.Kind = Response
		case long.Method != "" && long.ID != nil:
			rec.Kind = Request
		case long.Method != "":
			rec.Kind = Notification
		}
	}
	if m := sessionMember.FindSubmatch(text); m != nil && rec.Kind != Invalid {
		_ = json.Unmarshal(m[1], &rec.Session) // a session is left out if it is no text
	}
	return rec
}

// record writes a record.
func (r *Recorder) record(p part, rec *Record) {
	r.seq++
	r.conn = p.lane.conn
	rec.Seq, rec.Time, rec.Dir, rec.Conn = r.seq, r.started.Add(p.time).UTC(), p.lane.dir, p.lane.conn
	raw := rec.Raw
	rec.Raw = nil // it is added below as it is, because the encoder would change its white space
	r.buf.Reset()
	_ = r.encoder.Encode(rec) // texts, numbers, and an id that was parsed
	b := r.buf.Bytes()
	if raw != nil {
		b = append(append(append(b[:len(b)-len("}\n")], `,"raw":`...), raw...), "}\n"...)
	}
	_, _ = r.out.Write(b) // check returns the error
	if r.written += int64(len(b)); r.buf.Cap() > 1<<20 {
		r.buf = bytes.Buffer{}
	}
}

// texts masks a line that is no JSON, or the arguments of a command, and reports whether the result
// differs.
func texts[T string | []string](m *mask.Masker, plain T) (out T, differs bool) {
	text, _ := json.Marshal(plain) // texts can always be encoded, and Masked JSON is JSON
	text, differs = m.JSON(text)
	_ = json.Unmarshal(text, &out)
	return out, differs
}
