package websocket

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/coder/websocket"

	"github.com/acpkit/go-sdk/internal/envelope"
)

// maxRefusals is how many refusals of a peer that does not read may wait.
const maxRefusals = 64

// refusals are the ids of requests that are answered with an error as soon as no message
// is being written.
type refusals struct {
	mu  sync.Mutex // guards ids
	ids []json.RawMessage
}

// add reports whether there was room.
func (r *refusals) add(id json.RawMessage) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ids) >= maxRefusals {
		return false
	}
	r.ids = append(r.ids, bytes.Clone(id))
	return true
}

func (r *refusals) take() []json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := r.ids
	r.ids = nil
	return ids
}

func (r *refusals) waiting() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ids) > 0
}

var errRefusals = errors.New("websocket: the peer sends initialize again and reads no responses")

// refuseAgain refuses a message if it is initialize, which may be sent once. It reports
// whether it is. The error ends the connection.
func (c *Conn) refuseAgain(msg []byte) (again bool, err error) {
	if !bytes.Contains(msg, []byte(`"initialize"`)) {
		return false, nil
	}
	e := envelope.Parse(msg)
	if e.Kind != envelope.KindRequest || string(e.Method) != "initialize" {
		return false, nil
	}
	if !c.again.add(e.ID) {
		_ = c.CloseWith(1008, "too many refused requests")
		return true, errRefusals
	}
	go c.sendWaiting() // ends when they are written, at the latest with the connection
	return true, nil
}

// write writes the responses that wait. The caller holds the turn.
func (r *refusals) write(c *Conn) {
	for _, id := range r.take() {
		_ = c.ws.Write(c.life, websocket.MessageText, fmt.Appendf(nil,
			`{"jsonrpc":"2.0","id":%s,"error":{"code":-32600,"message":"Invalid request: the connection is initialized"}}`, id))
	}
}
