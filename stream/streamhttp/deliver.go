package streamhttp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/stream"
)

const (
	cancelHold   = time.Second // how long a cancel is held whose request was not seen
	maxCancels   = 1024        // how many cancels are held
	maxCancel    = 4 << 10     // bytes of one that is held
	barrierQuiet = 5 * time.Second
	barrierCheck = 250 * time.Millisecond
)

// deliver passes the message of an event to the reader, in order.
func (c *Client) deliver(s *eventStream, data []byte) {
	m := stream.ParseMessage(data)
	switch {
	case m.Kind == stream.KindInvalid && envelope.Parse(data).Kind != envelope.KindBadRequest && envelope.Parse(data).Kind != envelope.KindBadResponse:
		// It is not JSON.
	case m.IsResponse():
		c.deliverResponse(s, m)
	case m.Kind == stream.KindRequest:
		c.mu.Lock()
		c.asked[string(m.ID)] = s.session
		cancel, held := c.cancels[string(m.ID)]
		delete(c.cancels, string(m.ID))
		c.mu.Unlock()
		c.put(m)
		if held {
			c.put(cancel)
		}
	case m.CancelID != nil && c.hold(m):
	default:
		if child := subagent(&m); child != "" {
			c.attend(child) // its updates arrive there, and no response names it
		}
		c.put(m)
	}
}

// subagent returns the session that an update announces, or "".
func subagent(m *stream.Message) string {
	const kind = "subagent_update"
	if m.Method != "session/update" || !bytes.Contains(m.Data, []byte(`"`+kind+`"`)) {
		return ""
	}
	e := envelope.Parse(m.Data)
	update := envelope.Member(e.Params, "update")
	if name, _ := envelope.Text(envelope.Member(update, "sessionUpdate")); name != kind {
		return ""
	}
	return envelope.SessionID(update)
}

// attend opens the event stream of a session that the server has named. If too many are open, the
// first message of the session opens it.
func (c *Client) attend(session string) {
	c.mu.Lock()
	many := len(c.streams) >= maxSessions
	c.mu.Unlock()
	if !many {
		c.stream(session)
	}
}

// hold holds back a cancel whose request has not arrived. It reports whether it does so.
func (c *Client) hold(m stream.Message) bool {
	id := string(m.CancelID)
	c.mu.Lock()
	defer c.mu.Unlock()
	_, seen := c.asked[id]
	_, held := c.cancels[id]
	if seen || held || len(c.cancels) >= maxCancels || len(m.Data) > maxCancel {
		return false
	}
	c.cancels[id] = m
	time.AfterFunc(cancelHold, func() { // it does nothing if the request has arrived
		c.mu.Lock()
		m, held := c.cancels[id]
		delete(c.cancels, id)
		c.mu.Unlock()
		if held {
			c.put(m)
		}
	})
	return true
}

// answered removes a call and returns it.
func (c *Client) answered(id string) call {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.calls[id]
	delete(c.calls, id)
	return k
}

func (c *Client) deliverResponse(s *eventStream, m stream.Message) {
	c.mu.Lock()
	barrier, ours := c.barriers[string(m.ID)]
	delete(c.barriers, string(m.ID))
	c.mu.Unlock()
	if ours {
		close(barrier)
		return
	}
	k := c.answered(string(m.ID))
	if m.SessionID != "" {
		c.attend(m.SessionID) // its updates are waiting there
	}
	put := func() {
		c.put(m)
		c.settle(k, m.Kind == stream.KindResponse)
	}
	if s.session != "" || k.session == "" {
		put()
		return
	}
	other := c.stream(k.session)
	c.mu.Lock()
	over := c.over
	if !over {
		c.holding.Add(1)
	}
	c.mu.Unlock()
	if over {
		put()
		return
	}
	c.running.Go(func() { // ends with the barrier, the stream, or the connection
		defer c.holding.Done()
		c.awaitBarrier(other)
		put()
	})
}

// awaitBarrier waits until everything that the server has sent on a session's event stream has been
// read. It calls a method that does not exist: the response arrives after the rest.
func (c *Client) awaitBarrier(s *eventStream) {
	select {
	case <-s.ready:
	case <-c.ending:
		return
	}
	if s.err != nil {
		return
	}
	passed := make(chan struct{})
	c.mu.Lock()
	c.barrier++
	id := fmt.Sprintf(`"acpkit-barrier-%d"`, c.barrier)
	c.barriers[id] = passed
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.barriers, id)
	}()
	session, err := json.Marshal(s.session)
	if err != nil {
		return
	}
	body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"_acpkit/barrier","params":{"sessionId":%s}}`, id, session)
	resp, err := c.submit(s.session, body, true)
	if err != nil {
		return
	}
	discard(resp)
	if resp.StatusCode/100 != 2 {
		return
	}
	check := time.NewTicker(barrierCheck)
	defer check.Stop()
	quiet := time.Now()
	for {
		select {
		case <-passed:
			return
		case <-s.done:
			return
		case <-c.ending:
			return
		case <-check.C:
			last := time.Unix(0, s.last.Load())
			if !c.in.Idle() || last.After(quiet) {
				quiet = time.Now()
			}
			if time.Since(quiet) > barrierQuiet {
				return
			}
		}
	}
}
