package stream_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/stream"
)

func TestParseMessage(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	for name, tt := range map[string]struct {
		data string
		want stream.Message
	}{
		"request of a session": {`{"jsonrpc":"2.0","id":"a","method":"session/prompt","params":{"prompt":[{"sessionId":"no"}],"sessionId":"s\u0031"}}`,
			stream.Message{Kind: stream.KindRequest, ID: raw(`"a"`), Method: "session/prompt", SessionID: "s1"}},
		"request without params": {`{"jsonrpc":"2.0","id":1,"method":"m"}`, stream.Message{Kind: stream.KindRequest, ID: raw(`1`), Method: "m"}},
		"notification":           {`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`, stream.Message{Kind: stream.KindNotification, Method: "session/cancel", SessionID: "s"}},
		"cancel":                 {`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"7"}}`, stream.Message{Kind: stream.KindNotification, Method: "$/cancel_request", CancelID: raw(`"7"`)}},
		"result":                 {`{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}`, stream.Message{Kind: stream.KindResponse, ID: raw(`2`), SessionID: "s"}},
		"result that is no text": {`{"jsonrpc":"2.0","id":2,"result":{"sessionId":3}}`, stream.Message{Kind: stream.KindResponse, ID: raw(`2`)}},
		"error":                  {`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`, stream.Message{Kind: stream.KindErrorResponse, ID: raw(`null`)}},
		"request and response":   {`{"jsonrpc":"2.0","id":2,"method":"m","result":1}`, stream.Message{ID: raw(`2`), Method: "m"}},
		"a list":                 {`[1]`, stream.Message{}},
		"not JSON":               {`{`, stream.Message{}},
	} {
		t.Run(name, func(t *testing.T) {
			tt.want.Data = []byte(tt.data)
			got := stream.ParseMessage([]byte(tt.data))
			says := stream.Message{Data: got.Data, Kind: got.Kind, ID: got.ID, Method: got.Method, SessionID: got.SessionID, CancelID: got.CancelID}
			assert.Equal(t, tt.want, says)
			assert.Equal(t, name == "result" || name == "result that is no text" || name == "error", got.IsResponse())
		})
	}
}

func TestLostError(t *testing.T) {
	cause := errors.New("503")
	lost := &stream.LostError{ID: json.RawMessage("1"), Err: cause}
	assert.ErrorIs(t, lost, cause)
	assert.EqualError(t, lost, "stream: request was lost: 503")
	assert.EqualError(t, &stream.LostError{SessionID: "secret", Err: cause}, "stream: session was lost: 503")
}

// A connection uses the envelope of a message only while the message still has the bytes that were
// parsed.
func TestEnvelopeIsHandedOn(t *testing.T) {
	data := []byte(`{"jsonrpc":"2.0","id":1,"method":"a","params":{"n":1}}`)
	m := stream.ParseMessage(data)
	e := envelope.Handed(&m, m.Data)
	require.NotNil(t, e)
	assert.Equal(t, envelope.Parse(data), *e)
	for name, change := range map[string]func(*stream.Message){
		"other bytes":   func(m *stream.Message) { m.Data = bytes.Clone(m.Data) },
		"fewer bytes":   func(m *stream.Message) { m.Data = m.Data[:len(m.Data)-1] },
		"no bytes":      func(m *stream.Message) { m.Data = nil },
		"made by hand":  func(m *stream.Message) { *m = stream.Message{Data: data} },
		"no bytes ever": func(m *stream.Message) { *m = stream.ParseMessage(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			m := stream.ParseMessage(data)
			change(&m)
			assert.Nil(t, envelope.Handed(&m, m.Data))
		})
	}
}
