package rpc

import "github.com/acpkit/go-sdk/internal/wire"

// firstExpectation is the lowest id of an expectation. No call ever has it.
const firstExpectation = 1 << 63

// Expectation is what the peer still owes after it has responded to a call, such as the end
// of the work that the call began. It is a call in flight in all but the message: Shutdown
// waits for it, and the end of the connection, or the loss of the session, fails it.
type Expectation struct {
	calls *calls
	call  *call
}

// Expect begins an expectation for a call of m in a session. failed runs once if the peer
// can no longer meet it: after the notifications that were read before have been handled, or
// dropped. It must not block.
func (c *Conn) Expect(m *wire.Method, session string, failed func(error)) (*Expectation, error) {
	if err := c.wrong(); err != nil {
		return nil, err
	}
	if err := c.usable(); err != nil {
		return nil, err
	}
	k := &call{method: m.Name, m: m, at: failed}
	if err := c.calls.expect(k); err != nil {
		return nil, err
	}
	e := &Expectation{&c.calls, k}
	if c.network {
		if err := c.calls.join(k, session, false); err != nil {
			e.Met()
			return nil, err
		}
	}
	return e, nil
}

// Met ends the expectation. It reports whether it was still open: if it was not, failed has
// run or will run.
func (e *Expectation) Met() bool { return e.calls.met(e.call) }

func (t *calls) expect(k *call) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed != nil {
		return t.closed
	}
	k.id = firstExpectation + t.expected
	t.expected++
	t.addLocked(k)
	return nil
}

func (t *calls) met(k *call) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k.state != callPending {
		return false
	}
	t.dropLocked(k, nil)
	return true
}
