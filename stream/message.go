package stream

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/acpkit/go-sdk/internal/envelope"
)

// Kind is the kind of a [Message].
type Kind uint8

const (
	// KindInvalid is not a message of JSON-RPC. A stream passes it on; the connection
	// that reads it refuses it.
	KindInvalid Kind = iota
	// KindRequest is a request, which requires a response.
	KindRequest
	// KindNotification is a notification, which has no response.
	KindNotification
	// KindResponse is a response with a result.
	KindResponse
	// KindErrorResponse is a response with an error.
	KindErrorResponse
)

// Message is one JSON-RPC message together with what a transport needs to route it.
// [ParseMessage] makes one from bytes. A connection makes one from what it sends,
// without parsing it.
type Message struct {
	// Data is the whole message, as Read returns it and Write takes it.
	Data []byte

	Kind Kind

	// ID is the raw JSON of the id: a string, a number or null. It is nil if the
	// message has no id that may be echoed.
	ID json.RawMessage

	// Method is the method of a request or a notification.
	Method string

	// SessionID is the member sessionId of the params, or of the result. It is empty
	// if there is none.
	SessionID string

	// CancelID is the id of the request that a "$/cancel_request" cancels, as raw
	// JSON. It is nil in other messages.
	CancelID json.RawMessage

	*parsed // nil if the message was not made by ParseMessage
}

// parsed lets a connection use the envelope that was parsed here.
type parsed = envelope.Parsed

// IsResponse reports whether the message is a response, with a result or an error.
func (m *Message) IsResponse() bool { return m.Kind == KindResponse || m.Kind == KindErrorResponse }

// methodCancel is the notification that cancels one request, in either direction.
const methodCancel = "$/cancel_request"

// ParseMessage reads the envelope of data. The result refers to data, which must not be
// modified afterwards.
func ParseMessage(data []byte) Message {
	p, e := envelope.ParseOnce(data)
	m := Message{Data: data, ID: e.ID, Method: string(e.Method), parsed: p}
	switch e.Kind {
	case envelope.KindRequest:
		m.Kind, m.SessionID = KindRequest, envelope.SessionID(e.Params)
	case envelope.KindNotification:
		m.Kind, m.SessionID = KindNotification, envelope.SessionID(e.Params)
		if m.Method == methodCancel {
			m.CancelID = envelope.Member(e.Params, "requestId")
		}
	case envelope.KindResponse:
		m.Kind, m.SessionID = KindResponse, envelope.SessionID(e.Result)
	case envelope.KindErrorResponse:
		m.Kind = KindErrorResponse
	}
	return m
}

// LostError is returned by Read or ReadMessage in place of messages that will not arrive: a message
// that Write accepted and that could not be delivered, or all messages in flight of one session.
// Reading goes on. The connection as a whole is not affected.
type LostError struct {
	// ID is the id of a request that was lost, as it was written. The call fails with
	// Err. It is nil if a session was lost.
	ID json.RawMessage

	// SessionID is the session that was lost if ID is nil. All its calls and turns in
	// flight fail with Err, and so do new ones until the session is loaded or resumed.
	// Only a stream with Features.WriteMessage can lose a session: for other streams a
	// connection does not know which calls belong to which session.
	SessionID string

	// Err is the reason.
	Err error
}

func (e *LostError) Error() string {
	if e.ID != nil {
		return fmt.Sprintf("stream: request was lost: %v", e.Err)
	}
	return fmt.Sprintf("stream: session was lost: %v", e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }

// Failure returns the kind of the error, and whether the call may be repeated, for package
// rpcerr/classify. Both come from Err if it has this method too; otherwise the call must not be
// repeated.
func (e *LostError) Failure() (kind string, retryable bool) {
	var reason interface {
		error
		Failure() (kind string, retryable bool)
	}
	if errors.As(e.Err, &reason) {
		return reason.Failure()
	}
	return "service_unavailable", false
}
