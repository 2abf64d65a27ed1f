package adapter

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/draft2/internal/replay"
	"github.com/acpkit/go-sdk/internal/errs"
	"github.com/acpkit/go-sdk/internal/fold"
)

// planID is the id of the plan. Plans of version 1 have none.
const planID acp2.PlanID = "plan"

// SessionUpdate passes an update on to the client. An update that cannot be expressed in
// version 2 is dropped with a warning.
func (l *lower) SessionUpdate(ctx context.Context, n *acp.SessionNotification) error {
	s := l.a.session(n.SessionID)
	list, err := s.translate(n.Update)
	if err != nil {
		l.a.log.Warn("adapter: dropped an update of the agent", "error", errs.LogText(err))
		return nil
	}
	ctx = replay.History(ctx) // what an agent of version 1 sends before it responds to session/load is history
	for _, u := range list {
		err := l.a.above.SessionUpdate(ctx, &acp2.UpdateSessionNotification{SessionID: acp2.SessionID(n.SessionID), Update: u, Meta: n.Meta})
		if err != nil {
			return err
		}
	}
	return nil
}

// translate returns the updates of version 2 for an update of version 1.
func (s *session) translate(u acp.SessionUpdate) ([]acp2.SessionUpdate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, err := s.translateLocked(u)
	if s.closed || s.silent && isHistory(u) {
		return nil, nil
	}
	return out, err
}

// isHistory reports whether the update is part of the conversation. Other updates change the
// current state of the session.
func isHistory(u acp.SessionUpdate) bool {
	switch u.(type) {
	case *acp.AvailableCommandsUpdate, *acp.CurrentModeUpdate, *acp.ConfigOptionUpdate, *acp.SessionInfoUpdate, *acp.UsageUpdate,
		*acp.PromptSuggestionsUpdate, *acp.CursorUpdate:
		return false
	}
	return true
}

func (s *session) translateLocked(u acp.SessionUpdate) ([]acp2.SessionUpdate, error) {
	switch u := u.(type) {
	case *acp.AgentMessageChunk:
		return s.chunk(roleAgent, u.MessageID, u.Content, u.Meta)
	case *acp.AgentThoughtChunk:
		return s.chunk(roleThought, u.MessageID, u.Content, u.Meta)
	case *acp.UserMessageChunk:
		return s.userChunk(u)
	case *acp.ToolCall:
		return s.tool(u.ToolCallID, u.Title, u, u.Content)
	case *acp.ToolCallUpdate:
		return s.tool(u.ToolCallID, u.Title, u, u.Content)
	case *acp.Plan:
		entries, err := convert[acp2.PlanItems](map[string]any{"planId": planID, "entries": u.Entries})
		if err != nil {
			return nil, err
		}
		return one(&acp2.PlanUpdate{Plan: entries, Meta: u.Meta}), nil
	case *acp.AvailableCommandsUpdate:
		s.settings.commands = commands(u.AvailableCommands)
		return one(&acp2.AvailableCommandsUpdate{AvailableCommands: s.settings.commands, Meta: u.Meta}), nil
	case *acp.CurrentModeUpdate:
		if options := s.mode(u.CurrentModeID); options != nil {
			return one(&acp2.ConfigOptionUpdate{ConfigOptions: options, Meta: u.Meta}), nil
		}
		return nil, nil
	case *acp.ConfigOptionUpdate:
		options, err := configOptions(u.ConfigOptions)
		if err != nil {
			return nil, err
		}
		s.settings.options = options
		return one(&acp2.ConfigOptionUpdate{ConfigOptions: s.settings.list(), Meta: u.Meta}), nil
	case *acp.CursorUpdate:
		if at, ok := u.Anchor.(*acp.CursorUserMessageAnchor); ok && s.echoes[at.MessageID] != "" {
			moved, anchor := *u, *at
			anchor.MessageID = acp.MessageID(s.echoes[at.MessageID])
			moved.Anchor = &anchor
			return sameForm(&moved)
		}
	case *acp.SessionInfoUpdate:
		s.info.Title, s.info.UpdatedAt = u.Title.Apply(s.info.Title), u.UpdatedAt.Apply(s.info.UpdatedAt)
	case *acp.CompactionUpdate:
		if s.mention("compaction/"+string(u.CompactionID)) && s.replays && u.Summary.IsZero() {
			again := *u
			again.Summary = acp.Null[[]acp.ContentBlock]() // the summary follows in chunks
			return sameForm(&again)
		}
	case *acp.CompactionSummaryChunk:
		s.mention("compaction/" + string(u.CompactionID))
	case *acp.SubagentUpdate:
		s.mention("subagent/" + string(u.SessionID))
	case *acp.SessionMessage:
		s.mention("message/" + string(u.MessageID))
	case *acp.SessionMessageChunk:
		s.mention("message/" + string(u.MessageID))
	}
	return sameForm(u)
}

func one(u acp2.SessionUpdate) []acp2.SessionUpdate { return []acp2.SessionUpdate{u} }

// sameForm returns an update that has the same JSON form in both versions. It passes on an update
// that version 1 does not know, unless version 2 uses its name for another update.
func sameForm(u acp.SessionUpdate) ([]acp2.SessionUpdate, error) {
	n, err := convert[acp2.UpdateSessionNotification](&acp.SessionNotification{SessionID: "s", Update: u})
	if err != nil {
		return nil, err
	}
	_, unknown := u.(*acp.UnknownSessionUpdate)
	if _, still := n.Update.(*acp2.UnknownSessionUpdate); unknown && !still {
		return nil, nil
	}
	return one(n.Update), nil
}

// mention records an item that is not a message of the user or the agent. It reports whether the item
// is new.
func (s *session) mention(key string) bool {
	if _, ok := s.others[key]; ok {
		return false
	}
	s.others[key] = struct{}{}
	s.messages.Close()
	return true
}

// tool returns the update of version 2 for a tool call. v is the update of version 1.
func (s *session) tool(id acp.ToolCallID, title string, v any, content []acp.ToolCallContent) ([]acp2.SessionUpdate, error) {
	s.mentionTool(id, title)
	u, err := toolCall(v, content)
	if err != nil {
		return nil, err
	}
	return one(u), nil
}

// mentionTool records the title of a tool call.
func (s *session) mentionTool(id acp.ToolCallID, title string) {
	now, known := s.titles[id]
	if !known {
		s.messages.Close()
	}
	fold.Set(&now, fold.Text(title))
	s.titles[id] = now
}

func isEmpty(b acp.ContentBlock, meta acp.Meta) bool {
	text, ok := b.(*acp.TextContent)
	return ok && meta == nil && text.Text == "" && text.Annotations == nil && text.Meta == nil
}

// chunk returns the update for a chunk of a message. In a replay, the first chunk of a message
// becomes the whole message, so that a client that already has the message replaces it.
func (s *session) chunk(r string, own acp.MessageID, c acp.ContentBlock, meta acp.Meta) ([]acp2.SessionUpdate, error) {
	id, begins := s.messageOf(r, own, isEmpty(c, meta))
	if id == "" {
		return nil, nil
	}
	block, err := contentBlock(c)
	if err != nil {
		return nil, err
	}
	if begins && s.replays {
		whole := acp2.Some([]acp2.ContentBlock{block})
		switch r {
		case roleUser:
			return one(&acp2.UserMessage{MessageID: id, Content: whole, Meta: meta}), nil
		case roleThought:
			return one(&acp2.AgentThought{MessageID: id, Content: whole, Meta: meta}), nil
		}
		return one(&acp2.AgentMessage{MessageID: id, Content: whole, Meta: meta}), nil
	}
	switch r {
	case roleUser:
		return one(&acp2.UserMessageChunk{MessageID: id, Content: block, Meta: meta}), nil
	case roleThought:
		return one(&acp2.AgentThoughtChunk{MessageID: id, Content: block, Meta: meta}), nil
	}
	return one(&acp2.AgentMessageChunk{MessageID: id, Content: block, Meta: meta}), nil
}

// contentBlock returns content in the form of version 2.
func contentBlock(c acp.ContentBlock) (acp2.ContentBlock, error) {
	if text, ok := c.(*acp.TextContent); ok && text.Annotations == nil && text.Meta == nil {
		return acp2.Text(text.Text), nil
	}
	content, err := convert[acp2.Content](&acp.Content{Content: c})
	if err != nil {
		return nil, err
	}
	return content.Content, nil
}

// userChunk returns the updates for a chunk of a user message, or none if it repeats the prompt.
func (s *session) userChunk(u *acp.UserMessageChunk) ([]acp2.SessionUpdate, error) {
	chunks := []*acp.UserMessageChunk{u}
	if s.turn != nil {
		taken, others := s.turn.echo.take(u)
		if taken {
			if u.MessageID != "" {
				s.echoes[u.MessageID] = s.turn.message
			}
			return nil, nil
		}
		chunks = append(others, u)
	}
	var out []acp2.SessionUpdate
	for _, c := range chunks {
		more, err := s.chunk(roleUser, c.MessageID, c.Content, c.Meta)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// The roles of messages.
const (
	roleUser    = "user"
	roleAgent   = "agent"
	roleThought = "thought"
)

// messageOf returns the id of the message that a chunk belongs to, and whether the chunk begins it.
// The id is empty for an empty chunk that begins no message.
func (s *session) messageOf(role string, own acp.MessageID, empty bool) (id acp2.MessageID, begins bool) {
	id, known := s.messages.Find(role, string(own))
	switch {
	case known:
		return id, false
	case empty:
		return acp2.MessageID(own), false
	case own == "":
		id = agent2.NewMessageID()
	default:
		id = acp2.MessageID(own)
	}
	s.messages.Add(role, string(own), id)
	return id, true
}

// echo is a prompt that the agent may repeat in chunks. The client already has it.
type echo struct {
	want []acp.ContentBlock
	off  int // offset in the text of the first block
	got  []*acp.UserMessageChunk
}

// take reports whether a chunk repeats the next part of the prompt. If not, it returns the chunks
// that were held back because they looked like the prompt.
func (e *echo) take(c *acp.UserMessageChunk) (taken bool, others []*acp.UserMessageChunk) {
	if len(e.want) > 0 && e.matches(c.Content) {
		e.got = append(e.got, c)
		if len(e.want) == 0 {
			e.got = nil
		}
		return true, nil
	}
	others = e.got
	e.want, e.got = nil, nil
	return false, others
}

// matches reports whether the block repeats the next part of the prompt, and advances past it.
func (e *echo) matches(b acp.ContentBlock) bool {
	want, isText := e.want[0].(*acp.TextContent)
	text, ok := b.(*acp.TextContent)
	switch {
	case isText && ok && text.Text != "" && strings.HasPrefix(want.Text[e.off:], text.Text):
		if e.off += len(text.Text); e.off < len(want.Text) {
			return true
		}
	case isText || ok || !same(e.want[0], b):
		return false
	}
	e.want, e.off = e.want[1:], 0
	return true
}

func same(a, b acp.ContentBlock) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
}
