// Package rawpeer lets a test play one end of a connection: the test writes the messages of the
// peer and states which messages the peer must receive. It knows no version of the protocol. A
// wrong message fails the test and closes the connection, so that nothing waits for it.
package rawpeer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/acpkit/go-sdk/stream"
)

// Peer is the end of a connection that the test plays. It is safe for concurrent use.
type Peer struct {
	// Bytes is what a peer made by [Lines] writes to, for input that is not a line.
	Bytes io.WriteCloser

	// Do makes a call of the end under test, for dialogues, and returns its outcome.
	Do func(call string) (outcome string)

	t testing.TB
	s stream.Stream

	// A stream has one reader and one writer at a time. These channels are used in place of
	// mutexes, because goroutines that wait for a channel are durably blocked in a synctest bubble.
	reading, writing chan struct{}
}

// New returns the peer at one end of a stream, which is closed when the test ends.
func New(t testing.TB, s stream.Stream) *Peer {
	p := &Peer{t: t, s: s, reading: make(chan struct{}, 1), writing: make(chan struct{}, 1)}
	t.Cleanup(p.Close)
	return p
}

// Pipe returns the stream for the connection under test, and the peer at its other end.
func Pipe(t testing.TB) (stream.Stream, *Peer) {
	near, far := stream.Pipe()
	return near, New(t, far)
}

// Close ends the conversation. It may be called more than once.
func (p *Peer) Close() { p.s.Close() }

// fail reports an error and ends the conversation.
func (p *Peer) fail(format string, args ...any) {
	p.t.Helper()
	p.t.Errorf(format, args...)
	p.Close()
}

// Write sends one message unchanged. Unlike the other methods it returns the error if the
// connection has ended.
func (p *Peer) Write(msg []byte) error {
	p.writing <- struct{}{}
	defer func() { <-p.writing }()
	return p.s.Write(msg)
}

// Send sends one message. If its first quote is a single one, all single quotes are replaced by
// double quotes.
func (p *Peer) Send(format string, args ...any) {
	p.t.Helper()
	p.SendLines(quoted(fmt.Sprintf(format, args...)))
}

// SendLines sends messages unchanged.
func (p *Peer) SendLines(lines ...string) {
	p.t.Helper()
	for _, line := range lines {
		if err := p.Write([]byte(line)); err != nil {
			p.fail("the peer cannot send %.300s: %v", line, err)
			return
		}
	}
}

// SendBatch sends messages in one write.
func (p *Peer) SendBatch(lines ...string) {
	p.t.Helper()
	var batch [][]byte
	for _, line := range lines {
		batch = append(batch, []byte(line))
	}
	p.writing <- struct{}{}
	defer func() { <-p.writing }()
	if err := stream.FeaturesOf(p.s).WriteBatch(batch); err != nil {
		p.fail("the peer cannot send: %v", err)
	}
}

// Call sends a request. The id is any JSON.
func (p *Peer) Call(id, method, params string) {
	p.t.Helper()
	p.Send(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
}

// Notify sends a notification.
func (p *Peer) Notify(method, params string) {
	p.t.Helper()
	p.Send(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params)
}

// Answer sends the response to a request.
func (p *Peer) Answer(m Message, result string) {
	p.t.Helper()
	p.Send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// Fail sends an error as the response to a request.
func (p *Peer) Fail(m Message, code int, text string) {
	p.t.Helper()
	p.Send(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, m.ID, code, text)
}

// Update sends an update of a session with text, which must need no escaping.
func (p *Peer) Update(session, text string) {
	p.t.Helper()
	p.Notify("session/update", `{"sessionId":"`+session+`","update":`+
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"`+text+`"}}}`)
}

// Initialize handles initialize as an agent of version 1. capabilities is an object.
func (p *Peer) Initialize(capabilities string) Message {
	p.t.Helper()
	m := p.Expect("initialize")
	p.Answer(m, `{"protocolVersion":1,"agentCapabilities":`+capabilities+`}`)
	return m
}

// Recv waits for the next message. It returns false at the end of the connection.
func (p *Peer) Recv() (Message, bool) {
	p.t.Helper()
	p.reading <- struct{}{}
	defer func() { <-p.reading }()
	var m Message
	b, err := p.s.Read()
	if errors.Is(err, io.EOF) || errors.Is(err, stream.ErrClosed) {
		return m, false
	}
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		p.fail("the peer cannot receive %.300s: %v", b, err)
		return m, false
	}
	m.Raw = string(b)
	return m, true
}

// Next waits for the next message. The end of the connection fails the test.
func (p *Peer) Next() Message {
	p.t.Helper()
	m, ok := p.Recv()
	if !ok {
		p.fail("the connection has ended; want another message")
	}
	return m
}

// Expect waits for the next message, which must be a request or notification of method.
func (p *Peer) Expect(method string) Message {
	p.t.Helper()
	m := p.Next()
	if m.Method != method {
		p.fail("the peer got %.300s; want %s", m.Raw, method)
	}
	return m
}

// ExpectEnd waits for the end of the connection. A message before it fails the test.
func (p *Peer) ExpectEnd() {
	p.t.Helper()
	if m, ok := p.Recv(); ok {
		p.fail("the peer got %.300s; want the end of the connection", m.Raw)
	}
}

// ExpectJSON waits for messages that are equal to want as JSON, in any order. Quotes are as in
// [Peer.Send]. The random id of an internal error is replaced by 'ID'.
func (p *Peer) ExpectJSON(want ...string) {
	p.t.Helper()
	missing := map[string]int{}
	for _, w := range want {
		missing[p.canonical(quoted(w))]++
	}
	for range want {
		m := p.Next()
		if m.Raw == "" {
			return
		}
		got := p.canonical(m.Raw)
		if missing[got] == 0 {
			p.fail("the peer got %s; want one of %q", m.Raw, want)
			return
		}
		missing[got]--
	}
}

// canonical returns JSON with sorted members and without white space.
func (p *Peer) canonical(s string) string {
	p.t.Helper()
	var v any
	b := []byte(s)
	err := json.Unmarshal(b, &v)
	if err == nil {
		b, err = json.Marshal(v)
	}
	if err != nil {
		p.fail("%v: %s", err, s)
	}
	return NameErrorIDs(string(b))
}

// NameErrorIDs replaces the random id of every internal error by ID.
func NameErrorIDs(text string) string { return errorID.ReplaceAllString(text, `"errorId":"ID"`) }

var errorID = regexp.MustCompile(`"errorId":"[a-z2-7]{8}"`)

// quoted replaces single quotes by double quotes if the first quote is a single one.
func quoted(s string) string {
	if i := strings.IndexAny(s, `'"`); i < 0 || s[i] == '"' {
		return s
	}
	return strings.ReplaceAll(s, "'", `"`)
}

// Message holds the parts of any message.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`

	// Raw is the whole message as it arrived.
	Raw string `json:"-"`
}

// String returns a short form for tables: "ok 1", "-32600 null", "session/cancel".
func (m Message) String() string {
	switch {
	case m.Method != "":
		return m.Method
	case m.Error != nil:
		return fmt.Sprintf("%d %s", m.Error.Code, m.ID)
	}
	return fmt.Sprintf("ok %s", m.ID)
}

// Conn is the connection under test, in any version of the protocol.
type Conn interface {
	Start(context.Context) error
	Close() error
	Wait() error
}

// Start starts a connection and returns it. The connection ends with the test.
func Start[C Conn](t testing.TB, conn C) C {
	t.Helper()
	if err := conn.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		_ = conn.Wait() // a test that needs the error has checked it
	})
	return conn
}
