package kit

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/tools"
)

// history is the state of a session according to its records.
type history struct {
	items    []item
	index    map[any]int // of the items that later updates change, by their keys
	settings map[string]string
	rules    *tools.Rules
	system   *acp.SystemPrompt // the last one that is recorded
	open     bool              // the end of the last turn is not recorded
}

// item is one update of a replay: a message with its whole text, or the last state of a tool call.
type item struct {
	update acp.SessionUpdate
	first  *acp.TextContent // the content of update, if that is a text
	text   []byte           // joined text of the chunks of a message, which replaces the first one
}

// message is the key of a message whose chunks are joined.
type message struct {
	id      acp.MessageID
	thought bool
}

func newHistory() *history {
	return &history{index: make(map[any]int), settings: make(map[string]string), rules: new(tools.Rules)}
}

func (h *history) read(ctx context.Context, log journal.Log) error {
	for r, err := range log.Read(ctx, 0) {
		if err == nil {
			err = h.add(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
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
		var rule tools.Rule
		err = json.Unmarshal(r.Data, &rule)
		h.rules.Add(rule)
	case journal.KindSystem:
		h.system = nil
		err = json.Unmarshal(r.Data, &h.system)
	}
	return err
}

// event adds an update. A plain text is added to the text of its message. A tool call, plan or
// usage replaces the previous state.
func (h *history) event(u acp.SessionUpdate) {
	var key any
	var content acp.ContentBlock
	switch v := u.(type) {
	case *acp.AgentMessageChunk:
		key, content = message{v.MessageID, false}, v.Content
	case *acp.AgentThoughtChunk:
		key, content = message{v.MessageID, true}, v.Content
	case *acp.ToolCall:
		key = v.ToolCallID
	case *acp.Plan, *acp.UsageUpdate:
		key = reflect.TypeOf(u)
	}
	text, plain := content.(*acp.TextContent)
	plain = plain && text.Annotations == nil
	if content != nil && !plain {
		delete(h.index, key) // later texts follow this content
		key = nil
	}
	i, known := h.index[key]
	if !known {
		i = len(h.items)
		h.items = append(h.items, item{update: u, first: text})
		if key != nil {
			h.index[key] = i
		}
	}
	it := &h.items[i]
	if plain {
		it.text = append(it.text, text.Text...)
		return
	}
	if usage, ok := u.(*acp.UsageUpdate); ok && usage.Cost == nil {
		usage.Cost = it.update.(*acp.UsageUpdate).Cost // a client keeps the cost in this case too
	}
	it.update = u
}

// replay sends the history to the client.
func (h *history) replay(ctx context.Context, s *Session) error {
	for _, it := range h.items {
		if it.text != nil {
			it.first.Text = string(it.text)
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
