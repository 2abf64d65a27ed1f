// Package journal stores what happened in the sessions of an agent, so that session/load can
// replay it and a crash loses nothing that was reported.
//
// A [Store] holds sessions, and a [Log] the records of one: what the person saw, what the
// model reads, where turns begin and end, and the rules that the person has set. The kinds
// of records differ because their histories do: a compaction replaces what the model reads
// and leaves what the person saw. The journal does not look into the data of a record.
//
// [Files] keeps a folder for each session, [Memory] keeps nothing once the program ends.
// Both pass the tests of package journaltest, which authors of other stores can run too.
//
// # What a store promises
//
//   - Records are read in the order in which they were appended, each at most once.
//   - A record survives the end of the program, kill -9 included, once Append has returned,
//     and the loss of power once Sync has returned.
//   - A session has one writer at a time, also among processes.
//   - What is lost is reported: by an error of Open, or by Damage. A store never shows a
//     session whose records are lost as one that is empty.
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
	// Create stores a new session and opens its log. The ID of meta is replaced by id.
	// It fails with ErrExists if there is a session of that id, and for an empty id.
	Create(ctx context.Context, id string, meta Meta) (Log, error)

	// Open opens the log of a session. It fails with ErrNotFound, with a *HeldError while
	// another Log of the session is open, in any process, and with a *DamagedError if
	// nothing of the session can be read.
	Open(ctx context.Context, id string) (Log, error)

	// List returns a page of the sessions that fit, the latest first, and the cursor of the
	// next page, which is empty after the last one. A session that changes while pages are
	// read keeps its place until a first page is read again. An invalid cursor fails with
	// ErrCursor.
	List(ctx context.Context, q Query) (page []Meta, next string, err error)

	// Delete deletes a session. It returns nil if there is none, and a *HeldError while its
	// log is open.
	Delete(ctx context.Context, id string) error
}

// A Log holds the records of one session. Its creator must close it.
type Log interface {
	// Append adds records and returns the number of the last one. It sets their Seq, and the
	// Time where it is zero; a time before that of the record before becomes that. The
	// operating system has the records when Append returns. After an error none of them
	// is in the log, and a later call may succeed.
	Append(recs ...Record) (seq int64, err error)

	// Sync returns once all that was appended before survives the loss of power. Append does
	// not wait for it. It returns at the end of ctx, but the work goes on.
	Sync(ctx context.Context) error

	// Read iterates over the records behind the number after, as many as there are when it
	// begins. An error ends the iteration. The Data of a record belongs to the caller.
	Read(ctx context.Context, after int64) iter.Seq2[Record, error]

	// Meta returns what is known of the session.
	Meta() Meta

	// SetMeta changes what is known of the session, and returns once it is stored. What
	// change makes of ID, Created and Updated is ignored; it must not use the log. After an
	// error nothing is changed.
	SetMeta(change func(*Meta)) error

	// Damage returns what was lost, as far as Open and Read have seen it.
	Damage() []Damage

	// Close ends the use of the log. It does not wait for records to survive the loss of
	// power. Later calls of other methods fail with ErrClosed.
	Close() error
}

// A Record is one thing that happened in a session.
type Record struct {
	Seq  int64           `json:"seq"` // 1 for the first record of a session; each one has the next number
	Time time.Time       `json:"time"`
	Kind Kind            `json:"kind"`
	Data json.RawMessage `json:"data"` // one JSON value
}

// A Kind says whose history a record belongs to. A store keeps other kinds as they are.
type Kind string

// The kinds of records that agent/kit writes.
const (
	KindTurn    Kind = "turn"    // a turn began or ended
	KindEvent   Kind = "event"   // what the person saw
	KindModel   Kind = "model"   // what the model reads
	KindSetting Kind = "setting" // the mode, or another setting of the session
	KindRule    Kind = "rule"    // what the person allowed for the rest of the session
)

// Meta is what can be said of a session without reading its records.
type Meta struct {
	ID                    string          `json:"id"`
	Created               time.Time       `json:"created"` // set by Create where it is zero
	Updated               time.Time       `json:"updated"` // the last Create, Append or SetMeta, set by the store
	Cwd                   string          `json:"cwd"`
	AdditionalDirectories []string        `json:"additionalDirectories,omitempty"`
	Title                 string          `json:"title,omitempty"`
	Owner                 string          `json:"owner,omitempty"` // empty if sessions have no owners
	Data                  json.RawMessage `json:"data,omitempty"`  // what the program adds, such as its version
}

// A Query says which sessions to list.
type Query struct {
	Owner  string // exactly this one
	Cwd    string // any, if it is empty
	Cursor string // of the page before; empty for the first one
	Limit  int    // sessions in a page; 0 stands for 100
}

const defaultLimit = 100

// Damage is one loss in a log.
type Damage struct {
	File   string // where it was found; empty in a store without files
	Offset int64  // in bytes from the start of the file
	Reason string // what is lost
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
	ErrClosed   = errors.New("journal: the log is closed")
	ErrCursor   = errors.New("journal: not a cursor of this list")

	// ErrNewer is returned by Append and SetMeta for a session that a newer version of this
	// package has written: it can be read only.
	ErrNewer = errors.New("journal: a newer version of the program wrote this session: it can be read only")
)

// A HeldError says that the log of a session is open elsewhere.
type HeldError struct{ ID string }

func (e *HeldError) Error() string {
	return fmt.Sprintf("journal: session %q is open elsewhere, maybe in another process", e.ID)
}

// A DamagedError says that nothing of a session can be read.
type DamagedError struct {
	ID     string
	Damage Damage
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("journal: session %q cannot be read: %s", e.ID, e.Damage)
}
