// Package journal stores the history of an agent's sessions. Experimental: it may change in any
// release. It lets session/load replay a session, and after a crash no stored record is lost.
//
// A [Store] holds sessions, and a [Log] holds the records of one session: what the person saw, what
// the model reads, the begin and end of turns, and the rules that the person has set. What the
// person saw and what the model reads are separate kinds of records, because a compaction replaces
// only the latter. The journal does not interpret the data of a record.
//
// [Files] stores each session in a folder. [Memory] stores sessions in memory only. Both pass the
// tests of package journaltest, which authors of other stores can run too.
//
// # What a store promises
//
//   - Records are read in the order in which they were appended, each at most once.
//   - When Append has returned, its records survive the end of the process, also by kill -9. When
//     Sync has returned, they survive a loss of power.
//   - A session has one writer at a time, across all processes.
//   - Every loss is reported, by an error of Open or by Damage. A session whose records are lost
//     never looks like an empty session.
//
// Stores and logs are safe for concurrent use.
package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"
)

// A Store holds the sessions of an agent.
type Store interface {
	// Create stores a new session and opens its log. It replaces the ID of meta by id. It fails
	// with ErrExists if a session with this id exists. An empty id is an error.
	Create(ctx context.Context, id string, meta Meta) (Log, error)

	// Open opens the log of a session. It fails with ErrNotFound if there is no such session, with
	// a *HeldError while another Log of the session is open in any process, and with a
	// *DamagedError if nothing of the session can be read.
	Open(ctx context.Context, id string) (Log, error)

	// Meta returns the metadata of a session without opening its log. It fails with ErrNotFound if
	// there is no such session.
	Meta(ctx context.Context, id string) (Meta, error)

	// List returns a page of the sessions that match q, the latest first. It also returns the
	// cursor of the next page, which is empty after the last page. A session that changes while
	// pages are read keeps its place until a first page is read again. A cursor is valid in every
	// Store of the same sessions; an invalid one fails with ErrCursor.
	List(ctx context.Context, q Query) (page []Meta, next string, err error)

	// Delete deletes a session. It returns nil if the session does not exist, and a *HeldError
	// while its log is open.
	Delete(ctx context.Context, id string) error
}

// A Log holds the records of one session. The caller of Create or Open must close it.
type Log interface {
	// Append adds records and returns the number of the last one. It sets their Seq, and also their
	// Time if that is zero or earlier than the time of the previous record. When Append returns,
	// the operating system has the records. After an error the log contains none of them, and a
	// later call may succeed.
	Append(recs ...Record) (seq int64, err error)

	// Sync returns when all records that were appended before the call survive a loss of power.
	// Append does not wait for a Sync. If ctx is done first, Sync returns, and the flush to the
	// disk continues.
	Sync(ctx context.Context) error

	// Read iterates over the records whose numbers are greater than after, up to the last record
	// that exists when the iteration begins. An error ends the iteration. The caller owns the Data
	// of the records.
	Read(ctx context.Context, after int64) iter.Seq2[Record, error]

	// Meta returns the metadata of the session.
	Meta() Meta

	// SetMeta calls change to modify the metadata, and returns when the result is stored. Changes
	// of ID, Created and Updated are ignored. The function change must not use the log. After an
	// error the metadata are unchanged.
	SetMeta(change func(*Meta)) error

	// Damage returns the losses that Open has found.
	Damage() []Damage

	// Close closes the log. It does not wait until records survive a loss of power. Later calls of
	// other methods fail with ErrClosed.
	Close() error
}

// A Record is one thing that happened in a session.
type Record struct {
	Seq  int64           `json:"seq"` // 1 for the first record of a session; each one has the next number
	Time time.Time       `json:"time"`
	Kind Kind            `json:"kind"`
	Data json.RawMessage `json:"data"` // one JSON value
}

// A Kind tells which history a record belongs to. A store accepts and keeps unknown kinds.
type Kind string

// The kinds of records that agent/kit writes.
const (
	KindTurn    Kind = "turn"    // a turn began or ended
	KindEvent   Kind = "event"   // what the person saw
	KindModel   Kind = "model"   // what the model reads
	KindSetting Kind = "setting" // the mode, or another setting of the session
	KindRule    Kind = "rule"    // what the person allowed for the rest of the session
	KindSystem  Kind = "system"  // the system prompt of the client from here on, or null
)

// Meta is the metadata of a session, which is available without reading its records.
type Meta struct {
	ID                    string          `json:"id"`
	Created               time.Time       `json:"created"` // set by Create where it is zero
	Updated               time.Time       `json:"updated"` // the last Create, Append or SetMeta, set by the store
	Cwd                   string          `json:"cwd"`
	AdditionalDirectories []string        `json:"additionalDirectories,omitempty"`
	Title                 string          `json:"title,omitempty"`
	Owner                 string          `json:"owner,omitempty"` // empty if sessions have no owners
	Data                  json.RawMessage `json:"data,omitempty"`  // data of the program, such as its version
	Damage                string          `json:"-"`               // why the rest is only what was known at the session's creation; set by the store
}

// A Query selects sessions for List.
type Query struct {
	Owner  string // only sessions of this owner
	Cwd    string // only sessions of this folder; empty means any folder
	Cursor string // cursor of the page; empty for the first page
	Limit  int    // maximum number of sessions in the page; 0 means 100
}

const defaultLimit = 100

// Damage is one loss in a log.
type Damage struct {
	File   string // the damaged file; empty in a store without files
	Offset int64  // offset of the loss in the file, in bytes
	Reason string // description of the loss
}

func (d Damage) String() string {
	if d.File == "" {
		return d.Reason
	}
	return fmt.Sprintf("%s, at byte %d: %s", d.File, d.Offset, d.Reason)
}

// Errors of stores and logs, for errors.Is.
var (
	ErrNotFound = errors.New("journal: no such session")
	ErrExists   = errors.New("journal: a session of this id exists")
	ErrClosed   = errors.New("journal: the log is closed") // by Close, or by the store because another process has taken the session
	ErrCursor   = errors.New("journal: not a cursor of this list")

	// ErrNewer is returned by Append and SetMeta for a session that a newer version of this package
	// has written. Such a session can only be read.
	ErrNewer = errors.New("journal: a newer version of the program wrote this session: it can be read only")
)

// A HeldError reports that another Log of the session is open.
type HeldError struct {
	ID     string
	Holder string // the process that has it open, by a name that the store gives; empty if the store does not know
}

func (e *HeldError) Error() string {
	if e.Holder != "" {
		return fmt.Sprintf("journal: session %q is open at %s", e.ID, e.Holder)
	}
	return fmt.Sprintf("journal: session %q is open elsewhere, maybe in another process", e.ID)
}

// A DamagedError reports that a session exists, but nothing of it can be read. As an error of Append
// it reports that another program has removed or changed the log while it was open: nothing more can
// be appended until the session is opened again.
type DamagedError struct {
	ID     string
	Damage Damage
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("journal: session %q cannot be used: %s", e.ID, e.Damage)
}
