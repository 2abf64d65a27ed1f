package kit

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
)

// history is the state of a session according to its records.
type history struct {
	items    []item
	messages map[message]int // index in items
	calls    map[acp.ToolCallID]int
	settings map[string]string
	rules    map[ruleRecord]bool
	open     bool // the end of the last turn is not recorded
}

// item is one update of a replay: a message with its whole text, or the last state of a tool call.
type item struct {
	update acp.SessionUpdate
	text   *strings.Builder // joined text of the chunks, which replaces the content of update
}

// message identifies a message whose chunks are joined.
type message struct {
	id      acp.MessageID
	thought bool
}

// readHistory reads the history from a log.
func readHistory(ctx context.Context, log journal.Log) (*history, error) {
	h := &history{
		messages: make(map[message]int), calls: make(map[acp.ToolCallID]int),
		settings: make(map[string]string), rules: make(map[ruleRecord]bool),
	}
	for r, err := range log.Read(ctx, 0) {
		if err == nil {
			err = h.add(r)
		}
		if err != nil {
			return nil, err
		}
	}
	return h, nil
}

func (h *history) add(r journal.Record) error {
	var err error
	switch r.Kind { // other kinds are for the model or of later versions
	case journal.KindTurn:
		var t turnRecord
		err = json.Unmarshal(r.Data, &t)
		h.open = t.State == turnBegun
	case journal.KindEvent:
		var u acp.SessionUpdate
		if u, err = acp.UnmarshalSessionUpdate(r.Data); err == nil {
			h.event(u)
		}
	case journal.KindSetting:
		var t settingRecord
		err = json.Unmarshal(r.Data, &t)
		h.settings[t.ID] = t.Value
	case journal.KindRule:
		var rule ruleRecord
		err = json.Unmarshal(r.Data, &rule)
		h.rules[rule] = true
	}
	return err
}

func (h *history) event(u acp.SessionUpdate) {
	switch v := u.(type) {
	case *acp.AgentMessageChunk:
		h.chunk(message{v.MessageID, false}, v.Content, u)
	case *acp.AgentThoughtChunk:
		h.chunk(message{v.MessageID, true}, v.Content, u)
	case *acp.ToolCall:
		if i, ok := h.calls[v.ToolCallID]; ok {
			h.items[i].update = u
			return
		}
		h.calls[v.ToolCallID] = len(h.items)
		h.items = append(h.items, item{update: u})
	case *acp.Plan:
		h.replace(u)
	case *acp.UsageUpdate:
		if before, ok := h.replace(u).(*acp.UsageUpdate); ok && v.Cost == nil {
			v.Cost = before.Cost // a client keeps the cost in this case too
		}
	default:
		h.items = append(h.items, item{update: u})
	}
}

// chunk adds a chunk to its message. Only plain texts are joined.
func (h *history) chunk(m message, content acp.ContentBlock, u acp.SessionUpdate) {
	text, ok := content.(*acp.TextContent)
	if !ok || text.Annotations != nil {
		delete(h.messages, m)
		h.items = append(h.items, item{update: u})
		return
	}
	i, ok := h.messages[m]
	if !ok {
		i = len(h.items)
		h.messages[m] = i
		h.items = append(h.items, item{update: u, text: new(strings.Builder)})
	}
	h.items[i].text.WriteString(text.Text)
}

// replace replaces the update of the same type, which it returns, or adds u if there is none.
func (h *history) replace(u acp.SessionUpdate) (before acp.SessionUpdate) {
	for i, it := range h.items {
		if reflect.TypeOf(it.update) == reflect.TypeOf(u) {
			h.items[i].update = u
			return it.update
		}
	}
	h.items = append(h.items, item{update: u})
	return nil
}

// replay sends the history to the client.
func (h *history) replay(ctx context.Context, s *Session) error {
	for _, it := range h.items {
		if it.text != nil {
			switch v := it.update.(type) {
			case *acp.AgentMessageChunk:
				v.Content = acp.Text(it.text.String())
			case *acp.AgentThoughtChunk:
				v.Content = acp.Text(it.text.String())
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		err := s.client.Update(ctx, it.update)
		if invalid, ok := errors.AsType[*acp.InvalidError](err); ok { // stored by another program or an older version
			s.agent.log.Warn("an update of a stored session is left out", "session", string(s.id), "error", invalid)
		} else if err != nil {
			return err
		}
	}
	if title := s.meta().Title; title != "" {
		return s.client.Title(ctx, title)
	}
	return nil
}

const interrupted = "The agent was interrupted while this call was running: it may have taken effect."

// repair ends the turn that a crash has interrupted, and its tool calls.
func (h *history) repair(ctx context.Context, s *Session) error {
	var recs []record
	for _, it := range h.items {
		c, ok := it.update.(*acp.ToolCall)
		if !ok || ended(c) {
			continue
		}
		c.Content = append(c.Content, acp.ToolText(interrupted))
		c.Status = acp.ToolCallStatusFailed
		recs = append(recs, record{journal.KindEvent, c})
	}
	if len(recs) == 0 && !h.open {
		return nil
	}
	return s.store(ctx, append(recs, record{journal.KindTurn, turnRecord{State: turnInterrupted}})...)
}
