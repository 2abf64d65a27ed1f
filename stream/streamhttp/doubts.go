package streamhttp

import (
	"fmt"
	"net/http"

	"github.com/acpkit/go-sdk/stream"
)

// doubts are losses that are not reported yet. The event stream of a session ends when something is wrong with
// the session, and also when the whole connection ends, whose own event stream may be the last to end: the calls
// in flight are then to fail with the end of the connection. So a request for a method that does not exist is
// posted when the event stream of a session has ended. Its response arrives on the event stream of the connection,
// and shows that the connection has outlived the session.
type doubts struct {
	probe   *outgoing // nil: none is on its way
	reports []func()  // run when the probe was answered
	later   []func()  // run when the next one was: what they report has happened after the probe was made
	gone    bool      // the server does not know the connection: its end is about to be read
}

// doubtLocked runs report when it is known that the connection goes on.
func (b *book) doubtLocked(t *todo, report func()) {
	d := &b.doubts
	switch {
	case d.gone || b.leaving != nil: // the connection ends
	case d.probe != nil && !d.probeIn(t):
		d.later = append(d.later, report)
	default:
		d.reports = append(d.reports, report)
		b.probeLocked(t)
	}
}

// doubtCallLocked reports the loss of a call, which may be nil, when it is known that the connection goes on.
func (b *book) doubtCallLocked(t *todo, k *call, err error) {
	if k != nil {
		k.doubt()
		b.doubtLocked(t, func() { b.loseLocked(k, err) })
	}
}

// doubt makes a call wait for the outcome. Its response is not delivered any more.
func (k *call) doubt() { k.doubted, k.barrier = true, nil }

// probeIn reports whether the probe was not begun yet.
func (d *doubts) probeIn(t *todo) bool {
	return len(t.post) > 0 && t.post[len(t.post)-1] == d.probe
}

func (b *book) probeLocked(t *todo) {
	if b.doubts.probe != nil {
		return
	}
	b.barriers++
	b.doubts.probe = &outgoing{probe: true, m: stream.ParseMessage(fmt.Appendf(nil,
		`{"jsonrpc":"2.0","id":%s%d","method":"_acpkit/barrier","params":{}}`, barrierID, b.barriers))}
	t.post = append(t.post, b.doubts.probe)
}

// gone reports whether an error of a POST says that the server does not know the connection.
func gone(err error) bool { return isStatus(err, http.StatusNotFound, http.StatusGone) }

// probedLocked is told that the probe was answered, or could not be posted.
func (b *book) probedLocked(t *todo, err error) {
	d := &b.doubts
	reports := d.reports
	d.probe, d.reports = nil, nil
	if d.gone = gone(err); d.gone || b.leaving != nil {
		d.later = nil
		return
	}
	for _, report := range reports {
		report()
	}
	if len(d.later) > 0 {
		d.reports, d.later = d.later, nil
		b.probeLocked(t)
	}
}

// unanswered is told that a probe was not answered for some time: the server accepted it, so the connection
// existed then.
func (b *book) unanswered(o *outgoing) todo {
	return b.do(func(t *todo) {
		if b.doubts.probe == o {
			b.probedLocked(t, nil)
		}
	})
}
