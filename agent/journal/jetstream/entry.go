package jetstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/acpkit/go-sdk/agent/journal"
)

// entryHeader is the header of a message that has its entry. A message without it is a part of the
// entry that follows.
const entryHeader = "Acp-Entry"

// state is what a session, or a process, is since an entry.
type state string

const (
	isOpen    state = "open"
	isClosed  state = "closed"
	isDeleted state = "deleted"
)

// An entry says what is true since a message. The body of the message has the records that it adds.
type entry struct {
	Nonce string `json:"nonce"` // of this message alone, so that its writer recognizes it
	State state  `json:"state"`
	Node  string `json:"node"`  // Options.Node of the process that wrote it
	Epoch string `json:"epoch"` // of the Store that wrote it

	Messages int64        `json:"messages,omitempty"` // of the session, with this one and the parts of all
	Records  int64        `json:"records,omitempty"`  // the number of the last record
	Time     time.Time    `json:"time,omitzero"`      // of the last record
	Meta     journal.Meta `json:"meta,omitzero"`
}

// at is an entry with its place in the stream. The entry is not modified; it is nil if there is none.
type at struct {
	*entry
	seq uint64
}

// exists reports whether there is a session.
func (a at) exists() bool { return a.entry != nil && a.State != isDeleted }

// decodeEntry returns the entry of a message, or nil if it has none.
func decodeEntry(header nats.Header) (e *entry, err error) {
	if text := header.Get(entryHeader); text != "" {
		if err = json.Unmarshal([]byte(text), &e); err != nil {
			return nil, fmt.Errorf("jetstream: a message was not written by this package: %w", err)
		}
	}
	return e, nil
}

// add counts records, and encodes them for the body of a message.
func (e *entry) add(recs []journal.Record) ([]byte, error) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	for _, r := range recs {
		r, err := r.Follow(journal.Record{Seq: e.Records, Time: e.Time})
		if err == nil {
			err = enc.Encode(r)
		}
		if err != nil {
			return nil, fmt.Errorf("jetstream: %w", err)
		}
		e.Records, e.Time, e.Meta.Updated = r.Seq, r.Time, r.Time
	}
	return body.Bytes(), nil
}
