package streamhttp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"
)

const (
	// freeBody is the longest body that is not counted, so that a cancel, or any other short
	// message, is never refused because of the bytes of others. The server holds as much for every
	// open request anyway.
	freeBody = 4 << 10
	// maxReading is how many bodies of one sender are read at a time, however short they are:
	// each takes a goroutine and its buffers, and HTTP/2 has thousands on one network
	// connection. A client of this package posts at most half as many.
	maxReading = 2 * maxFlying
	// lateTimeout is how long a body beyond maxReading may take. It is read only while the agent
	// waits for a response, because it may be that response. No more than maxReading of them are
	// read at a time.
	lateTimeout = 5 * time.Second
)

var errCrowded = errors.New("streamhttp: too many messages at once")

// bodies counts the bytes of bodies that are being read, or wait for room in the queue of their
// connection.
type bodies struct {
	requests  int64 // maximum bytes of one sender, without responses
	responses int64 // the same for responses

	mu      sync.Mutex // guards all below
	held    map[sender]int64
	reading map[sender]int
}

// sender identifies the budget of a body. Responses have a budget of their own, because the
// requests that fill the other budget may be waiting for them.
type sender struct {
	conn     *Conn  // nil if the request names no connection; owner then identifies the sender
	owner    string // "" if there is a conn
	response bool
}

func newBodies(o *HandlerOptions) *bodies {
	// One message always fits, and so do the responses that a client of this package posts at once.
	return &bodies{
		requests: max(o.buffered, int64(o.MaxMessage)), responses: max(maxBuffered, int64(o.MaxMessage)),
		held: map[sender]int64{}, reading: map[sender]int{},
	}
}

// begin counts a body that is about to be read. It reports whether its sender may have one more.
func (b *bodies) begin(s sender) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reading[s] >= maxReading {
		return false
	}
	b.reading[s]++
	return true
}

// end is called when a body has been read.
func (b *bodies) end(s sender) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.reading[s]--; b.reading[s] == 0 {
		delete(b.reading, s)
	}
}

// add counts n more bytes for a sender. It reports whether they fit.
func (b *bodies) add(s sender, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	most := b.requests
	if s.response {
		most = b.responses
	}
	if b.held[s]+n > most {
		return false
	}
	b.held[s] += n
	return true
}

func (b *bodies) remove(s sender, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held[s] -= n; b.held[s] <= 0 {
		delete(b.held, s)
	}
}

// body is the body of a POST, with the bytes that are counted for it.
type body struct {
	in *bodies
	by sender
	n  int64 // the bytes that are counted

	late bool // too many are being read: only a response is accepted
}

// begin counts the body as one that is being read, until end is called. It reports false if the
// body must not be read.
func (b *body) begin() (end func(), ok bool) {
	by := b.by
	if ok = b.in.begin(by); !ok && by.conn != nil && by.conn.asks() {
		by.response, b.late = true, true
		ok = b.in.begin(by)
	}
	return func() { b.in.end(by) }, ok
}

// read reads the whole body; length is -1 if it is not known. The caller calls release.
func (b *body) read(r io.Reader, length int64) ([]byte, error) {
	if length >= 0 && length <= freeBody {
		return io.ReadAll(r)
	}
	beginning := bufio.NewReaderSize(r, freeBody)
	start, err := beginning.Peek(freeBody)
	if err != nil { // it is short, or cannot be read
		return io.ReadAll(beginning)
	}
	b.by.response = b.by.conn != nil && b.by.conn.asks() && beginsResponse(start)
	if length < 0 {
		return io.ReadAll(&countedReader{beginning, b})
	}
	if err := b.count(length); err != nil {
		return nil, err
	}
	return io.ReadAll(beginning)
}

func (b *body) count(n int64) error {
	if !b.in.add(b.by, n) {
		return errCrowded
	}
	b.n += n
	return nil
}

// isRequest counts the body as a request, although it began like a response.
func (b *body) isRequest() error {
	if !b.by.response || b.n == 0 {
		return nil
	}
	n := b.n
	b.release()
	b.by.response = false
	return b.count(n)
}

// release returns the counted bytes to the budget. Only the first call has an effect.
func (b *body) release() {
	if b.n > 0 {
		b.in.remove(b.by, b.n)
		b.n = 0
	}
}

// countedReader counts a body whose length is not known.
type countedReader struct {
	r io.Reader
	b *body
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if crowded := c.b.count(int64(n)); crowded != nil {
		return n, crowded
	}
	return n, err
}

// beginsResponse reports whether the first bytes of a message look like those of a response.
func beginsResponse(start []byte) bool {
	d := json.NewDecoder(bytes.NewReader(start))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for {
		switch key, _ := d.Token(); key { // nil if it is cut, or the message has ended
		case "result", "error":
			return true
		case "method", nil, json.Delim('}'):
			return false
		}
		var skipped json.RawMessage
		if d.Decode(&skipped) != nil {
			return false
		}
	}
}
