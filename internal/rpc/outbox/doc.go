// Package outbox is the way out of a connection: the queue of encoded messages, the
// room that senders wait for, and the writer.
//
// A sender encodes a [Frame], waits for room with [Box.Reserve] and hands the frame over
// with [Box.Push]. There is at most one writer. It is started when the queue is not
// empty, it writes what is queued in one batch, and what is queued meanwhile leaves with
// the next batch. When the queue is empty its goroutine waits for a second or two, and
// ends. A goroutine that has nothing else to do may be the writer itself ([Box.Write]).
//
// The responses that the connection itself gives, such as the refusal of a request, are
// queued without waiting ([Box.PushOwn]); they have a reserve of their own, and the reader
// pauses while it is used up ([Box.WaitOwn]). Cancels ([Box.Cancel]) are always accepted
// and use no room: there are never more of them than calls.
//
// One lock, Box.mu, guards all of it. It is taken last: nothing is called while it is
// held. Nothing in this package knows what the messages mean.
package outbox
