package check

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// Message is a line that a check or its peer has sent, which need not be a JSON-RPC message.
type Message struct {
	Seq  int  // the position in the log of its connection
	Sent bool // by the check
	Raw  []byte

	// What a JSON-RPC message has. All are empty if the line is not a JSON object.
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *Error          `json:"error"`

	lost error // why there is no response with this ID, in place of one
}

// Error is the error member of a response.
type Error struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Parse returns the message that raw has. A line that is not a JSON object, or whose members have the wrong
// types, keeps what could be read.
func Parse(raw []byte) Message {
	m := Message{Raw: raw}
	if line := bytes.TrimSpace(raw); len(line) > 0 && line[0] == '{' {
		_ = json.Unmarshal(line, &m) // the rules of package passive report what is wrong with it
		m.Raw = raw
	}
	return m
}

// IsResponse reports whether m is a response.
func (m *Message) IsResponse() bool {
	return m.Method == "" && (m.Result != nil || m.Error != nil)
}

// Get decodes the member at path of params, or of the result, into a V. It returns the zero value
// if there is none. The path has the names of members, and indexes of arrays.
func Get[V any](m *Message, path ...any) V {
	var v V
	raw := m.Params
	if m.Method == "" {
		raw = m.Result
	}
	_ = json.Unmarshal(At(raw, path...), &v) // another type counts as absent
	return v
}

// Text returns the string at path of params, or of the result, or "".
func (m *Message) Text(path ...any) string { return Get[string](m, path...) }

// At returns the value at path, or nil.
func At(raw json.RawMessage, path ...any) json.RawMessage {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			var object map[string]json.RawMessage
			if json.Unmarshal(raw, &object) != nil {
				return nil
			}
			raw = object[step]
		case int:
			var array []json.RawMessage
			if json.Unmarshal(raw, &array) != nil || step >= len(array) {
				return nil
			}
			raw = array[step]
		}
	}
	return raw
}

// Absolute matches paths that are absolute on some system.
var Absolute = regexp.MustCompile(`^(/|[A-Za-z]:[\\/]|\\\\)`)

// Update returns the kind of the update of a session/update notification, or "".
func (m *Message) Update() string {
	if m.Method != "session/update" {
		return ""
	}
	return m.Text("update", "sessionUpdate")
}
