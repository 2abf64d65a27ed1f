package objectstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/stream"
)

// Of returns an ObjectStream over s, which it owns. Pass it to jsonrpc2.NewConn.
//
// The Conn of that library ends with the first message that it cannot read. Therefore ReadObject
// itself answers a line that is not JSON (-32700), a line that is not a message, such as a batch
// (-32600), and one that is too long (-32600), and goes on. A response that is too long, lost or malformed becomes an error
// response for the call that waits for it. The loss of a session is a final error.
//
// The library holds ids that are strings and integers from 0 to 2^63-1. Any other id of a request
// (null, -1, 1.5, 1e3, 2^64, a string with half of a surrogate pair) is a string for the library's
// Conn and handlers, "json:" and the id as it was written, and so is a string that begins with
// "json:". WriteObject turns it back, so that the peer reads its own id. The same is done with the
// id in a $/cancel_request of the peer. A response with an id that no call of the
// library can have belongs to no call.
//
// WriteObject may be called by several goroutines at once.
func Of(s stream.Stream) jsonrpc2.ObjectStream { return &adapter{s: s} }

// adapter is an ObjectStream over a stream.Stream.
type adapter struct {
	s  stream.Stream
	mu sync.Mutex // held while s.Write is called
}

func (a *adapter) Close() error { return a.s.Close() }

func (a *adapter) WriteObject(v any) error {
	msg, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if bytes.Contains(msg, []byte(`"`+mapped)) {
		if e := envelope.Parse(msg); e.Kind == envelope.KindResponse || e.Kind == envelope.KindErrorResponse {
			msg = withMember(msg, "id", unmap(e.ID))
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.s.Write(msg)
}

func (a *adapter) ReadObject(v any) error {
	for {
		msg, err := a.s.Read()
		var e envelope.Envelope
		if err != nil {
			msg, err = a.skipped(err)
		} else {
			msg = bytes.TrimPrefix(bytes.TrimSpace(msg), []byte("\xef\xbb\xbf")) // which Parse allows
			e = envelope.Parse(msg)
			msg, err = a.screen(msg, &e)
		}
		if err != nil {
			return err
		}
		if msg == nil {
			continue
		}
		if err := json.Unmarshal(msg, v); err == nil {
			return nil
		}
		// The library is stricter in places: it takes Method for method, for example.
		if reset := reflect.ValueOf(v); reset.Kind() == reflect.Pointer {
			reset.Elem().SetZero()
		}
		if responds(e.Kind) {
			if refused, err := json.Marshal(refusal(e.ID, "the response cannot be read")); err != nil || json.Unmarshal(refused, v) == nil {
				return err
			}
		} else if err := a.WriteObject(refusal(e.ID, "the message cannot be read")); err != nil {
			return err
		}
	}
}

// screen returns the message as the library can read it, or nil if it was answered or is dropped.
func (a *adapter) screen(msg []byte, e *envelope.Envelope) ([]byte, error) {
	switch {
	case e.Kind == envelope.KindBlank:
		return nil, nil
	case e.Kind == envelope.KindNotJSON:
		return nil, a.WriteObject(errorResponse(nil, jsonrpc2.CodeParseError, "Parse error"))
	case e.Kind == envelope.KindBadRequest:
		return nil, a.WriteObject(refusal(e.ID, e.Reason))
	case responds(e.Kind) && !ofLibrary(e.ID):
		return nil, nil
	case e.Kind == envelope.KindBadResponse:
		return json.Marshal(refusal(e.ID, e.Reason))
	case e.Kind == envelope.KindRequest && !held(e.ID):
		return withMember(msg, "id", mapID(e.ID)), nil
	case e.Kind == envelope.KindNotification && string(e.Method) == "$/cancel_request":
		if id := envelope.Member(e.Params, "requestId"); id != nil && utf8.Valid(id) && !held(id) {
			return withMember(msg, "params", withMember(e.Params, "requestId", mapID(id))), nil
		}
	}
	return msg, nil
}

func responds(k envelope.Kind) bool {
	return k == envelope.KindResponse || k == envelope.KindErrorResponse || k == envelope.KindBadResponse
}

// mapped is how a string begins that stands for an id which the library cannot hold.
const mapped = "json:"

// held reports whether a request of the library can have the id, and writes it as it was read.
func held(id []byte) bool {
	s, ok := envelope.Text(id)
	if !ok {
		n, err := strconv.ParseInt(string(id), 10, 64)
		return err == nil && n >= 0 && strconv.FormatInt(n, 10) == string(id)
	}
	return !strings.HasPrefix(s, mapped) && !strings.ContainsRune(s, utf8.RuneError)
}

// ofLibrary reports whether a call of the library can have the id of a response. It reads null as 0.
func ofLibrary(id []byte) bool {
	return id != nil && string(id) != "null" && new(jsonrpc2.ID).UnmarshalJSON(id) == nil
}

// mapID returns the string that stands for an id.
func mapID(id []byte) json.RawMessage {
	s, err := json.Marshal(mapped + string(id))
	if err != nil { // a string can be encoded
		return id
	}
	return s
}

// unmap returns the id that a string stands for, or the string if it stands for none.
func unmap(id []byte) json.RawMessage {
	s, _ := envelope.Text(id)
	if raw, ok := strings.CutPrefix(s, mapped); ok && json.Valid([]byte(raw)) {
		return json.RawMessage(raw)
	}
	return id
}

// withMember returns a well-formed object with another value for one of its members.
func withMember(object []byte, name string, value json.RawMessage) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return object
	}
	members[name] = value
	changed, err := json.Marshal(members)
	if err != nil {
		return object
	}
	return changed
}

// skipped returns the message in place of one that the stream has skipped: the error response for a
// call of this end, or nil if the peer was sent an error. It returns other errors unchanged.
func (a *adapter) skipped(err error) ([]byte, error) {
	if large, ok := errors.AsType[*stream.TooLargeError](err); ok {
		refused := refusal(large.ID, "message is too long")
		if large.HasResult && ofLibrary(large.ID) {
			return json.Marshal(refused)
		}
		if large.HasResult || large.ID == nil && large.Method != "" {
			return nil, nil // it belongs to no call, or it is a notification
		}
		return nil, a.WriteObject(refused)
	}
	if lost, ok := errors.AsType[*stream.LostError](err); ok && lost.ID != nil {
		return json.Marshal(errorResponse(lost.ID, jsonrpc2.CodeInternalError, lost.Error()))
	}
	return nil, err
}

// response is an error response; jsonrpc2.Response cannot have the id null.
type response struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   *jsonrpc2.Error `json:"error"`
}

func errorResponse(id json.RawMessage, code int64, message string) *response {
	if id == nil {
		id = json.RawMessage("null")
	}
	return &response{Version: "2.0", ID: id, Error: &jsonrpc2.Error{Code: code, Message: message}}
}

// refusal is the response to what is no valid message.
func refusal(id json.RawMessage, reason string) *response {
	message := "Invalid request"
	if reason != "" {
		message += ": " + reason
	}
	return errorResponse(id, jsonrpc2.CodeInvalidRequest, message)
}
