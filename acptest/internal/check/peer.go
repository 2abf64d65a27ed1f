package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acptest/passive"
	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/stream"
)

// Peer is the end of a connection that a check plays: what it sends reaches the program that is
// checked, and what that program sends is kept in a log. It is safe for concurrent use.
type Peer struct {
	t        *T
	link     Link
	finished chan struct{} // closed when the input has ended
	writing  chan struct{} // held by who writes

	mu       sync.Mutex
	log      []Message
	heard    bool          // the peer has sent something
	grown    chan struct{} // closed and replaced when the log grows, or the input ends
	ended    bool          // the input has ended
	err      error         // with which it ended
	lastID   int
	handlers map[string]Handler
	judge    *passive.Checker
	faults   []passive.Fault
	last     time.Time       // when the peer has sent its latest message, or the connection was opened
	fences   map[string]bool // ids of requests that are no part of the check; see [Peer.Quiet]
	fenced   bool            // a fence has no response yet
}

// firstOfAgent is from where the requests of a check that plays the agent are numbered, so that a client which mixes
// up the ids of both ends does so in the checks of that alone.
const firstOfAgent = 100_000

// Handler answers a request of the peer. It returns the result, an *[Error], or [NoAnswer]. It
// runs on a goroutine of its own.
type Handler func(m Message) any

// NoAnswer is what a [Handler] returns for a request that gets no response, or gets it later.
var NoAnswer = new(int)

// Connect opens a connection to the program that is checked. It is closed when the check ends.
func (t *T) Connect() *Peer { return t.Accept(map[string]Handler{}) }

// Accept is Connect to a peer that begins by itself, whose requests the handlers answer from the
// first one on.
func (t *T) Accept(handlers map[string]Handler) *Peer {
	link, err := t.Target.Open(t.ctx, t.Opts.Cwd)
	if err != nil {
		t.unreachable = err
		t.Inconclusive("The peer cannot be reached: %v.", err)
	}
	p := &Peer{t: t, link: link, finished: make(chan struct{}), writing: make(chan struct{}, 1), grown: make(chan struct{}),
		handlers: handlers, judge: passive.New(), last: time.Now(), fences: map[string]bool{}}
	if t.role == ClientRole {
		p.lastID = firstOfAgent
	}
	t.peers = append(t.peers, p)
	go p.read() // ends with the link
	return p
}

func (p *Peer) read() {
	defer close(p.finished)
	for {
		line, err := p.link.Read()
		if lost, ok := errors.AsType[*stream.LostError](err); ok {
			p.lose(lost)
			continue
		}
		if err == nil && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err != nil {
			p.mu.Lock()
			p.ended, p.err = true, err
			p.grow()
			p.mu.Unlock()
			return
		}
		m, handle := p.record(line, false)
		if m.Method != "" && m.ID != nil {
			go p.answer(m, handle) // ends with the handler, which waits for nothing but the check
		}
	}
}

// grow wakes who waits. p.mu is locked.
func (p *Peer) grow() {
	close(p.grown)
	p.grown = make(chan struct{})
}

// record adds a message to the log. It returns the handler of its method, as it is then: who has waited for the message may set
// another one for those that follow.
func (p *Peer) record(raw []byte, sent bool) (Message, Handler) {
	m := Parse(bytes.Clone(bytes.TrimRight(raw, "\r\n")))
	m.Sent = sent
	p.mu.Lock()
	defer p.mu.Unlock()
	m.Seq = len(p.log)
	p.log = append(p.log, m)
	if !sent {
		p.heard, p.last = true, time.Now()
	}
	from := p.t.role
	if sent {
		from = p.t.role.peer()
	}
	p.t.guard(func() {
		for _, fault := range p.judge.Feed(int64(m.Seq), from.end(), m.Raw) {
			if fault.By == p.t.role.end() {
				p.faults = append(p.faults, fault)
			}
		}
	})
	p.grow()
	return m, p.handlers[m.Method]
}

func (p *Peer) answer(m Message, handle Handler) {
	var result any = &Error{Code: -32601, Message: "Method not found"}
	if handle != nil {
		result = NoAnswer
		p.t.guard(func() { result = handle(m) })
	}
	if result != NoAnswer {
		p.Answer(m, result)
	}
}

// Answer responds to a request of the peer, with a result or an *[Error].
func (p *Peer) Answer(m Message, result any) {
	response := map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result}
	if err, ok := result.(*Error); ok {
		response = map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": err}
	}
	_ = p.write(encode(response)) // a peer that is gone is told by the check's own requests
}

// Handle sets what answers the requests of a method. Without a handler they fail with -32601.
func (p *Peer) Handle(method string, h Handler) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.handlers[method] = h
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a check sends only what it has written itself
	}
	return b
}

// write sends a message. It does not wait longer than the check.
func (p *Peer) write(raw []byte) error {
	select {
	case p.writing <- struct{}{}:
	case <-p.t.ctx.Done():
		return p.t.ctx.Err()
	}
	p.record(raw, true)
	if p.t.Target.Kind&Bytes != 0 && !bytes.HasSuffix(raw, []byte("\n")) {
		raw = append(slices.Clip(raw), '\n')
	}
	wrote := make(chan error, 1)
	go func() { // ends with the link, which the end of the check closes
		wrote <- p.link.Write(raw)
		<-p.writing
	}()
	select {
	case err := <-wrote:
		return err
	case <-p.t.ctx.Done():
		return p.t.ctx.Err()
	}
}

// Send sends a line, or a message, unchanged.
func (p *Peer) Send(raw string) {
	err := p.write([]byte(raw))
	if err != nil { // what the peer has said is read to its end
		select {
		case <-p.finished:
		case <-time.After(graceOfEnd):
		}
	}
	p.t.FailIf(err != nil, "The connection ended before a message could be sent: %v.", err)
}

// Try sends a message to a peer that may have ended.
func (p *Peer) Try(message any) { _ = p.write(encode(message)) }

// Notify sends a notification.
func (p *Peer) Notify(method string, params any) {
	p.Send(string(encode(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})))
}

// Call is a request in flight.
type Call struct {
	p      *Peer
	ID     string // as JSON
	method string
	from   int // the length of the log when it was sent
}

// From returns the place of the log at which the request stands.
func (c *Call) From() int { return c.from }

// Start sends a request with an id that was not used before.
func (p *Peer) Start(method string, params any) *Call {
	p.mu.Lock()
	p.lastID++
	id := strconv.Itoa(p.lastID)
	p.mu.Unlock()
	return p.StartAs(id, method, params)
}

// StartAs sends a request with an id, which is JSON.
func (p *Peer) StartAs(id, method string, params any) *Call {
	c := &Call{p: p, ID: id, method: method, from: p.Mark()}
	p.Send(string(encode(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id), "method": method, "params": params})))
	return c
}

// Response waits for the response. The check fails if there is none.
func (c *Call) Response() Message {
	return c.p.Await(c.from, fmt.Sprintf("a response to %s", c.method), c.IsResponse)
}

// Echoed waits for the next response, which must have the id of the request, in whatever spelling.
func (c *Call) Echoed() {
	m := c.p.Await(c.from, fmt.Sprintf("a response to %s", c.method), (*Message).IsResponse)
	if envelope.IDKey(string(m.ID)) != envelope.IDKey(c.ID) {
		c.p.t.FailAt(m, "The response has the id %s.", m.ID)
	}
}

// Arrives reports whether the response comes in the time of the check.
func (c *Call) Arrives() (Message, bool) { return c.p.Arrives(c.from, c.IsResponse) }

// IsResponse reports whether m is the response.
func (c *Call) IsResponse(m *Message) bool { return m.IsResponse() && string(m.ID) == c.ID }

// Result waits for the response, which must not be an error.
func (c *Call) Result() Message { return c.succeeded(c.Response()) }

// Turn is Result for a request that lasts as long as a turn; see [Peer.AwaitTurn].
func (c *Call) Turn(provoked bool) Message {
	return c.succeeded(c.p.AwaitTurn(c.from, "the end of the turn", c.IsResponse, provoked))
}

func (c *Call) succeeded(m Message) Message {
	switch {
	case m.Error == nil:
	case m.Error.Code == -32000 && c.p.t.Opts.Auth != "":
		c.p.t.Inconclusive("%s failed with -32000 (%s): signing in by %q does not suffice.", c.method, m.Error.Message, c.p.t.Opts.Auth)
	case m.Error.Code == -32000:
		c.p.t.Inconclusive("%s needs a user who is signed in: set -auth METHOD.", c.method)
	default:
		c.p.t.FailAt(m, "%s failed with %d (%s).", c.method, m.Error.Code, m.Error.Message)
	}
	return m
}

// Call sends a request and waits for its response, which may be an error.
func (p *Peer) Call(method string, params any) Message { return p.Start(method, params).Response() }

// Mark returns the length of the log, from which a later wait begins.
func (p *Peer) Mark() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.log)
}

// Sent returns what the check has sent from a place of the log on.
func (p *Peer) Sent(from int) []Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.log[from:]), func(m Message) bool { return !m.Sent })
}

// Since returns what the peer has sent from a place of the log on.
func (p *Peer) Since(from int) []Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.log[from:]), func(m Message) bool { return m.Sent || m.lost != nil || m.IsResponse() && p.fences[string(m.ID)] })
}

// Unanswered fails the check if the peer has responded to what was sent from a place of the log on.
func (p *Peer) Unanswered(from int) {
	for _, m := range p.Quiet(from) {
		p.t.FailAtIf(m.Method == "" && (m.ID != nil || m.IsResponse()), m, "The message was responded to.")
	}
}

// CloseInput ends what the peer reads.
func (p *Peer) CloseInput() { _ = p.link.CloseInput() }

// Interrupt asks the peer to end, as its user does. It reports false if that is not possible.
func (p *Peer) Interrupt() bool { return p.link.Interrupt() }

// Closed reports whether the peer has closed the connection.
func (p *Peer) Closed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// endedUnheard reports whether the peer has ended without a response.
func (p *Peer) endedUnheard() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended && !slices.ContainsFunc(p.log, func(m Message) bool { return !m.Sent && len(m.ID) > 0 })
}

// unreached returns why a peer that has ended unheard cannot be checked: its process has ended, or nobody serves
// the check at its URL. What a server does wrong is the subject of checks.
func (p *Peer) unreached() error {
	if l, ok := p.link.(*processLink); ok {
		return fmt.Errorf("it has ended before it has responded to initialize %v", l.Last())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	op, ok := errors.AsType[*net.OpError](p.err)
	status, answered := errors.AsType[*stream.StatusError](p.err)
	if ok && op.Op == "dial" || answered && slices.Contains(strangers, status.Code) {
		return p.err
	}
	return nil
}

// strangers are the statuses of a server that does not serve the check, or nothing at all at its URL.
var strangers = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed}

// Ends reports whether the peer ends within a time.
func (p *Peer) Ends(within time.Duration) bool {
	select {
	case <-p.link.Done():
		return true
	case <-time.After(within):
	case <-p.t.ctx.Done():
	}
	return false
}

// Left is that of the [Link].
func (p *Peer) Left() (left, known bool) { return p.link.Left() }
