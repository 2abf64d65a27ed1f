package kit

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/internal/fold"
)

// history is the state of a session according to its records.
type history struct {
	items    []item
	index    map[any]int        // of the items that later updates replace, by their keys
	messages fold.Messages[int] // the indices of the newest content of each
	settings map[string]string
	rules    *tools.Rules
	system   *acp.SystemPrompt // the last one that is recorded
	open     bool              // the end of the last turn is not recorded
}

// item is one update of a replay: a message with its whole text, or the last state of a tool call.
type item struct {
	update acp.SessionUpdate
	first  *acp.TextContent // the content of update, if later texts of its message are joined to it
	text   []byte           // first and the texts that are joined to it
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
	switch v := u.(type) {
	case *acp.AgentMessageChunk:
		h.chunk(u, "agent", v.MessageID, v.Content)
	case *acp.AgentThoughtChunk:
		h.chunk(u, "thought", v.MessageID, v.Content)
	case *acp.ToolCall:
		if h.replace(v.ToolCallID, u) {
			h.messages.Close()
		}
	case *acp.Plan:
		h.replace("plan", u)
	case *acp.PlanUpdate:
		h.replace(planID(v.Plan), u)
	case *acp.PlanRemoved:
		h.replace(v.PlanID, u)
	case *acp.UsageUpdate:
		if i, known := h.index["usage"]; known && v.Cost == nil {
			v.Cost = h.items[i].update.(*acp.UsageUpdate).Cost // a client keeps the cost in this case too
		}
		h.replace("usage", u)
	default:
		h.messages.Close()
		h.items = append(h.items, item{update: u})
	}
}

// planID returns the id of a plan of this agent.
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
func (h *history) chunk(u acp.SessionUpdate, role string, id acp.MessageID, content acp.ContentBlock) {
	text, _ := content.(*acp.TextContent)
	if text != nil && text.Annotations != nil {
		text = nil
	}
	i, known := h.messages.Find(role, string(id))
	if !known || text == nil || h.items[i].first == nil {
		i = len(h.items)
		h.items = append(h.items, item{update: u, first: text})
		h.messages.Add(role, string(id), i)
	}
	if text != nil {
		h.items[i].text = append(h.items[i].text, text.Text...)
	}
}

// replace makes u the item with a key. It reports whether there was none.
func (h *history) replace(key any, u acp.SessionUpdate) (added bool) {
	i, known := h.index[key]
	if known {
		h.items[i].update = u
	} else {
		h.index[key] = len(h.items)
		h.items = append(h.items, item{update: u})
	}
	return !known
}

// replay sends the history to the client.
func (h *history) replay(ctx context.Context, s *Session) error {
	for _, it := range h.items {
		if it.first != nil {
			it.first.Text = string(it.text)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		s.out.mu.Lock()
		err := s.out.send(ctx, it.update)
		s.out.mu.Unlock()
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

const (
	interrupted = "The agent was interrupted while this call was running: it may have taken effect."
	neverRan    = "The agent was interrupted before this call ran."
)

// repair ends the turn that a crash has interrupted, and its tool calls.
func (h *history) repair(ctx context.Context, s *Session) error {
	var recs []record
	for _, it := range h.items {
		c, ok := it.update.(*acp.ToolCall)
		if !ok || fold.Final(c.Status) {
			continue
		}
		text := interrupted
		if c.Status != acp.ToolCallStatusInProgress {
			text = neverRan
		}
		c.Content = append(c.Content, acp.ToolText(text))
		c.Status = acp.ToolCallStatusFailed
		recs = append(recs, record{journal.KindEvent, c})
	}
	if len(recs) == 0 && !h.open {
		return nil
	}
	return s.store(ctx, append(recs, record{journal.KindTurn, turnRecord{State: turnInterrupted}})...)
}
