package rpc

import (
	"context"
	"time"

	"github.com/acpkit/go-sdk/internal/rpc/order"
)

// worker handles what is in the queue, one after the other. It is a goroutine while there
// is something; one at a time, so what it has needs no lock.
type worker struct {
	c       *Conn
	relayed relays
	fresh   *scope // of the next notification; nil while one has it
}

func (w *worker) run() {
	finished := false
	defer func() {
		if !finished { // a handler ended its goroutine by runtime.Goexit; the queue goes on
			go w.run() // ends when the queue is empty
		}
	}()
	c := w.c
	for {
		if w.fresh == nil {
			w.fresh = &scope{parent: c.life, conn: c, up: c.up}
		}
		s, relays := w.fresh, len(w.relayed) > 0
		it, ok := c.order.Next(s, relays)
		switch {
		case !ok && relays:
			w.relayed.wait(c.end.hurry)
			continue
		case !ok:
			finished = true
			return
		}
		switch it.Kind {
		case order.Notification, order.Dropped:
			w.fresh = nil
			c.handlers.notification(s, &it)
		case order.Delivery, order.Last:
			k, _ := it.What.(*call)
			if k.relays != nil {
				w.relayed.add(k)
			}
			c.calls.deliver(k)
		case order.End:
			c.calls.fail(closed(c.end.cause()), nil)
		}
	}
}

// In a relay, such as a typed proxy, a handler passes its request on over another connection,
// and the response from there is likely to become its own. What that connection reads after
// the response must not leave before the handler's response does, so it waits until that is
// queued. The handlers of other connections hold back nothing.

// relays are the responses of this connection that handlers of relays got and that what is
// read next waits for. The worker's own.
type relays []relay

type relay struct {
	request *request
	done    <-chan struct{}
}

// add prepares to wait for the handler that made the call k; the call's response is
// delivered after it.
func (w *relays) add(k *call) {
	if done := k.relays.Passed(); done != nil {
		*w = append(*w, relay{request: k.relays, done: done})
	}
}

// wait waits for each handler until its response is queued, its ctx has ended, it makes
// another call, or it has called Release; and no longer than the connection lives.
func (w *relays) wait(closing <-chan struct{}) {
	for _, r := range *w {
		c := r.request.conn
		slow := time.AfterFunc(c.limits.SlowHandler, func() {
			c.log.Warn("acp: a request handler keeps messages of another connection waiting; if it waits for something else than the call it passed on, call Release before",
				"handler", shown(r.request.Method), "for", c.limits.SlowHandler)
		})
		select {
		case <-r.done:
		case <-r.request.Done():
		case <-closing:
		}
		slow.Stop()
	}
	*w = nil
}

// Release lets messages go on that wait until the response to the request that is being
// handled is queued. ctx must be that of the handler or one derived from it; otherwise Release
// does nothing.
func Release(ctx context.Context) {
	if s := scopeOf(ctx); s != nil && s.req != nil {
		s.req.Release()
	}
}
