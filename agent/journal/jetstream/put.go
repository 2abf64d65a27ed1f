package jetstream

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// answerTime is the wait for one answer of the servers.
const answerTime = 5 * time.Second

var (
	errTaken   = errors.New("jetstream: another process has written to it")
	errUnknown = errors.New("jetstream: the servers do not answer, have a full disk or have no leader, which their log tells") // a message may be stored
	errTooLate = errors.New("no answer in time")
)

// The servers refuse a message that is not behind the last of its subject. But they also refuse the own message with
// wrongLast if its acknowledgement was lost, and any message with busy while their leader has not cleared the
// writer's last one.
var (
	wrongLast = &jetstream.APIError{ErrorCode: jetstream.JSErrCodeStreamWrongLastSequence}
	busy      = &jetstream.APIError{ErrorCode: jetstream.JSErrCodeStreamWrongLastSequenceConstant}
)

// refused reports whether the servers have stored nothing because a limit is exceeded.
func refused(err error) bool {
	if api, ok := errors.AsType[*jetstream.APIError](err); ok {
		limits := []jetstream.ErrorCode{10054, 10097, 10002, 10023, 10028, 10047} // message, header, account, servers, memory, disk
		return slices.Contains(limits, api.ErrorCode) || strings.Contains(api.Description, "exceeded")
	}
	return errors.Is(err, nats.ErrMaxPayload)
}

// retry calls try until it is done. If ctx ends first, the error wraps errUnknown, the cause and the last answer.
func retry(ctx context.Context, try func(ctx context.Context) (done bool, err error)) error {
	var answer error
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		asked, cancel := context.WithTimeout(ctx, answerTime)
		done, err := try(asked)
		cancel()
		if done {
			return err
		}
		if answer == nil || ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) {
			answer = err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("%w (%w: %w)", errUnknown, context.Cause(ctx), answer)
		}
	}
}

// subject is where the entries of a session, or the heartbeats of a process, are.
type subject struct {
	stream jetstream.Stream
	name   string
}

// last returns the last entry of a subject. It asks the leader of the stream: a replica may not have it yet.
func (s *Store) last(ctx context.Context, of subject) (last at, err error) {
	err = retry(ctx, func(ctx context.Context) (bool, error) {
		m, err := of.stream.GetLastMsgForSubject(ctx, of.name)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return true, nil
		} else if err != nil {
			return false, err
		}
		last.seq = m.Sequence
		last.entry, err = decodeEntry(m.Header)
		return true, err
	})
	return last, err
}

// put stores an entry of this Store behind the message with the sequence last of its subject; 0 means that there is
// none. It repeats what was not answered until ctx ends. The error wraps errTaken if another message is behind
// that one, and errUnknown if it may be stored. After others nothing was stored.
func (s *Store) put(ctx context.Context, of subject, last uint64, e *entry, body []byte) (seq uint64, err error) {
	size := max(1024, int(s.js.Conn().MaxPayload())/2) // the other half is for the headers
	parts := slices.Collect(slices.Chunk(body, size))
	if len(parts) == 0 {
		parts = [][]byte{nil}
	}
	e.Node, e.Epoch, e.Nonce, e.Messages = s.opts.Node, s.epoch, rand.Text(), e.Messages+int64(len(parts))
	head, err := json.Marshal(e)
	if err != nil {
		return 0, fmt.Errorf("jetstream: %w", err)
	}
	header := nats.Header{entryHeader: {string(head)}}
	if e.State == isDeleted { // the servers remove the others in one step, and later this one
		header[jetstream.MsgRollup], header[jetstream.MsgTTLHeader] = []string{jetstream.MsgRollupSubject}, []string{graveTime}
	}
	unknown := false
	err = retry(ctx, func(asked context.Context) (bool, error) {
		var err error
		seq, err = s.send(asked, of.name, last, header, parts)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, wrongLast):
			found, err := s.last(ctx, of)
			switch {
			case err != nil:
				return true, err
			case found.entry != nil && found.Nonce == e.Nonce:
				s.count(func(n *Stats) { n.Settled++ })
				seq = found.seq
				return true, nil
			case found.seq != last:
				return true, errTaken
			}
		case errors.Is(err, busy):
			s.count(func(n *Stats) { n.Repeated++ })
		case refused(err) && unknown:
			return true, fmt.Errorf("%w (%w)", errUnknown, err)
		case refused(err):
			return true, fmt.Errorf("jetstream: the servers have no room for it, and nothing is stored: give the stream, the account or the disks more; metadata above 32 KiB must be shortened, or max_payload raised: %w", err)
		default:
			unknown = true
		}
		return false, err
	})
	return seq, err
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
