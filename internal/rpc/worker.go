package rpc

import (
	"context"
	"time"

	"github.com/acpkit/go-sdk/internal/rpc/order"
)

// worker handles what is in the queue, one item at a time. Its goroutine exists while the queue
// is not empty. There is one at most, so the fields need no lock.
type worker struct {
	c       *Conn
	relayed relays
	fresh   *scope // for the next notification
}

func (w *worker) run() {
	finished := false
	defer func() {
		if !finished { // a handler ended its goroutine by runtime.Goexit; a new worker handles the rest of the queue
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

// relays holds the handlers of relays on other connections whose calls have just got their
// responses here. In a relay, such as a typed proxy, a handler passes its request on over this
// connection, and usually returns the response from here as its own. Messages that are read here
// after the response must not be sent before the handler's response, so the worker waits until that
// is queued. It does not wait for other handlers.
type relays []relay

type relay struct {
	request *request
	done    <-chan struct{}
}

// add records the handler that made the call k, before the response is delivered.
func (w *relays) add(k *call) {
	if done := k.relays.Passed(); done != nil {
		*w = append(*w, relay{request: k.relays, done: done})
	}
}

// wait waits until each handler has its response queued, its ctx has ended, it makes another
// call, or it calls Release, and no longer than until closing is closed.
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

// Release lets messages continue that wait until the response to the request that is being handled
// is queued. ctx must be that of the handler or one derived from it; otherwise Release does
// nothing.
func Release(ctx context.Context) {
	if s := scopeOf(ctx); s != nil && s.req != nil {
		s.req.Release()
	}
}
