package rawpeer

import (
	"encoding/json"
	"fmt"
)

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

	// Raw is the whole message as it arrived.
	Raw string `json:"-"`
}

// String is short enough for tables: "ok 1", "-32600 null", "session/cancel".
func (m Message) String() string {
	switch {
	case m.Method != "":
		return m.Method
	case m.Error != nil:
		return fmt.Sprintf("%d %s", m.Error.Code, m.ID)
	}
	return fmt.Sprintf("ok %s", m.ID)
}
