// Package view shows recordings of traffic: as a page in a browser, and as text.
//
// A [Recording] is an index of a file: for each record its offset and what lists and filters need.
// The messages themselves stay in the file. For each session it keeps a snapshot of what a user
// interface would show, every so many messages, so the state at any message is at hand.
package view

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
	"github.com/acpkit/go-sdk/internal/passive"
)

// entry is a record in the index. Positions are indices of entries.
type entry struct {
	seq     uint64
	offset  int64
	size    int32         // of the message, in bytes
	at      time.Duration // since the recording began
	pair    int32         // the position of the response or the request that belongs to it; -1 if there is none
	method  int32         // a name; that of a response is the method of its request
	session int32         // the index of its session
	kind    recording.Kind
	dir     recording.Dir
	failed  bool // a response with an error
	masked  bool
}

// session is a session of one connection. Messages without a session belong to one with an empty
// id.
type session struct {
	conn        int
	id          string
	positions   []int32
	faults      int
	played      *player
	checkpoints []checkpoint
}

// checkpointEvery is how many messages of a session are played, at most, to show it at one of them.
const checkpointEvery = 2000

// checkpoint is a session after so many of its messages.
type checkpoint struct {
	messages int
	state    *player
}

// Recording is a recording that is shown. All methods are safe for concurrent use.
type Recording struct {
	Path string
	Head recording.Head

	file *os.File

	mu       sync.RWMutex // guards all below
	entries  []entry
	names    []string // of methods
	nameOf   map[string]int32
	sessions []*session
	byID     map[sessionID]int32
	faults   map[int32][]passive.Fault // by position
	conns    map[int]*conn
	ended    bool  // nothing follows
	damaged  error // why reading has ended, or the first line that cannot be read
	lists    []*list
}

type sessionID struct {
	conn int
	id   string
}

// conn is a connection in the recording.
type conn struct {
	checker *passive.Checker
	ended   map[recording.Dir]bool
	version int
	open    map[string]int32 // requests without a response, by sender and id
}

// Open opens a recording and reads its head. Call Read to read the rest, and Close at the end.
func Open(path string) (*Recording, *recording.Reader, error) {
	reader, err := recording.Open(path)
	if err != nil {
		return nil, nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, errors.Join(err, reader.Close())
	}
	return &Recording{
		Path: path, Head: reader.Head, file: file, nameOf: map[string]int32{}, byID: map[sessionID]int32{},
		faults: map[int32][]passive.Fault{}, conns: map[int]*conn{},
	}, reader, nil
}

// Close closes the file.
func (r *Recording) Close() error { return r.file.Close() }

// Read adds the records of the reader, and those that are being written, until the recording or ctx
// ends. It calls added, unless that is nil, after each. It closes the reader.
func (r *Recording) Read(ctx context.Context, reader *recording.Reader, added func() error) error {
	defer reader.Close()
	for {
		rec, err := reader.Next() // which is faster than Follow
		if errors.Is(err, io.EOF) {
			rec, err = reader.Follow(ctx)
		}
		bad := (*recording.LineError)(nil)
		switch {
		case err == nil:
			if r.add(&rec); added != nil {
				err = added()
			}
			if err != nil {
				return err
			}
		case errors.Is(err, io.EOF):
			r.end(nil)
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &bad):
			r.skip(err)
		default:
			r.end(err)
			return err
		}
	}
}

// skip notes that a record cannot be read.
func (r *Recording) skip(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.damaged = cmp.Or(r.damaged, err)
	for _, c := range r.conns {
		if c.checker != nil {
			c.checker.Gap()
		}
	}
}

// end notes that nothing follows.
func (r *Recording) end(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended, r.damaged = true, cmp.Or(r.damaged, err)
	for _, id := range slices.Sorted(maps.Keys(r.conns)) {
		r.endConn(r.conns[id])
	}
}

func (r *Recording) endConn(c *conn) {
	if c.checker != nil {
		r.addFaults(c.checker.End())
		c.checker = nil
	}
}

// addFaults notes faults at their messages.
func (r *Recording) addFaults(faults []passive.Fault) {
	for _, f := range faults {
		if pos, ok := r.find(uint64(f.Seq)); ok && !(r.entries[pos].masked && f.Rule == "schema") { // which masking may cause
			r.faults[pos] = append(r.faults[pos], f)
			r.sessions[r.entries[pos].session].faults++
		}
	}
}

// find returns the position of the first record whose number is at least seq. ok reports whether it
// has that number.
func (r *Recording) find(seq uint64) (pos int32, ok bool) {
	i, ok := slices.BinarySearchFunc(r.entries, seq, func(e entry, seq uint64) int { return cmp.Compare(e.seq, seq) })
	return int32(i), ok
}

// add adds a record.
func (r *Recording) add(rec *recording.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.entries); n > 0 && rec.Seq <= r.entries[n-1].seq {
		r.damaged = cmp.Or(r.damaged, fmt.Errorf("record %d is out of order", rec.Seq))
		return
	}
	c := r.conns[rec.Conn]
	if c == nil {
		c = &conn{checker: passive.New(), ended: map[recording.Dir]bool{}, open: map[string]int32{}}
		r.conns[rec.Conn] = c
	}
	pos := int32(len(r.entries))
	e := entry{
		seq: rec.Seq, offset: rec.Offset, size: int32(max(rec.Size, int64(len(rec.Raw)+len(rec.Line)))), at: max(0, rec.Time.Sub(r.Head.Started)), pair: -1,
		kind: rec.Kind, dir: rec.Dir, masked: rec.Masked,
	}
	id := rec.Session
	var m message
	if rec.Raw != nil {
		_ = json.Unmarshal(rec.Raw, &m) // what cannot be read is shown as it is
		e.failed = m.Error != nil
	}
	method := rec.Method
	switch rec.Kind {
	case recording.Request:
		c.open[string(rec.Dir)+string(rec.ID)] = pos
	case recording.Response:
		from := string(peer(rec.Dir)) + string(rec.ID)
		if asked, ok := c.open[from]; ok {
			delete(c.open, from)
			e.pair, r.entries[asked].pair = asked, pos
			request := &r.entries[asked]
			method = r.names[request.method]
			if of := r.sessions[request.session]; of.id != "" {
				id = of.id
			}
		}
	}
	e.method = r.name(method)
	e.session = r.session(rec.Conn, id)
	r.entries = append(r.entries, e)
	r.check(c, rec)
	if method == "initialize" && rec.Kind == recording.Response && m.Result != nil {
		c.version = versionOf(m.Result)
	}
	s := r.sessions[e.session]
	s.positions = append(s.positions, pos)
	if s.id != "" {
		s.play(c.version, method, rec, &m, e.pair, pos)
	}
}

// check passes a record to the checker of its connection.
func (r *Recording) check(c *conn, rec *recording.Record) {
	switch {
	case c.checker == nil:
	case rec.Kind == recording.End:
		c.ended[rec.Dir] = true
		if len(c.ended) == 2 {
			r.endConn(c)
		}
	case rec.Kind == recording.Gap, rec.Size > 0:
		c.checker.Gap()
	case rec.Raw != nil:
		r.addFaults(c.checker.Feed(int64(rec.Seq), passive.End(rec.Dir), rec.Raw))
	default:
		r.addFaults(c.checker.Feed(int64(rec.Seq), passive.End(rec.Dir), []byte(rec.Line)))
	}
}

func peer(d recording.Dir) recording.Dir {
	if d == recording.Client {
		return recording.Agent
	}
	return recording.Client
}

// message is the part of a message that the viewer reads.
type message struct {
	Params, Result, Error json.RawMessage
}

func (r *Recording) name(s string) int32 {
	n, ok := r.nameOf[s]
	if !ok {
		n = int32(len(r.names))
		r.names = append(r.names, s)
		r.nameOf[s] = n
	}
	return n
}

func (r *Recording) session(conn int, id string) int32 {
	key := sessionID{conn, id}
	n, ok := r.byID[key]
	if !ok {
		n = int32(len(r.sessions))
		r.sessions = append(r.sessions, &session{conn: conn, id: id})
		r.byID[key] = n
	}
	return n
}

// record reads the record of an entry from the file.
func (r *Recording) record(e *entry) (*recording.Record, error) {
	for room := 1024 + int(e.size); ; room *= 2 { // masking and escapes can make the line longer
		line := make([]byte, room)
		n, err := r.file.ReadAt(line, e.offset)
		end := bytes.IndexByte(line[:n], '\n')
		switch {
		case end >= 0:
			rec := &recording.Record{}
			return rec, json.Unmarshal(line[:end], rec)
		case err != nil:
			return nil, err
		}
	}
}
