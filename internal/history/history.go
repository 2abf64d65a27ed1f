// Package history makes what a person saw in a session from the updates that were stored: each
// message is one item with its whole text, and each tool call one item in its last state. Agents and
// hubs store updates in a journal and replay these items.
package history

import (
	"encoding/json"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/fold"
)

// History is what a person saw. The zero History is empty. It must not be used concurrently, but
// what Items returns may be.
type History struct {
	items    []Item
	index    map[any]int        // of the items that later updates replace, by their keys
	messages fold.Messages[int] // the indices of the newest content of each
	plan     any                // the key of the plan that changed last; nil if there is none
	unended  bool               // the last turn has no end
	asked    []json.RawMessage  // the updates of a prompt whose turn has not begun yet
}

// Item is one update of a replay.
type Item struct {
	update acp.SessionUpdate
	first  *acp.TextContent // the content of update, if later texts of its message are joined to it
	text   []byte           // first and the texts that are joined to it
}

// Update returns the update: a message with its whole text, or the last state of something else. It
// must not be modified.
func (it Item) Update() acp.SessionUpdate {
	if it.first == nil || len(it.text) == len(it.first.Text) {
		return it.update
	}
	whole := new(*it.first)
	whole.Text = string(it.text)
	_, id, _ := fold.Chunk(it.update)
	return fold.Rechunk(it.update, id, whole)
}

// Items returns the items. Later updates do not change them. The plan that changed last stands behind all other
// plans: to a client that shows one plan it is the one.
func (h *History) Items() []Item {
	i, known := h.index[h.plan]
	if h.plan == nil || !known {
		return slices.Clone(h.items)
	}
	end := i + 1
	for j := end; j < len(h.items); j++ {
		switch h.items[j].update.(type) {
		case *acp.Plan, *acp.PlanUpdate, *acp.PlanRemoved:
			end = j + 1
		}
	}
	return slices.Concat(h.items[:i], h.items[i+1:end], h.items[i:i+1], h.items[end:])
}

// The keys of what there is one of. The key of another plan or a tool call is its id.
type (
	onlyPlan  struct{}
	onlyUsage struct{}
)

// Add adds an update, which must not be modified afterwards. Each block of a prompt is an item. A plain text of the agent is added to the text of its
// message. A tool call, plan or usage replaces the previous state, and an update of a tool call changes
// it.
func (h *History) Add(u acp.SessionUpdate) {
	switch v := u.(type) {
	case *acp.AgentMessageChunk, *acp.AgentThoughtChunk:
		h.chunk(u)
	case *acp.ToolCall:
		h.change(fold.Announced(v)) // announced again, it keeps what the announcement does not name
	case *acp.ToolCallUpdate:
		h.change(v)
	case *acp.Plan:
		h.plan = onlyPlan{}
		h.replace(h.plan, u)
	case *acp.PlanUpdate:
		h.plan = planID(v.Plan)
		h.replace(h.plan, u)
	case *acp.PlanRemoved:
		h.plan = v.PlanID
		h.replace(h.plan, u)
	case *acp.UsageUpdate:
		if before := h.Usage(); before != nil && v.Cost == nil {
			v = new(*v)
			v.Cost = before.Cost // a client keeps the cost in this case too
		}
		h.replace(onlyUsage{}, v)
	default:
		h.messages.Close()
		h.items = append(h.items, Item{update: u})
	}
}

// planID returns the id of a plan.
func planID(plan acp.PlanUpdateContent) acp.PlanID {
	switch p := plan.(type) {
	case *acp.PlanItems:
		return p.PlanID
	case *acp.PlanMarkdown:
		return p.PlanID
	}
	return ""
}

// chunk adds a chunk of a message.
func (h *History) chunk(u acp.SessionUpdate) {
	role, id, content := fold.Chunk(u)
	text := fold.PlainText(content)
	i, known := h.messages.Find(role, string(id))
	if !known || text == nil || h.items[i].first == nil {
		i = len(h.items)
		h.items = append(h.items, Item{update: u, first: text})
		h.messages.Add(role, string(id), i)
	}
	if text != nil {
		h.items[i].text = append(h.items[i].text, text.Text...)
	}
}

// change changes a tool call, or adds it.
func (h *History) change(u *acp.ToolCallUpdate) {
	c := &acp.ToolCall{ToolCallID: u.ToolCallID}
	if before := h.ToolCall(u.ToolCallID); before != nil {
		c = new(*before)
	}
	fold.Update(c, u)
	if h.replace(u.ToolCallID, c) {
		h.messages.Close()
	}
}

// Turn reports that a turn began or ended: no later chunk without an id continues a message.
func (h *History) Turn() { h.messages.Close() }

// replace makes u the item with a key. It reports whether there was none.
func (h *History) replace(key any, u acp.SessionUpdate) (added bool) {
	i, known := h.index[key]
	if known {
		h.items[i].update = u
		return false
	}
	if h.index == nil {
		h.index = make(map[any]int)
	}
	h.index[key] = len(h.items)
	h.items = append(h.items, Item{update: u})
	return true
}

// ToolCall returns the last state of a tool call, or nil if there is none with the id.
func (h *History) ToolCall(id acp.ToolCallID) *acp.ToolCall {
	c, _ := h.at(id).(*acp.ToolCall)
	return c
}

// Usage returns the last usage, or nil.
func (h *History) Usage() *acp.UsageUpdate {
	u, _ := h.at(onlyUsage{}).(*acp.UsageUpdate)
	return u
}

func (h *History) at(key any) acp.SessionUpdate {
	if i, known := h.index[key]; known {
		return h.items[i].update
	}
	return nil
}

// OpenCalls returns the tool calls that have not ended, in their order.
func (h *History) OpenCalls() []*acp.ToolCall {
	var open []*acp.ToolCall
	for _, it := range h.items {
		if c, ok := it.update.(*acp.ToolCall); ok && !fold.Final(c.Status) {
			open = append(open, c)
		}
	}
	return open
}
