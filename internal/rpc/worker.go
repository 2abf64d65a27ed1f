package rpc

import "github.com/acpkit/go-sdk/internal/rpc/order"

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
			c.calls.fail(closed(c.end.cause()), every)
		}
	}
}
