// Package view shows recordings of traffic: as a page in a browser, and as text.
//
// A [Recording] is an index of a file: for each record its offset and what lists and filters need.
// The messages themselves stay in the file. For each session it keeps a snapshot of what a user
// interface would show, every so many messages, so the state at any message is at hand.
package view

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"unique"

	"github.com/acpkit/go-sdk/acptest/passive"
	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// row is a message in a list.
type row struct {
	Seq     uint64          `json:"seq"`
	At      int64           `json:"at"` // microseconds since the recording began
	Dir     recording.Dir   `json:"dir"`
	Kind    recording.Kind  `json:"kind"`
	Method  string          `json:"method"` // that of a response is the method of its request
	What    string          `json:"what"`   // the kind of an update; the method of another message; the kind of a record that is not one
	Session int             `json:"session"`
	Size    int64           `json:"size"`
	Failed  bool            `json:"failed,omitempty"` // a response with an error, or a crash
	Masked  bool            `json:"masked,omitempty"`
	Pair    uint64          `json:"pair,omitempty"`    // the number of the response or the request
	Latency *int64          `json:"latency,omitempty"` // of a response, in microseconds
	Faults  []passive.Fault `json:"faults,omitempty"`

	// What follows is not in the index.
	ID     string `json:"id"`
	Text   string `json:"text"`             // what the message says, in short
	Chunks int    `json:"chunks,omitempty"` // how many chunks of a text the row stands for
	Open   bool   `json:"open,omitempty"`   // its chunks are listed
}

// entry is a record in the index. Positions are indices of entries.
type entry struct {
	row
	offset int64
	length int

	first  int32 // of a chunk that goes on: the position of the first chunk of its text; else its own
	chunks int32 // of a first chunk: how many there are
	part   string
}

// session is a session of one connection. Messages that name no session are in the one with an empty
// id.
type session struct {
	number      int // in the list of sessions
	conn        *conn
	id          string
	positions   []int32
	faults      int
	played      *player
	checkpoints []*player // number i is the state after i times checkpointEvery messages
}

// checkpointEvery is how many messages of a session are played, at most, to show it at one of them.
const checkpointEvery = 2000

// Recording is a recording that is shown. All methods are safe for concurrent use.
type Recording struct {
	Path string
	Head recording.Head

	reader *recording.Reader
	file   io.ReaderAt
	hits   hits

	mu       sync.RWMutex // guards all below
	entries  []entry
	all      session // stands for all sessions in lists
	sessions []*session
	kinds    map[string]int // how many messages there are of each row.What
	conns    map[int]*conn
	crash    uint64 // the number of the record that says that the agent or the recording has broken off, or 0
	crashed  string // what it says
	errors   int    // responses with an error
	length   int64  // the time of the last message, in microseconds
	ended    bool   // nothing follows
	damaged  string // why reading has ended, or the first line that cannot be read
}

type call struct {
	fromClient bool
	id         string
}

// conn is a connection in the recording.
type conn struct {
	number   int
	checker  *passive.Checker // nil after its end
	ended    int              // peers that send nothing more
	version  int
	signal   string         // that was sent to the agent last
	agent    string         // its name and version
	open     map[call]int32 // requests without a response
	sessions map[string]*session
}

// Open opens a recording and reads its head. Call Read to read the rest, and Close at the end.
func Open(path string) (*Recording, error) {
	reader, err := recording.Open(path)
	if err != nil {
		return nil, err
	}
	return &Recording{Path: path, Head: reader.Head, reader: reader, file: reader, kinds: map[string]int{}, conns: map[int]*conn{}}, nil
}

// Close closes the file.
func (r *Recording) Close() error { return r.reader.Close() }

// Read adds all records, and those that are being written, until the recording or ctx ends. It calls
// added, unless that is nil, after each.
func (r *Recording) Read(ctx context.Context, added func() error) error {
	for {
		rec, err := r.reader.Follow(ctx)
		switch {
		case err == nil:
			if r.add(&rec); added != nil {
				err = added()
			}
		case ctx.Err() != nil:
		case errors.Is(err, recording.ErrDamaged):
			r.damage(err, false)
			err = nil
		case errors.Is(err, io.EOF):
			r.damage(nil, true)
			return nil
		default:
			r.damage(err, true)
		}
		if err != nil {
			return err
		}
	}
}

// damage notes that a record cannot be read, or that nothing follows.
func (r *Recording) damage(err error, ended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended = ended; err != nil {
		r.damaged = cmp.Or(r.damaged, err.Error())
	}
	for _, c := range r.conns {
		switch {
		case ended:
			r.end(c)
		case c.checker != nil:
			c.checker.Gap()
		}
	}
}

// end notes that a connection has ended.
func (r *Recording) end(c *conn) {
	if c.checker != nil {
		r.addFaults(c.checker.End())
		c.checker = nil
	}
}

// addFaults notes faults at their messages.
func (r *Recording) addFaults(faults []passive.Fault) {
	for _, f := range faults {
		pos, ok := r.find(uint64(f.Seq))
		if !ok || r.entries[pos].Masked && f.Rule == "schema" { // which masking may cause
			continue
		}
		e := &r.entries[pos]
		e.Faults = append(e.Faults, f)
		r.sessions[e.Session].faults++
		r.all.faults++
	}
}

// find returns the position of the first record whose number is at least seq. ok reports whether it
// has that number.
func (r *Recording) find(seq uint64) (pos int32, ok bool) {
	i, ok := slices.BinarySearchFunc(r.entries, seq, func(e entry, seq uint64) int { return cmp.Compare(e.Seq, seq) })
	return int32(i), ok
}

// add adds a record.
func (r *Recording) add(rec *recording.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pos := int32(len(r.entries))
	if pos > 0 && rec.Seq <= r.entries[pos-1].Seq {
		r.damaged = cmp.Or(r.damaged, fmt.Sprintf("record %d is out of order", rec.Seq))
		return
	}
	c := r.conns[rec.Conn]
	if c == nil {
		c = &conn{number: rec.Conn, checker: passive.New(), open: map[call]int32{}, sessions: map[string]*session{}}
		r.conns[rec.Conn] = c
	}
	m := parse(rec)
	e := entry{offset: rec.Offset, length: rec.Length, row: row{
		Seq: rec.Seq, At: max(0, rec.Time.Sub(r.Head.Started).Microseconds()), Dir: rec.Dir, Kind: rec.Kind, Method: unique.Make(rec.Method).Value(),
		Size: max(rec.Size, int64(len(rec.Raw)+len(rec.Line))), Failed: m.Error != nil, Masked: rec.Masked,
	}}
	id := rec.Session
	switch key := (call{(rec.Dir == recording.Client) == (rec.Kind == recording.Request), string(rec.ID)}); rec.Kind {
	case recording.Request:
		c.open[key] = pos
	case recording.Response:
		if asked, ok := c.open[key]; ok {
			delete(c.open, key)
			request := &r.entries[asked]
			request.Pair, e.Pair, e.Method, e.Latency = e.Seq, request.Seq, request.Method, new(e.At-request.At)
			id = cmp.Or(r.sessions[request.Session].id, id)
		}
	}
	s := r.session(c, id)
	e.Session = s.number
	r.name(&e, &m)
	r.ends(&e, c, rec)
	e.first = pos
	if n := len(s.positions); e.part != "" && n > 0 {
		if last := &r.entries[s.positions[n-1]]; last.part == e.part && last.Dir == e.Dir {
			e.first = last.first
		}
	}
	r.entries, r.length = append(r.entries, e), max(r.length, e.At)
	r.entries[e.first].chunks++
	r.kinds[e.What]++
	r.all.positions, s.positions = append(r.all.positions, pos), append(s.positions, pos)
	r.check(c, rec)
	if e.Method == "initialize" && rec.Kind == recording.Response && m.Result != nil {
		c.initialized(m.Result)
	}
	s.played.apply(c.version, &e.row, &m)
	if len(s.positions)%checkpointEvery == 0 {
		s.checkpoints = append(s.checkpoints, s.played.save())
	}
}

// name sets what a row is called, and whether it says that something has failed.
func (r *Recording) name(e *entry, m *message) {
	e.What = e.Method
	switch e.Kind {
	case recording.Request, recording.Response:
		if e.Failed {
			r.errors++
		}
	case recording.Notification:
		var n struct {
			Update struct{ SessionUpdate, MessageID string }
		}
		if e.Method == "session/update" && json.Unmarshal(m.Params, &n) == nil && n.Update.SessionUpdate != "" {
			e.What = unique.Make(n.Update.SessionUpdate).Value()
			if strings.HasSuffix(e.What, "_chunk") {
				e.part = unique.Make(e.What + " " + n.Update.MessageID).Value()
			}
		}
	default:
		e.What = string(e.Kind)
	}
	e.What = strings.ToValidUTF8(e.What[:min(len(e.What), longestKind)], "")
	if _, known := r.kinds[e.What]; !known && len(r.kinds) >= kindsAtMost {
		e.What = "other"
	}
}

// A peer chooses the kinds of its messages: so many are told apart, by so many bytes.
const (
	kindsAtMost = 100
	longestKind = 64
)

// ends notes a signal to the agent, and its end. An end that nobody has asked for is a crash.
func (r *Recording) ends(e *entry, c *conn, rec *recording.Record) {
	switch rec.Kind {
	case recording.Signal:
		c.signal = rec.Line
	case recording.Exit:
		if asked := c.signal != "" && strings.Contains(rec.Line, c.signal); rec.Line != "exit status 0" && !asked {
			e.Failed = true
			r.crash, r.crashed = rec.Seq, "the agent ended: "+safetext.Label(rec.Line)
		}
	case recording.Cut:
		if e.Failed = true; r.crash == 0 {
			r.crash, r.crashed = rec.Seq, "the recording was cut: "+safetext.Label(rec.Line)
		}
	}
}

// check passes a record to the checker of its connection.
func (r *Recording) check(c *conn, rec *recording.Record) {
	switch {
	case c.checker == nil:
	case rec.Kind == recording.End:
		if c.ended++; c.ended == 2 {
			r.end(c)
		}
	case rec.Kind == recording.Stderr, rec.Kind == recording.Signal, rec.Kind == recording.Exit:
	case rec.Kind == recording.Gap, rec.Kind == recording.Cut, rec.Size > 0:
		c.checker.Gap()
	default: // Raw or Line
		r.addFaults(c.checker.Feed(int64(rec.Seq), passive.End(rec.Dir), append(slices.Clip(rec.Raw), rec.Line...)))
	}
}

// initialized notes the version and the agent that a result of initialize names. Some agents answer
// with version 2 and go on in version 1: the members of their result are those of version 1.
func (c *conn) initialized(result json.RawMessage) {
	var res struct {
		ProtocolVersion int
		AgentInfo, Info *struct{ Name, Version string }
	}
	_ = json.Unmarshal(result, &res) // what cannot be read is version 1
	info := cmp.Or(res.AgentInfo, res.Info)
	if c.version = 1; res.ProtocolVersion == 2 && res.Info != nil {
		c.version, info = 2, res.Info
	}
	if info != nil {
		c.agent = strings.TrimSpace(info.Name + " " + info.Version)
	}
}

// message is the part of a message that the viewer reads.
type message struct {
	Params, Result, Error json.RawMessage
}

func parse(rec *recording.Record) (m message) {
	if rec.Raw != nil {
		_ = json.Unmarshal(rec.Raw, &m) // what cannot be read is shown as it is
	}
	return m
}

func (r *Recording) session(c *conn, id string) *session {
	s := c.sessions[id]
	if s == nil {
		s = &session{number: len(r.sessions), conn: c, id: id, played: newPlayer()}
		s.checkpoints = []*player{s.played.save()}
		r.sessions, c.sessions[id] = append(r.sessions, s), s
	}
	return s
}

// record reads the record of an entry from the file.
func (r *Recording) record(e *entry) (*recording.Record, error) {
	rec := &recording.Record{}
	return rec, r.decode(e, rec)
}

// decode decodes the line of an entry.
func (r *Recording) decode(e *entry, v any) error {
	line := make([]byte, e.length)
	if _, err := r.file.ReadAt(line, e.offset); err != nil {
		return err
	}
	return json.Unmarshal(line, v)
}
