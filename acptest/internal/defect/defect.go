// Package defect makes peers wrong on purpose, to show that the checks find what they are for. A
// defect changes the messages between a check and a peer that is right, whoever has written it.
package defect

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// Defect is one way of being wrong.
type Defect struct {
	Name string
	Does string
	In   check.Versions // 0 means both
	// ToPeer handles the messages of the check, and ToCheck those of the peer. A handler that is nil
	// passes them on. They are called by one goroutine at a time.
	ToPeer, ToCheck handler
	// Early is a line that the peer sends at once.
	Early string
	// Deaf says that the peer does not learn of the end of its input, Leaves that processes are left
	// after its end, and Zombies that it waits for none: these are no messages.
	Deaf, Leaves, Zombies bool
	// Own says that the defect changes what only the reference peer sends, or does not advertise.
	Own bool
	// Finds has the ids of the checks that fail because of the defect, and no others. An id behind "v1:" or
	// "v2:" is for that version alone.
	Finds string
}

// Message is a message on its way, whose members may be changed.
type Message struct {
	Raw []byte
	// Object has the members of the message; it is nil if Raw is not a JSON object.
	Object map[string]json.RawMessage
	// Method is the method of a request or a notification, or the one that a response belongs to.
	Method   string
	Response bool

	sent     bool // by the check
	changed  bool
	request  *Message // that a response belongs to
	answered bool     // a request, by a response
}

// Set replaces a member.
func (m *Message) Set(name, value string) {
	m.Object[name], m.changed = json.RawMessage(value), true
}

// Wire is the connection between a check and a peer.
type Wire struct {
	link check.Link
	mu   sync.Mutex // held while a message is handled

	requests map[string]*Message // of each end, by their ids
	out      chan []byte         // to the check
	over     atomic.Bool         // a line to the check was lost
	ended    chan struct{}       // closed when the peer has
	done     chan struct{}

	prompts map[string]string
	log     []*Message // what the check has sent
	held    []*Message // what a handler keeps
	dead    bool       // a handler passes nothing on any more
	added   int        // lines that precedes and follows have sent
}

// pass sends a message on.
func (w *Wire) pass(m *Message) {
	if m.sent {
		w.ToPeer(m)
	} else {
		w.ToCheck(m)
	}
}

// later calls a function a little later.
func (w *Wire) later(f func()) {
	time.AfterFunc(50*time.Millisecond, func() { // ends at once
		w.mu.Lock()
		defer w.mu.Unlock()
		f()
	})
}

// ToCheck sends a message to the check, as if it came from the peer.
func (w *Wire) ToCheck(m *Message) {
	w.LineToCheck(m.encode())
}

// LineToCheck sends a line to the check. At the end of the connection all further lines are lost,
// so that none arrives behind one that is missing.
func (w *Wire) LineToCheck(line []byte) {
	if w.over.Load() {
		return
	}
	select {
	case w.out <- line:
		return
	case <-w.ended: // nobody reads any more
	case <-w.done:
	}
	w.over.Store(true)
}

// ToPeer sends a message to the peer, as if it came from the check.
func (w *Wire) ToPeer(m *Message) {
	_ = w.link.Write(append(m.encode(), '\n')) // a peer that is gone is noticed by reading
}

func (m *Message) encode() []byte {
	if !m.changed {
		return m.Raw
	}
	b, err := json.Marshal(m.Object)
	if err != nil {
		return m.Raw // a defect that writes what is not JSON uses LineToCheck
	}
	return b
}

// waiting is how many lines may wait to be read by the check. Two wires, of which one stands before the
// other, would wait for each other if a check writes while it has lines to read.
const waiting = 1 << 12

// Wrap returns a target whose connections have a defect. The target must be of the kind
// [check.Bytes]. The prompts are those of the checks.
func Wrap(target check.Target, d *Defect, prompts map[string]string) check.Target {
	open := target.Open
	target.Open = func(ctx context.Context, cwd string) (check.Link, error) {
		link, err := open(ctx, cwd)
		if err != nil {
			return nil, err
		}
		w := &Wire{link: link, prompts: prompts, requests: map[string]*Message{}, out: make(chan []byte, waiting), ended: make(chan struct{}), done: make(chan struct{})}
		if d.Early != "" {
			w.LineToCheck([]byte(d.Early))
		}
		go w.pump(d) // ends with the link
		return &wrapped{Link: link, d: d, w: w}, nil
	}
	return target
}

func (w *Wire) pump(d *Defect) {
	defer close(w.ended)
	for {
		line, err := w.link.Read()
		if err != nil {
			return
		}
		w.handle(&Message{Raw: bytes.Clone(line)}, d.ToCheck)
	}
}

// handle reads a message, and gives it to a handler.
func (w *Wire) handle(m *Message, f handler) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if json.Unmarshal(m.Raw, &m.Object) == nil && m.Object != nil {
		key := func(sent bool) string { return fmt.Sprint(sent, string(m.Object["id"])) }
		if json.Unmarshal(m.Object["method"], &m.Method) == nil && m.Method != "" {
			w.requests[key(m.sent)] = m
		} else if m.Response = true; w.requests[key(!m.sent)] != nil {
			m.request = w.requests[key(!m.sent)]
			m.Method, m.request.answered = m.request.Method, true
		}
	}
	if f == nil {
		f = (*Wire).pass
	}
	f(w, m)
	if m.sent {
		w.log = append(w.log, m)
	}
}

// wrapped is the link of a check to a peer with a defect.
type wrapped struct {
	check.Link
	d     *Defect
	w     *Wire
	close sync.Once
}

func (l *wrapped) Read() ([]byte, error) {
	select {
	case line := <-l.w.out:
		return line, nil
	case <-l.w.ended:
	}
	select {
	case line := <-l.w.out:
		return line, nil
	default:
		return nil, io.EOF
	}
}

func (l *wrapped) Write(b []byte) error {
	l.w.handle(&Message{Raw: bytes.Clone(bytes.TrimSuffix(b, []byte("\n"))), sent: true}, l.d.ToPeer)
	return nil
}

func (l *wrapped) CloseInput() error {
	if l.d.Deaf {
		return nil
	}
	return l.Link.CloseInput()
}

func (l *wrapped) Left() (left, known bool) {
	select {
	case <-l.Done():
		return l.d.Leaves, true
	default:
		return l.d.Zombies, true
	}
}

func (l *wrapped) Close() error {
	l.close.Do(func() { close(l.w.done) })
	return l.Link.Close()
}

// Found reports whether a check must fail because of d.
func (d *Defect) Found(id string, version int) bool {
	for name := range strings.FieldsSeq(d.Finds) {
		if of, rest, ok := strings.Cut(name, ":"); ok {
			if of != fmt.Sprint("v", version) {
				continue
			}
			name = rest
		}
		if name == id {
			return true
		}
	}
	return false
}
