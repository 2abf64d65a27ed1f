// Package jetstream stores the sessions of agents in NATS JetStream, so that several processes, on
// several machines, serve them together: a [Store] is a journal.Store.
//
//	conn, err := nats.Connect("nats://n1,nats://n2,nats://n3")
//	store, err := jetstream.Open(ctx, conn, &jetstream.Options{Node: "https://a.example.com"})
//	defer store.Close(ctx)
//
// # How it is stored
//
// A stream has a subject for each session. An Append, an Open, a Close and a SetMeta are one message
// each, or one atomic batch if it is longer than the servers accept. The header of a message says who holds the
// session and what its metadata are; so the last message of a subject tells both, and there is no second
// place that could disagree with it.
//
// # One writer, without a clock
//
// A message is stored only behind the message that its writer saw last, which the servers check. Who
// opens a session appends a message first. From then on each Append of an older holder is refused, however
// long it was stopped and whatever its clock says; it fails with an error that wraps journal.ErrClosed, and
// nothing more can be appended to that log.
//
// When somebody may try is decided by heartbeats: each process renews one every 5 seconds, and the
// servers drop it after 30. A session is held while its holder has a heartbeat; Open fails with a *journal.HeldError whose Holder
// is the Options.Node of that process. A process that could not renew its heartbeat for 30 seconds
// closes its logs. Store.Close ends the heartbeat, so nobody waits for a process that was shut down.
//
// # What is promised when
//
// Append returns when the replicas of the stream have the records. While the servers elect a
// leader, which takes some seconds, Append, Open and Create wait for it, for at most 30 seconds. An Append whose outcome is
// still unknown then ends the log, because its records may be stored.
//
// Whether acknowledged records survive a loss of power is a setting of the servers: with "sync_interval: always" of
// their jetstream block they do. With the default, a crash of one server and a pause of another can lose
// them. Set Options.System to have Open refuse servers that do not flush.
package jetstream
