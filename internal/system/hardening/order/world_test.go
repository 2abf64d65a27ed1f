package order_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/stream"
)

// world is one conversation and its record.
type world struct {
	mu    sync.Mutex // guards all
	errs  []error
	agent *end
	other *end // the client

	proxied bool

	handled map[int]bool // updates whose handlers have returned
	prompts map[int]bool // those whose handlers were called
	resumed map[int]bool // sessions whose history the client has requested
	cancels map[int]int  // how many cancels of each session reached the agent's handler
}

// end is one side and its wire.
type end struct {
	arrived, left []entry
	begun         []int         // notifications, as their handlers were called
	busy          int           // handlers of notifications that run
	sent          map[int][]int // what the handler of each request had sent when it returned
}

// entry is one message on the wire.
type entry struct {
	kind    byte   // request, note, answer: 'r', 'n', 'a'
	id      string // of a request or an answer
	uid     int
	method  string
	session int
	target  string // of a $/cancel_request: the id that it names
	lane    string // the session as it is named, "" for none; of an answer that of its request
}

func newWorld() *world {
	return &world{
		agent: &end{sent: map[int][]int{}}, other: &end{sent: map[int][]int{}},
		handled: map[int]bool{}, prompts: map[int]bool{}, cancels: map[int]int{}, resumed: map[int]bool{},
	}
}

func (w *world) fail(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.errs = append(w.errs, fmt.Errorf(format, args...))
}

// wire records what passes at one end.
type wire struct {
	stream.Stream
	w *world
	e *end
}

func (s *wire) Read() ([]byte, error) {
	b, err := s.Stream.Read()
	if err == nil {
		e := parse(b)
		s.w.mu.Lock()
		s.e.arrived = append(s.e.arrived, e)
		s.w.mu.Unlock()
	}
	return b, err
}

func (s *wire) Write(b []byte) error {
	e := parse(b)
	s.w.mu.Lock()
	s.e.left = append(s.e.left, e)
	s.w.mu.Unlock()
	return s.Stream.Write(b)
}

func parse(b []byte) entry {
	var m struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
	}
	_ = json.Unmarshal(b, &m)
	type carrier struct {
		Meta struct{ Act act } `json:"_meta"`
	}
	var p struct {
		carrier
		UID       int
		SessionID string
		Prompt    []carrier
		RequestID json.RawMessage
	}
	_ = json.Unmarshal(m.Params, &p)
	e := entry{id: string(m.ID), method: m.Method, uid: p.UID + p.Meta.Act.UID, session: sessionNumber(p.SessionID)}
	if len(p.Prompt) > 0 {
		e.uid = p.Prompt[0].Meta.Act.UID
	}
	e.lane, e.target = p.SessionID, string(p.RequestID)
	switch {
	case m.Method == "":
		e.kind = 'a'
	case m.ID == nil:
		e.kind = 'n'
	default:
		e.kind = 'r'
	}
	return e
}

// check compares the conversation with the promises.
func (w *world) check() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	errs := w.errs
	for name, e := range map[string]*end{"agent": w.agent, "client": w.other} {
		if err := e.check(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	if !w.proxied { // a proxy has ids of its own, and may pass a notification before a request
		if err := w.carried(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// carried checks that what lies between the ends keeps the order that every transport
// promises: that of each session from the agent, and from the client that of requests and
// notifications, and of notifications and answers.
func (w *world) carried() error {
	label := func(answers, requests []entry) (all []entry) {
		lanes := map[string]string{}
		for _, m := range requests {
			if m.kind == 'r' {
				lanes[m.id] = m.lane
			}
		}
		for _, m := range answers {
			if m.kind == 'a' {
				m.lane = lanes[m.id]
			}
			all = append(all, m)
		}
		return all
	}
	left, arrived := label(w.agent.left, w.agent.arrived), label(w.other.arrived, w.other.left)
	lanes := map[string]bool{}
	for _, m := range left {
		lanes[m.lane] = true
	}
	for lane := range lanes {
		of := func(m entry) bool { return m.lane == lane && m.method != "$/cancel_request" }
		if err := inOrder(left, arrived, of); err != nil {
			return fmt.Errorf("from the agent, session %q: %w", lane, err)
		}
	}
	if err := inOrder(w.other.left, w.agent.arrived, func(m entry) bool { return m.kind != 'a' }); err != nil {
		return fmt.Errorf("from the client: %w", err)
	}
	notes := map[string]int{} // how many arrived before each answer
	seen := 0
	for _, m := range w.agent.arrived {
		if m.kind == 'n' {
			seen++
		}
		if m.kind == 'a' {
			notes[m.id] = seen
		}
	}
	sent := 0
	for _, m := range w.other.left {
		if m.kind == 'n' {
			sent++
		}
		if m.kind == 'a' && notes[m.id] < sent {
			return fmt.Errorf("from the client: the answer to %s overtook a notification", m.id)
		}
	}
	return nil
}

// inOrder checks that what left has arrived in the same order.
func inOrder(left, arrived []entry, of func(entry) bool) error {
	names := func(all []entry) (s []string) {
		for _, m := range all {
			if of(m) {
				s = append(s, fmt.Sprintf("%c %s %s %d", m.kind, m.id, m.method, m.uid))
			}
		}
		return s
	}
	a, b := names(left), names(arrived)
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Errorf("message %d left as %q and arrived as %q", i, a[i], b[i])
		}
	}
	if len(a) != len(b) {
		return fmt.Errorf("%d messages left and %d arrived", len(a), len(b))
	}
	return nil
}

func (e *end) check() error {
	if err := answers(e.arrived, e.left); err != nil {
		return fmt.Errorf("answering: %w", err)
	}
	if err := answers(e.left, e.arrived); err != nil {
		return fmt.Errorf("being answered: %w", err)
	}
	// Notifications are handled in the order of their arrival.
	var notes []int
	for _, m := range e.arrived {
		if m.kind == 'n' && m.uid != 0 {
			notes = append(notes, m.uid)
		}
	}
	if fmt.Sprint(notes) != fmt.Sprint(e.begun) {
		return fmt.Errorf("notifications %v were handled as %v", notes, e.begun)
	}
	// What a handler sent before it returned is ahead of its answer.
	uids := map[string]int{}
	for _, m := range e.arrived {
		if m.kind == 'r' {
			uids[m.id] = m.uid
		}
	}
	out := map[int]bool{}
	for _, m := range e.left {
		if m.kind != 'a' {
			out[m.uid] = true
			continue
		}
		for _, uid := range e.sent[uids[m.id]] {
			if !out[uid] {
				return fmt.Errorf("message %d is behind the answer of request %d, whose handler sent it", uid, uids[m.id])
			}
		}
	}
	return nil
}

// answers checks that every request has exactly one answer, behind it.
func answers(requests, answers []entry) error {
	count := map[string]int{}
	for _, m := range answers {
		if m.kind == 'a' {
			count[m.id]++
		}
	}
	for _, m := range requests {
		if m.kind != 'r' {
			continue
		}
		if count[m.id] != 1 {
			return fmt.Errorf("request %s (%s %d) has %d answers", m.id, m.method, m.uid, count[m.id])
		}
		delete(count, m.id)
	}
	for id := range count {
		return fmt.Errorf("an answer to %s, which nobody asked for", id)
	}
	return nil
}

func sessionID(n int) acp.SessionID { return acp.SessionID(fmt.Sprint("s", n)) }

func sessionNumber(id string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(id, "s"))
	return n
}
