package passive

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/wire"
)

// The bounds of what a Checker remembers. It does not judge what it cannot remember.
const (
	callsAtMost     = 1 << 14 // requests in flight from one end
	answeredAtMost  = 1 << 12 // ids of requests of one end that were answered
	sessionsAtMost  = 1 << 10
	toolsAtMost     = 1 << 12 // of a session
	terminalsAtMost = 1 << 12
	choicesAtMost   = 1 << 8 // modes of a session
)

// Checker checks the messages of one connection, in their order. It must not be used by several
// goroutines at once.
type Checker struct {
	version int // that was negotiated; 0 before
	asked   int // the version of the latest initialize
	// initializing counts the initialize requests in flight.
	initializing int
	worked       bool // the client has sent another request than initialize
	blind        bool // messages are missing, so an unknown id or session is no fault
	calls        map[End]*calls
	caps         map[End][]byte // what an end has advertised, as raw JSON
	sessions     map[string]*session
	terminals    map[string]*terminal // of version 1, by id
	signedIn     string               // what the latest auth/status_update has told, as JSON
	starting     int                  // requests in flight that start a session: the agent may name its id before the response

	at    int64
	from  End
	found []Fault
}

// New returns a Checker for a new connection.
func New() *Checker {
	return &Checker{
		calls:     map[End]*calls{Client: newCalls(), Agent: newCalls()},
		caps:      map[End][]byte{},
		sessions:  map[string]*session{},
		terminals: map[string]*terminal{},
	}
}

// call is a request in flight.
type call struct {
	seq       int64
	method    string
	row       *wire.Method // nil for an extension, and for what was no valid request
	session   string       // that the params name
	cancelled bool         // session/cancel came after it
	excused   bool         // its response may be missing
}

// calls are the requests that one end has sent.
type calls struct {
	open     map[string]*call // by id
	answered map[string]bool
	order    []string // of answered, the oldest first
}

func newCalls() *calls { return &calls{open: map[string]*call{}, answered: map[string]bool{}} }

func (c *calls) settle(key string) {
	delete(c.open, key)
	if !c.answered[key] {
		c.answered[key] = true
		c.order = append(c.order, key)
	}
	if len(c.order) > answeredAtMost {
		delete(c.answered, c.order[0])
		c.order = c.order[1:]
	}
}

func (e End) peer() End {
	if e == Client {
		return Agent
	}
	return Client
}

func (c *Checker) fault(r rule, format string, args ...any) {
	c.faultAt(c.at, c.from, r, format, args...)
}

func (c *Checker) faultAt(seq int64, by End, r rule, format string, args ...any) {
	c.found = append(c.found, Fault{Rule: r.id, Tier: r.tier, Text: fmt.Sprintf(format, args...), Fact: fmt.Sprintf("%s https://agentclientprotocol.com/protocol/v%d/%s", r.fact, max(c.version, 1), r.page), Seq: seq, By: by, Kind: r.id})
}

// Feed checks a message, which is a line without its end, and returns the faults that it shows. seq
// is the number of the message, for [Fault.Seq]. Feed does not keep raw.
func (c *Checker) Feed(seq int64, from End, raw []byte) []Fault {
	c.at, c.from, c.found = seq, from, nil
	if !utf8.Valid(raw) {
		c.fault(badEncoding, "The message is not UTF-8.")
	}
	e := envelope.Parse(raw)
	switch e.Kind {
	case envelope.KindNotJSON:
		c.fault(notMessage, "The line is not JSON.")
	case envelope.KindBadRequest:
		c.fault(notMessage, "The message is not a valid %s.", strings.TrimSuffix("request: "+e.Reason, ": "))
		if key := envelope.IDKey(string(e.ID)); e.ID != nil && c.calls[from].open[key] == nil {
			c.calls[from].open[key] = &call{seq: seq, method: string(e.Method), excused: true}
		}
	case envelope.KindBadResponse:
		c.fault(notMessage, "The message is not a valid %s.", strings.TrimSuffix("response: "+e.Reason, ": "))
		c.calls[from.peer()].settle(envelope.IDKey(string(e.ID)))
	case envelope.KindRequest:
		c.request(&e)
	case envelope.KindNotification:
		c.notification(&e)
	case envelope.KindResponse, envelope.KindErrorResponse:
		c.response(&e)
	}
	return c.found
}

// Gap tells the Checker that messages are missing here.
func (c *Checker) Gap() {
	c.blind = true
	for _, sent := range c.calls {
		for _, one := range sent.open {
			one.excused = true
		}
	}
	for _, s := range c.sessions {
		clear(s.tools)
		clear(s.past)
		clear(s.announced)
		clear(s.fresh)
		clear(s.former)
		s.reports = false
	}
}

// End returns the faults that show when no message follows: requests without a response, and tool
// calls that are open.
func (c *Checker) End() []Fault {
	c.found = nil
	for _, from := range []End{Client, Agent} {
		for _, one := range c.calls[from].open {
			if !one.excused {
				c.faultAt(one.seq, from.peer(), unanswered, "The recording has no response to %.80q.", one.method)
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.sessions)) {
		if s := c.sessions[id]; s.busy() {
			s.reportOpen(c, 0, "The recording ended")
		}
	}
	slices.SortStableFunc(c.found, func(a, b Fault) int { return cmp.Compare(a.Seq, b.Seq) })
	return c.found
}

func (c *Checker) request(e *envelope.Envelope) {
	method, sent := string(e.Method), c.calls[c.from]
	one := &call{seq: c.at, method: method, session: envelope.SessionID(e.Params)}
	if method == "initialize" && c.from == Client {
		c.initialize(e)
	} else {
		c.worked = c.worked || c.from == Client
		if c.version == 0 && c.initializing == 0 && !c.blind {
			c.fault(beforeInit, "%.80q was sent before initialize.", method)
		}
	}
	if one.row = c.row(method, false); one.row != nil {
		c.params(one.row, e.Params)
	}
	if (c.version == 2 || c.version == 0 && c.asked == 2) && !strictID(e.ID) {
		c.fault(badID, "The id of %.80q must be a string or an integer.", method)
		one.excused = true // the error has the id null
	}
	key := envelope.IDKey(string(e.ID))
	if sent.open[key] != nil {
		c.fault(usedTwice, "The id %.80s belongs to a request that is in flight.", e.ID)
		return
	}
	if len(sent.open) == callsAtMost {
		c.blind = true
		return
	}
	delete(sent.answered, key) // an id may be used again
	sent.open[key] = one
	c.asking(one, e.Params)
}

func strictID(id []byte) bool {
	return len(id) > 0 && (id[0] == '"' || string(id) != "null" && !slices.ContainsFunc(id, func(b byte) bool { return b == '.' || b == 'e' || b == 'E' }))
}

func (c *Checker) notification(e *envelope.Envelope) {
	if row := c.row(string(e.Method), true); row != nil { // others, such as $/cancel_request, may be ignored
		c.params(row, e.Params)
		c.told(row.Name, e.Params)
	}
}

func (c *Checker) response(e *envelope.Envelope) {
	peer := c.from.peer()
	sent, key := c.calls[peer], envelope.IDKey(string(e.ID))
	one := sent.open[key]
	switch {
	case one != nil:
		sent.settle(key)
	case string(e.ID) == "null" && e.Kind == envelope.KindErrorResponse:
		c.errorObject(e.Error) // the answer to what was no message
		return
	case sent.answered[key]:
		c.fault(answeredTwice, "The request with the id %.80s was already answered.", e.ID)
		return
	default:
		if !c.blind {
			c.fault(unknownID, "The %s has sent no request with the id %.80s.", peer, e.ID)
		}
		return
	}
	if one.method == "initialize" && peer == Client && !one.excused {
		c.initialized(e)
	}
	if e.Kind == envelope.KindErrorResponse {
		c.errorObject(e.Error)
	} else if one.row != nil {
		c.result(one.row, e.Result)
	}
	c.answered(one, e)
}
