package jetstream

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

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

// An entry says what is true since a message. The body of the message has the records that it adds. The zero entry is that
// of a subject without messages.
type entry struct {
	seq uint64 // of the message in the stream

	Nonce string `json:"nonce"` // of this message alone, so that its writer recognizes it
	State state  `json:"state"`
	Node  string `json:"node"`  // Options.Node of the process that wrote it
	Epoch string `json:"epoch"` // of the Store that wrote it

	Messages int64        `json:"messages,omitempty"` // of the session, with this one and the parts of all
	Records  int64        `json:"records,omitempty"`  // the number of the last record
	Time     time.Time    `json:"time,omitzero"`      // of the last record
	Meta     journal.Meta `json:"meta,omitzero"`
}

// exists reports whether there is a session.
func (e *entry) exists() bool { return e.State == isOpen || e.State == isClosed }

// decodeEntry returns the entry of a message. It has no state if the message has none.
func decodeEntry(header nats.Header, seq uint64) (e entry, err error) {
	if text := header.Get(entryHeader); text != "" {
		if err = json.Unmarshal([]byte(text), &e); err != nil {
			return entry{seq: seq}, fmt.Errorf("jetstream: a message was not written by this package: %w", err)
		}
	}
	e.seq = seq
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

// subject is where the entries of a session, or the heartbeats of a process, are.
type subject struct {
	stream jetstream.Stream
	name   string
}

// last returns the last entry of a subject. It asks the leader of the stream: a replica may not have it yet.
func (s *Store) last(ctx context.Context, of subject) (last entry, err error) {
	err = retry(ctx, func(ctx context.Context) (bool, error) {
		m, err := of.stream.GetLastMsgForSubject(ctx, of.name)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return true, nil
		} else if err != nil {
			return false, err
		}
		last, err = decodeEntry(m.Header, m.Sequence)
		return true, err
	})
	return last, err
}

// put stores an entry of this Store behind the last message of a subject, whose place e has, and gives e its own. It repeats
// what was not answered until ctx ends. The error wraps errTaken if another message is behind that one: e is the last entry then.
// It wraps errUnknown if the entry may be stored. After others nothing was stored.
func (s *Store) put(ctx context.Context, of subject, e *entry, body []byte) error {
	size := max(1024, int(s.js.Conn().MaxPayload())/2) // the other half is for the headers
	parts := slices.Collect(slices.Chunk(body, size))
	if len(parts) == 0 {
		parts = [][]byte{nil}
	}
	e.Node, e.Epoch, e.Nonce, e.Messages = s.opts.Node, s.epoch, rand.Text(), e.Messages+int64(len(parts))
	head, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("jetstream: %w", err)
	}
	header := nats.Header{entryHeader: {string(head)}}
	if e.State == isDeleted { // the servers remove the others in one step, and later this one
		header[jetstream.MsgRollup], header[jetstream.MsgTTLHeader] = []string{jetstream.MsgRollupSubject}, []string{graveTime}
	}
	unknown := false
	return retry(ctx, func(asked context.Context) (bool, error) {
		seq, err := s.send(asked, of.name, e.seq, header, parts)
		switch {
		case err == nil:
			e.seq = seq
			return true, nil
		case errors.Is(err, wrongLast):
			found, err := s.last(ctx, of)
			switch {
			case err != nil:
				return true, err
			case found.Nonce == e.Nonce:
				s.count(func(n *Stats) { n.Settled++ })
				e.seq = found.seq
				return true, nil
			case found.seq != e.seq:
				*e = found
				return true, errTaken
			}
		case errors.Is(err, busy):
			s.count(func(n *Stats) { n.Repeated++ })
		case refused(err) && unknown:
			return true, fmt.Errorf("%w (%w)", errUnknown, err)
		case refused(err):
			return true, fmt.Errorf("jetstream: the servers have no room for it, and nothing is stored: give the stream, the account or the disks more; metadata above 32 KiB must be shortened, and max_payload raised for records that are 500 times longer: %w", err)
		default:
			unknown = true
		}
		return false, err
	})
}

// send sends an entry once: as a message, or as an atomic batch of which its message is the last. It returns the sequence
// of that.
func (s *Store) send(ctx context.Context, name string, last uint64, header nats.Header, parts [][]byte) (uint64, error) {
	batch := rand.Text()
	var m *nats.Msg
	for i, part := range parts {
		if m != nil { // a part, which is not acknowledged
			if err := s.js.Conn().PublishMsg(m); err != nil {
				return 0, err
			}
		}
		m = &nats.Msg{Subject: name, Data: part, Header: nats.Header{}}
		if i == 0 {
			m.Header.Set(jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(last, 10))
		}
		if len(parts) > 1 {
			m.Header.Set("Nats-Batch-Id", batch)
			m.Header.Set("Nats-Batch-Sequence", strconv.Itoa(i+1))
		}
	}
	if len(parts) > 1 {
		m.Header.Set("Nats-Batch-Commit", "1")
	}
	maps.Copy(m.Header, header)
	ack, err := s.js.PublishMsg(ctx, m)
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}
