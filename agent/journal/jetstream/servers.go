package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
		limits := []jetstream.ErrorCode{10054, 10097, 10199, 10002, 10023, 10028, 10047} // message, header, batch, account, servers, memory, disk
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

// A stream of another version is refused.
const (
	versionKey = "acp-journal"
	version    = "1"
)

// useStreams gets the two streams. That of the sessions loses nothing by itself. That of the heartbeats ends them by its own MaxAge: a
// time to live of one message is not renewed with the message, so that a process that died later would hold its sessions
// for ever. Neither answers a read from a replica, which may not have the last message.
func (s *Store) useStreams(ctx context.Context) (err error) {
	s.sessions, err = s.use(ctx, jetstream.StreamConfig{
		Name: s.opts.Name + "_sessions", Subjects: []string{s.opts.Name + ".session.*"}, Description: "sessions of agents",
		Discard: jetstream.DiscardNew, MaxMsgsPerSubject: -1, AllowAtomicPublish: true, AllowRollup: true, AllowMsgTTL: true,
	})
	if err == nil {
		s.nodes, err = s.use(ctx, jetstream.StreamConfig{
			Name: s.opts.Name + "_nodes", Subjects: []string{s.opts.Name + ".node.*"}, Description: "heartbeats of those that serve sessions",
			MaxMsgsPerSubject: 1, MaxAge: s.opts.lease, Duplicates: min(s.opts.lease, 2*time.Minute),
		})
	}
	return err
}

// use returns a stream. It creates it if necessary, and does not change one that exists.
func (s *Store) use(ctx context.Context, want jetstream.StreamConfig) (stream jetstream.Stream, err error) {
	want.Storage, want.Metadata, want.Replicas = jetstream.FileStorage, map[string]string{versionKey: version}, 1
	if s.js.Conn().ConnectedClusterName() != "" {
		want.Replicas = 3
	}
	err = retry(ctx, func(ctx context.Context) (bool, error) { // also what is refused, because some servers of a cluster may not be there yet
		var err error
		if stream, err = s.js.Stream(ctx, want.Name); errors.Is(err, jetstream.ErrStreamNotFound) {
			stream, err = s.js.CreateStream(ctx, want)
		}
		if err == nil && !s.opts.unchecked {
			return true, check(&stream.CachedInfo().Config, &want)
		}
		_, final := advice(err)
		return err == nil || final, err
	})
	if err != nil {
		what, _ := advice(err)
		err = fmt.Errorf("jetstream: the stream %s cannot be used: %s%w", want.Name, what, err)
	}
	return stream, err
}

// advice says what to do about an answer of the servers, and whether it remains the same if they are asked again.
func advice(err error) (what string, final bool) {
	_, answered := errors.AsType[*jetstream.APIError](err)
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), errors.Is(err, nats.ErrNoResponders):
		return "JetStream is off at the servers or for this account: start nats-server with -js, or give the account a jetstream block: ", answered
	case errors.Is(err, jetstream.ErrInvalidStreamName):
		return "use letters, digits, - and _ for Options.Name: ", true
	case answered:
		return "it is not created, with 3 replicas in a cluster: are all servers there, and have they room? ", false
	}
	return "", false
}

// check returns an error if a stream has settings with which records could be lost, or with which an old state
// could be read.
func check(have, want *jetstream.StreamConfig) error {
	if v := have.Metadata[versionKey]; v != version {
		return fmt.Errorf("it is of version %q, and this program knows %q: use the program that wrote it, or another Options.Name", v, version)
	}
	if have, want := settings(have), settings(want); have != want {
		return fmt.Errorf("its settings are %s: make them %s, or use another Options.Name", have, want)
	}
	return nil
}

// settings describes the settings on which the store relies. With allow_direct a replica answers, which may be behind.
func settings(c *jetstream.StreamConfig) string {
	return fmt.Sprintf("storage=%v persist_mode=%v retention=%v discard=%v max_age=%v max_msgs_per_subject=%d allow_direct=%v allow_atomic=%v allow_rollup_hdrs=%v deny_purge=%v allow_msg_ttl=%v",
		c.Storage, c.PersistMode, c.Retention, c.Discard, c.MaxAge, c.MaxMsgsPerSubject, c.AllowDirect || c.MirrorDirect, c.AllowAtomicPublish, c.AllowRollup, c.DenyPurge, c.AllowMsgTTL)
}

// durability returns an error if a server does not flush what it acknowledges, or if that cannot be read.
func durability(system *nats.Conn) error {
	answers, err := system.SubscribeSync(system.NewRespInbox())
	if err == nil {
		err = system.PublishRequest("$SYS.REQ.SERVER.PING.JSZ", answers.Subject, nil)
	}
	for n := 0; err == nil; n++ {
		var m *nats.Msg
		if m, err = answers.NextMsg(500 * time.Millisecond); n > 0 && errors.Is(err, nats.ErrTimeout) {
			return answers.Unsubscribe() // a server that answers later is not waited for
		}
		var v struct {
			Server struct{ Name string }
			Data   struct {
				Disabled bool
				Config   struct {
					SyncAlways bool `json:"sync_always"`
				}
			}
		}
		if err == nil {
			err = json.Unmarshal(m.Data, &v)
		}
		if err == nil && !v.Data.Disabled && !v.Data.Config.SyncAlways {
			return fmt.Errorf("jetstream: the server %s does not flush what it acknowledges: set sync_interval: always in its jetstream block", v.Server.Name)
		}
	}
	return fmt.Errorf("jetstream: the settings of the NATS servers cannot be read: is Options.System of the system account? %w", err)
}
