// Package defect makes peers wrong on purpose, to show that the checks find what they are for. A
// defect changes the messages between a check and a peer that is right, whoever has written it.
package defect

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/acpkit/go-sdk/acp/acptest/internal/check"
)

// Defect is one way of being wrong.
type Defect struct {
	Name string
	Does string
	In   check.Versions // 0 means both
	// New returns the functions that handle the messages of one connection, each of which may be
	// nil: it then passes them on. They are called by one goroutine at a time.
	New maker
	// Deaf says that the peer does not learn of the end of its input, Leaves that processes are left
	// after its end, and Zombies that it waits for none: these are no messages.
	Deaf, Leaves, Zombies bool
	// Own says that the defect changes texts which only the reference peer sends.
	Own bool
	// Finds has the verdict of each check that is not PASS or SKIP because of the defect. An id
	// that ends with * stands for all others that begin so. An id behind "v1 " or "v2 " is for that version alone.
	Finds map[string]check.Verdict
}

// Message is a message on its way, whose members may be changed.
type Message struct {
	Raw []byte
	// Object has the members of the message; it is nil if Raw is not a JSON object.
	Object map[string]json.RawMessage
	// Method is the method of a request or a notification, or the one that a response belongs to.
	Method   string
	Response bool

	changed bool
}

// Set replaces a member.
func (m *Message) Set(name, value string) {
	m.Object[name], m.changed = json.RawMessage(value), true
}

// Wire is the connection between a check and a peer.
type Wire struct {
	link check.Link
	mu   sync.Mutex // held while a message is handled

	methods map[string]string // of requests in flight of each end, by their ids
	out     chan []byte       // to the check
	over    atomic.Bool       // a line to the check was lost
	ended   chan struct{}     // closed when the peer has
	done    chan struct{}

	prompts map[string]string
	log     []*Message // what the check has sent, if the defect notes it
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

// Wrap returns a target whose connections have a defect. The target must be of the kind
// [check.Bytes]. The prompts are those of the checks.
func Wrap(target check.Target, d *Defect, prompts map[string]string) check.Target {
	if d.New == nil {
		d = new(*d)
		d.New = func(*Wire) (toPeer, fromPeer func(*Message)) { return nil, nil }
	}
	open := target.Open
	target.Open = func(ctx context.Context, cwd string) (check.Link, error) {
		link, err := open(ctx, cwd)
		if err != nil {
			return nil, err
		}
		w := &Wire{link: link, prompts: prompts, methods: map[string]string{}, out: make(chan []byte, 1), ended: make(chan struct{}), done: make(chan struct{})}
		toPeer, fromPeer := d.New(w)
		if toPeer == nil {
			toPeer = w.ToPeer
		}
		if fromPeer == nil {
			fromPeer = w.ToCheck
		}
		go w.pump(fromPeer) // ends with the link
		return &wrapped{Link: link, d: d, w: w, toPeer: toPeer}, nil
	}
	return target
}

func (w *Wire) pump(fromPeer func(*Message)) {
	defer close(w.ended)
	for {
		line, err := w.link.Read()
		if err != nil {
			return
		}
		w.handle(line, "peer", "check", fromPeer)
	}
}

// handle passes a message of one end to a function.
func (w *Wire) handle(line []byte, from, to string, f func(*Message)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := &Message{Raw: bytes.Clone(line)}
	if json.Unmarshal(line, &m.Object) == nil && m.Object != nil {
		id := string(m.Object["id"])
		if json.Unmarshal(m.Object["method"], &m.Method) == nil && m.Method != "" {
			w.methods[from+id] = m.Method
		} else {
			m.Method, m.Response = w.methods[to+id], true
		}
	}
	f(m)
}

// wrapped is the link of a check to a peer with a defect.
type wrapped struct {
	check.Link
	d      *Defect
	w      *Wire
	toPeer func(*Message)
	close  sync.Once
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
	l.w.handle(bytes.TrimSuffix(b, []byte("\n")), "check", "peer", l.toPeer)
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

// Finding returns the verdict that a check must come to because of d, or "" for any that is not
// FAIL or INCONCLUSIVE.
func (d *Defect) Finding(id string, version int) check.Verdict {
	for _, key := range []string{fmt.Sprintf("v%d %s", version, id), id} {
		if v, ok := d.Finds[key]; ok {
			return v
		}
	}
	for n := len(id); n >= 0; n-- {
		if v, ok := d.Finds[id[:n]+"*"]; ok {
			return v
		}
	}
	return ""
}
