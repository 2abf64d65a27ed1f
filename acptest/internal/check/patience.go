package check

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// pace is what a run has learned of the time that the peer takes. It is safe for concurrent use.
type pace struct {
	mu      sync.Mutex
	slowest time.Duration // from a message, or its cause, to the next one that was awaited
}

func (p *pace) took(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slowest = max(p.slowest, d)
}

// The factors by which a wait is longer than [Options.Wait].
const (
	startFactor = 3 // for the first message of a peer, which starts meanwhile
	slackFactor = 3 // times the longest time that the peer has taken in this run
	turnFactor  = 3 // for the end of a turn, in which a model may think
)

// Patience returns how long a peer may be silent before a check believes that nothing comes: d, or
// longer if the peer, or the machine, has been slow.
func (t *T) Patience(d time.Duration) time.Duration {
	t.pace.mu.Lock()
	defer t.pace.mu.Unlock()
	return max(d, slackFactor*t.pace.slowest)
}

var (
	errSilent = errors.New("the peer is silent")
	errEnded  = errors.New("the peer has closed the connection")
	errLimit  = errors.New("the time of the check is over")
)

// Await waits for a message of the peer that match accepts, among those from a place of the log on.
// what says what was awaited. The time begins anew with each message of the peer. If the message does
// not come, the check fails only if it is shown that the peer had the time for it: it has ended, or
// has answered a later request, or answers requests on a new connection and none on this one.
func (p *Peer) Await(from int, what string, match func(*Message) bool) Message {
	return p.awaitFor(from, what, match, 1)
}

// AwaitTurn is Await for the end of a turn. A turn that nothing has provoked to end may take any time: if
// provoked is not set, its silence proves nothing.
func (p *Peer) AwaitTurn(from int, what string, match func(*Message) bool, provoked bool) Message {
	if provoked {
		return p.awaitFor(from, what, match, turnFactor)
	}
	m, err := p.await(from, match, turnFactor)
	p.t.expect = what
	p.t.Requires(err == nil || !p.sentBinary(), upper(what)+unread, framesChecks[p.t.role])
	p.over(err, upper(what)+" did not come")
	p.t.RequiresTime(err == nil, upper(what)+" did not come")
	return m
}

func (p *Peer) awaitFor(from int, what string, match func(*Message) bool, factor int) Message {
	m, err := p.await(from, match, factor)
	if err == nil {
		return m
	}
	p.t.expect = what
	gone := upper(what) + " did not come"
	p.t.Requires(!p.sentBinary(), upper(what)+unread, framesChecks[p.t.role])
	p.over(err, gone)
	p.t.RequiresTime(!errors.Is(err, errLimit), gone)
	answers := p.Answers()
	if m, err = p.await(from, match, factor); err == nil { // a peer may take up several requests at once
		return m
	}
	p.over(err, gone)
	p.t.FailIf(answers, "%s, though the %s has answered a later request, %s, and had %v more.", gone, p.t.role, p.t.Probe.Method, p.t.Patience(p.t.Wait).Round(time.Second/10))
	p.t.RequiresTime(p.t.control(), gone)
	if m, err = p.await(from, match, 1); err == nil {
		return m
	}
	p.t.Fail("%s: the %s answers nothing on this connection any more, and requests on a new one.", gone, p.t.role)
	return m
}

// unread is why what was awaited may have been sent, and framesChecks are what judges of it.
const unread = " did not come as text. A binary frame did, of which %s judges."

var framesChecks = map[Role]string{AgentRole: "AK-WS-001", ClientRole: "AKC-WS-001"}

func upper(what string) string { return strings.ToUpper(what[:1]) + what[1:] }

// RequiresTime makes the check inconclusive if the peer may only have been too slow.
func (t *T) RequiresTime(ok bool, what string) {
	t.Requires(ok, "%s in %v of silence, and nothing shows that the %s had the time for it: give it more by -wait, or by Options.Wait in a Go test.", what, t.Patience(t.Wait).Round(time.Second/10), t.role)
}

// Arrives reports whether a message that match accepts comes before the peer falls silent.
func (p *Peer) Arrives(from int, match func(*Message) bool) (Message, bool) {
	m, err := p.await(from, match, 1)
	return m, err == nil
}

// await leaves out the responses to probes, which are no part of the check.
func (p *Peer) await(from int, match func(*Message) bool, factor int) (Message, error) {
	return p.awaitAny(from, func(m *Message) bool { return !(m.IsResponse() && p.fences[string(m.ID)]) && match(m) }, factor)
}

// awaitAny calls match while p.mu is locked.
func (p *Peer) awaitAny(from int, match func(*Message) bool, factor int) (Message, error) {
	p.mu.Lock()
	if !p.heard {
		factor = max(factor, startFactor)
	}
	p.mu.Unlock()
	silence := p.t.Patience(p.t.Wait) * time.Duration(factor)
	begun := time.Now()
	timer := time.NewTimer(silence)
	defer timer.Stop()
	for {
		p.mu.Lock()
		for ; from < len(p.log); from++ {
			m := &p.log[from]
			if m.lost != nil {
				if match(&Message{Seq: m.Seq, ID: m.ID, Error: &Error{}}) {
					defer p.mu.Unlock()
					return Message{}, p.refused(m)
				}
				continue
			}
			if !m.Sent && match(m) {
				defer p.mu.Unlock()
				p.t.pace.took(p.last.Sub(begun))
				return *m, nil
			}
		}
		if p.ended {
			defer p.mu.Unlock()
			return Message{}, p.ending()
		}
		grown, last := p.grown, p.last
		p.mu.Unlock()
		if last.After(begun) {
			p.t.pace.took(last.Sub(begun))
			begun = last
		}
		timer.Reset(silence - time.Since(begun))
		select {
		case <-grown:
		case <-timer.C:
			return Message{}, errSilent
		case <-p.t.ctx.Done():
			return Message{}, errLimit
		}
	}
}

// Probe is a request that the peer is known to answer, be it with an error: it was tried before
// anything else. Without a method none is known.
type Probe struct {
	Method string
	Params any
}

// ProbeText returns the probe as a message with an id, which is JSON.
func (t *T) ProbeText(id string) string {
	t.Requires(t.Probe.Method != "", "No request is known that the %s answers.", t.role)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, t.Probe.Method, encode(t.Probe.Params))
}

// FindProbe makes the first request that the peer answers the probe of the run.
func (p *Peer) FindProbe(candidates ...Probe) {
	for _, p.t.Probe = range candidates {
		if p.Answers() {
			return
		}
	}
	p.t.Probe = Probe{}
}

// Answers reports whether the peer answers the probe.
func (p *Peer) Answers() bool {
	if p.t.Probe.Method == "" {
		return false
	}
	p.mu.Lock()
	p.lastID++
	id := fmt.Sprint(p.lastID)
	p.fences[id] = true
	from := len(p.log)
	p.mu.Unlock()
	if p.write([]byte(p.t.ProbeText(id))) != nil {
		return false
	}
	_, err := p.awaitAny(from, func(m *Message) bool { return m.IsResponse() && string(m.ID) == id }, 1)
	return err == nil
}

// control reports whether the peer answers on a new connection: what it does not do on another one then
// is its fault, and not that of a machine that is busy.
func (t *T) control() bool {
	if t.suite == nil || t.suite.Control == nil || t.run.version == 0 {
		return false
	}
	other := t.run.new(t.ctx, &Check{})
	other.Probe, other.suite = t.Probe, nil // a control has none of its own
	t.run.play(other, t.suite.Control)
	return other.verdict == ""
}

// Alive fails the check if the peer does not answer a request any more that it answers elsewhere.
func (p *Peer) Alive() {
	p.t.Requires(p.t.Probe.Method != "", "No request is known that the %s answers: whether it still reads cannot be seen.", p.t.role)
	if p.Answers() {
		return
	}
	if p.Closed() {
		p.mu.Lock()
		err := p.ending()
		p.mu.Unlock()
		p.t.FailIf(err == errEnded, "After it the %s has closed the connection.", p.t.role)
		p.over(err, "After it nothing is answered")
	}
	p.t.RequiresTime(p.t.control(), "A response to "+p.t.Probe.Method+" did not come")
	p.t.FailIf(!p.Answers(), "After it the %s answers no request any more, as it does on a new connection.", p.t.role)
}

// AliveOrEnded is like Alive for a peer that may have ended instead.
func (p *Peer) AliveOrEnded() {
	if p.Answers() || p.Closed() || p.Ends(p.t.Opts.Quiet) {
		return
	}
	p.t.Requires(p.t.Probe.Method != "", "No request is known that the %s answers: whether it still reads cannot be seen.", p.t.role)
	p.t.RequiresTime(p.t.control(), "A response to "+p.t.Probe.Method+" did not come")
	if p.Answers() {
		return
	}
	// A peer that ends may close its input long before its output.
	_, err := p.await(0, func(*Message) bool { return false }, 1)
	p.t.FailIf(!errors.Is(err, errEnded), "After it the %s answers no request any more, as it does on a new connection.", p.t.role)
}

// Quiet waits until the peer has had the time for what it must not send, and returns what came from a
// place of the log on. If a request is known that the peer answers, it has answered one meanwhile, which
// is not returned.
func (p *Peer) Quiet(from int) []Message {
	p.mu.Lock()
	fence := p.heard && !p.ended && !p.fenced
	p.fenced = true // until it is answered: a peer that does not read is waited for once
	p.mu.Unlock()
	if fence && p.Answers() {
		p.mu.Lock()
		p.fenced = false
		p.mu.Unlock()
	}
	select {
	case <-time.After(p.t.Opts.Quiet):
	case <-p.t.ctx.Done():
	}
	return p.Since(from)
}
