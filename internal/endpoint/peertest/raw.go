// Package peertest plays the other end of a connection in tests: by hand, message by
// message, or as an agent or a client of which only the interesting methods are
// written.
package peertest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/acpkit/go-sdk/stream"
)

// Raw is one end of a pipe, played by the test. Several goroutines may play it.
type Raw struct {
	t testing.TB
	s stream.Stream

	reading, writing sync.Mutex // a stream has one reader and one writer at a time
}

// Message is any message, taken apart.
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
}

// Pipe returns the stream for the connection under test, and its other end. The
// latter is closed when the test ends.
func Pipe(t testing.TB) (stream.Stream, *Raw) {
	t.Helper()
	ours, theirs := stream.Pipe()
	r := &Raw{t: t, s: theirs}
	t.Cleanup(r.Close)
	return ours, r
}

// Close ends the conversation.
func (r *Raw) Close() { r.s.Close() }

// Send sends one message.
func (r *Raw) Send(format string, args ...any) {
	r.t.Helper()
	r.writing.Lock()
	defer r.writing.Unlock()
	if err := r.s.Write(fmt.Appendf(nil, format, args...)); err != nil {
		r.t.Errorf("peer cannot send: %v", err)
	}
}

// Recv waits for the next message; false at the end.
func (r *Raw) Recv() (Message, bool) {
	r.t.Helper()
	var m Message
	r.reading.Lock()
	defer r.reading.Unlock()
	b, err := r.s.Read()
	if errors.Is(err, io.EOF) || errors.Is(err, stream.ErrClosed) {
		return m, false
	}
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		r.t.Errorf("peer cannot receive: %v: %s", err, b)
		return m, false
	}
	return m, true
}

// Expect waits for the next message, which must be a call of method.
func (r *Raw) Expect(method string) Message {
	r.t.Helper()
	m, ok := r.Recv()
	if !ok || m.Method != method {
		r.t.Errorf("peer got %+v (%v), want %s", m, ok, method)
	}
	return m
}

// Answer answers a request.
func (r *Raw) Answer(m Message, result string) {
	r.t.Helper()
	r.Send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// Fail answers a request with an error.
func (r *Raw) Fail(m Message, code int, text string) {
	r.t.Helper()
	r.Send(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, m.ID, code, text)
}

// Update sends an update of a session, a piece of text that needs no escaping.
func (r *Raw) Update(session, text string) {
	r.t.Helper()
	r.Send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":`+
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}`, session, text)
}

// Call sends a request with the id, of any JSON.
func (r *Raw) Call(id, method, params string) {
	r.t.Helper()
	r.Send(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
}

// Notify sends a notification.
func (r *Raw) Notify(method, params string) {
	r.t.Helper()
	r.Send(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params)
}

// Initialize plays the agent's part of the handshake; capabilities is an object.
func (r *Raw) Initialize(capabilities string) Message {
	r.t.Helper()
	m := r.Expect("initialize")
	r.Answer(m, `{"protocolVersion":1,"agentCapabilities":`+capabilities+`}`)
	return m
}
