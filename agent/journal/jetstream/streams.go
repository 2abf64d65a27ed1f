package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

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
	off := func(err error) bool {
		return errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount)
	}
	err = retry(ctx, func(ctx context.Context) (bool, error) { // also what is refused, because some servers of a cluster may not be there yet
		var err error
		if stream, err = s.js.Stream(ctx, want.Name); errors.Is(err, jetstream.ErrStreamNotFound) {
			stream, err = s.js.CreateStream(ctx, want)
		}
		if err == nil && !s.opts.unchecked {
			return true, check(&stream.CachedInfo().Config, &want)
		}
		return err == nil || off(err) || errors.Is(err, jetstream.ErrInvalidStreamName), err
	})
	_, answered := errors.AsType[*jetstream.APIError](err)
	switch {
	case err == nil:
		return stream, nil
	case off(err), errors.Is(err, nats.ErrNoResponders):
		err = fmt.Errorf("JetStream is off at the servers or for this account: start nats-server with -js, or give the account a jetstream block: %w", err)
	case errors.Is(err, jetstream.ErrInvalidStreamName):
		err = fmt.Errorf("use letters, digits, - and _ for Options.Name: %w", err)
	case answered:
		err = fmt.Errorf("it is not created with %d replicas: %w", want.Replicas, err)
	}
	return nil, fmt.Errorf("jetstream: the stream %s cannot be used: %w", want.Name, err)
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
