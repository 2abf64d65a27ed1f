package hub

import (
	"crypto/rand"
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/fold"
)

// ids maps the ids of messages and tool calls of the agent to those that the clients see. They are
// the same unless an agent that was started again uses one that was used before. A message without an id gets
// one.
type ids struct {
	messages fold.Messages[acp.MessageID]      // of this run of the agent
	calls    map[acp.ToolCallID]acp.ToolCallID // likewise
	used     map[any]bool                      // the ids of all runs, of messages and of tool calls
}

// restart reports that the agent was started again: what has the id of an earlier message or tool call
// is another one.
func (x *ids) restart() {
	x.messages = fold.Messages[acp.MessageID]{}
	x.calls = nil
}

// item reports that an item that is not a message follows, or that a turn begins or ends.
func (x *ids) item() { x.messages.Close() }

// message returns the id of the message to which a chunk belongs.
func (x *ids) message(role string, id acp.MessageID) acp.MessageID {
	seen, ok := x.messages.Find(role, string(id))
	if !ok {
		seen = id
		if id == "" || !x.use(id) {
			seen = x.own()
		}
		x.messages.Add(role, string(id), seen)
	}
	return seen
}

// own returns a new id for a message. It is short, because each chunk has it, and by chance: a client that resumes the session may
// have seen ids that were not stored when the hub was killed.
func (x *ids) own() acp.MessageID {
	for {
		if id := acp.MessageID("msg_" + rand.Text()[:8]); x.use(id) {
			return id
		}
	}
}

// call returns the id of a tool call.
func (x *ids) call(id acp.ToolCallID) acp.ToolCallID {
	seen, ok := x.calls[id]
	if !ok {
		seen = id
		for n := 2; !x.use(seen); n++ {
			seen = acp.ToolCallID(fmt.Sprintf("%s~%d", id, n))
		}
		if x.calls == nil {
			x.calls = make(map[acp.ToolCallID]acp.ToolCallID)
		}
		x.calls[id] = seen
	}
	return seen
}

// use marks an id as used. It reports whether it was not used before.
func (x *ids) use(id any) bool {
	if x.used[id] {
		return false
	}
	if x.used == nil {
		x.used = make(map[any]bool)
	}
	x.used[id] = true
	return true
}

// stored marks the id of an update that was stored as used.
func (x *ids) stored(u acp.SessionUpdate) {
	switch v := u.(type) {
	case *acp.ToolCall:
		x.use(v.ToolCallID)
	case *acp.ToolCallUpdate:
		x.use(v.ToolCallID)
	default:
		x.use(messageOf(u).id)
	}
}
