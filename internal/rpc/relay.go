package rpc

import "time"

// What was read after a response waits for the handler of another connection that the
// response was for, and that has not returned: relayRounds times for relayRound. A machine
// with too much to do may not let the handler run for as long as all of them, but it lets
// it run between some of them.
const (
	relayRound  = 10 * time.Millisecond
	relayRounds = 20
)

// relays are the responses of this connection that handlers of another one wait for. In
// a proxy such a response is the result of the handler, and what was read after it must
// not leave before it. The worker's own.
type relays []relay

type relay struct {
	request *request
	done    <-chan struct{}
}

// add prepares to wait for the handler that made the call k; the call's response is
// delivered after it.
func (w *relays) add(k *call) {
	if done := k.relays.conn.in.relays(k.relays); done != nil {
		*w = append(*w, relay{request: k.relays, done: done})
	}
}

// wait waits until the responses of all handlers are queued. It waits in no circle: a
// handler has a short time to return, and is not waited for when it begins a call. When
// it has returned, nothing but its peer's reading is waited for.
func (w *relays) wait(closing <-chan struct{}) {
	defer func() { *w = nil }()
	t := time.NewTimer(relayRound)
	defer t.Stop()
	rounds := 0
	for _, r := range *w {
		for waits := true; waits; {
			select {
			case <-r.done:
				waits = false
			case <-closing:
				return
			case <-t.C:
				rounds++
				waits = rounds < relayRounds || r.request.conn.in.isResponding(r.request)
				t.Reset(relayRound)
			}
		}
	}
}
