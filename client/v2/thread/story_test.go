package thread_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	v1 "github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/acp/v2"
	model "github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/client/v2/thread"
)

// teller tells a story to two threads: to one in version 1 and to one in version 2.
type teller struct {
	t        *testing.T
	r        *rand.Rand
	old, now *model.Thread
	n        int // ids given
}

func (s *teller) id(kind string) string {
	s.n++
	return fmt.Sprint(kind, s.n)
}

func (s *teller) tell(old v1.SessionUpdate, now acp.SessionUpdate) {
	s.old.Apply(old)
	thread.Apply(s.now, now)
	if s.r.IntN(5) == 0 {
		s.old.Snapshot()
		s.now.Snapshot()
	}
}

func (s *teller) text() string {
	b := make([]byte, 1+s.r.IntN(10))
	for i := range b {
		b[i] = byte('a' + s.r.IntN(26))
	}
	return string(b)
}

// blocks returns the same content in both versions.
func (s *teller) block() (v1.ContentBlock, acp.ContentBlock) {
	text, meta := s.text(), v1.Meta{"k": s.text()}
	switch s.r.IntN(6) {
	case 0:
		return &v1.ImageContent{Data: "YQ==", MIMEType: "image/png", URI: "file:///" + text, Meta: meta},
			&acp.ImageContent{Data: "YQ==", MIMEType: "image/png", URI: "file:///" + text, Meta: meta}
	case 1:
		n := int64(s.r.IntN(100))
		return &v1.ResourceLink{Name: text, URI: "file:///a", Title: "t", Description: "d", MIMEType: "a/b", Size: &n},
			&acp.ResourceLink{Name: text, URI: "file:///a", Title: "t", Description: "d", MIMEType: "a/b", Size: new(uint64(n))}
	case 2:
		return &v1.EmbeddedResource{Resource: &v1.TextResourceContents{Text: text, URI: "file:///r", MIMEType: "a/b", Meta: meta}},
			&acp.EmbeddedResource{Resource: &acp.TextResourceContents{Text: text, URI: "file:///r", MIMEType: "a/b", Meta: meta}}
	case 3:
		p := s.r.Float64()
		return &v1.TextContent{Text: text, Annotations: &v1.Annotations{Audience: []v1.Role{v1.RoleUser}, LastModified: "x", Priority: &p}},
			&acp.TextContent{Text: text, Annotations: &acp.Annotations{Audience: []acp.Role{acp.RoleUser}, LastModified: "x", Priority: &p}}
	}
	return v1.Text(text), acp.Text(text)
}

func (s *teller) message(id string) {
	for range 1 + s.r.IntN(3) {
		a, b := s.block()
		if s.r.IntN(2) == 0 {
			s.tell(&v1.AgentMessageChunk{MessageID: v1.MessageID(id), Content: a}, &acp.AgentMessageChunk{MessageID: acp.MessageID(id), Content: b})
		} else {
			s.tell(&v1.AgentThoughtChunk{MessageID: v1.MessageID(id), Content: a}, &acp.AgentThoughtChunk{MessageID: acp.MessageID(id), Content: b})
		}
	}
}

// toolCall tells a call in pieces. Sometimes it stays open.
func (s *teller) toolCall() {
	id, title := s.id("call"), s.text()
	kind, line := s.text(), uint32(1+s.r.IntN(9))
	s.tell(&v1.ToolCall{ToolCallID: v1.ToolCallID(id), Title: title, Name: "n", Kind: v1.ToolKind(kind), RawInput: []byte(`{"a":1}`)},
		&acp.ToolCallUpdate{ToolCallID: acp.ToolCallID(id), Title: acp.Some(title), Name: acp.Some("n"), Kind: acp.Some(acp.ToolKind(kind)), RawInput: []byte(`{"a":1}`)})
	if s.r.IntN(3) == 0 {
		s.permission(id)
	}
	var old []v1.ToolCallContent
	for range s.r.IntN(3) { // version 1 repeats the list, version 2 adds to it
		a, b := s.block()
		old = append(old, &v1.Content{Content: a})
		s.tell(&v1.ToolCallUpdate{ToolCallID: v1.ToolCallID(id), Content: old},
			&acp.ToolCallContentChunk{ToolCallID: acp.ToolCallID(id), Content: &acp.Content{Content: b}})
	}
	s.tell(&v1.ToolCallUpdate{ToolCallID: v1.ToolCallID(id), Locations: []v1.ToolCallLocation{{Path: "/p", Line: &line}}},
		&acp.ToolCallUpdate{ToolCallID: acp.ToolCallID(id), Locations: acp.Some([]acp.ToolCallLocation{{Path: "/p", Line: &line}})})
	if s.r.IntN(4) > 0 {
		s.tell(&v1.ToolCallUpdate{ToolCallID: v1.ToolCallID(id), Status: v1.ToolCallStatusCompleted, RawOutput: []byte(`[2]`)},
			&acp.ToolCallUpdate{ToolCallID: acp.ToolCallID(id), Status: acp.Some(acp.ToolCallStatusCompleted), RawOutput: []byte(`[2]`)})
	}
}

func (s *teller) permission(call string) {
	title := s.text()
	a := s.old.Permission(&v1.RequestPermissionRequest{
		ToolCall: v1.ToolCallUpdate{ToolCallID: v1.ToolCallID(call), Title: title},
		Options:  []v1.PermissionOption{{OptionID: "y", Name: "Yes", Kind: v1.PermissionOptionKindAllowOnce}},
	})
	b := thread.Permission(s.now, &acp.RequestPermissionRequest{
		Title:   title,
		Subject: &acp.ToolCallPermissionSubject{ToolCall: acp.ToolCallUpdate{ToolCallID: acp.ToolCallID(call), Title: acp.Some(title)}},
		Options: []acp.PermissionOption{{OptionID: "y", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce}},
	})
	s.same()
	if s.r.IntN(3) > 0 { // else the turn ends first
		a()
		b()
	}
}

// part tells something that is no part of the conversation.
func (s *teller) part() {
	text := s.text()
	switch s.r.IntN(9) {
	case 0:
		s.tell(&v1.SessionInfoUpdate{Title: v1.Some(text), Meta: v1.Meta{"k": text}}, &acp.SessionInfoUpdate{Title: acp.Some(text), Meta: acp.Meta{"k": text}})
	case 1:
		s.tell(&v1.SessionInfoUpdate{Title: v1.Null[string]()}, &acp.SessionInfoUpdate{Title: acp.Null[string]()})
	case 2:
		n := s.r.Uint64()
		s.tell(&v1.UsageUpdate{Used: n, Size: n, Cost: &v1.Cost{Amount: 1, Currency: text}},
			&acp.UsageUpdate{Used: n, Size: n, Cost: acp.Some(acp.Cost{Amount: 1, Currency: text})})
	case 3:
		s.tell(&v1.PlanUpdate{Plan: &v1.PlanItems{PlanID: "p", Entries: []v1.PlanEntry{{Content: text, Priority: "high", Status: "pending"}}}},
			&acp.PlanUpdate{Plan: &acp.PlanItems{PlanID: "p", Entries: []acp.PlanEntry{{Content: text, Priority: "high", Status: "pending"}}}})
	case 4:
		s.tell(&v1.AvailableCommandsUpdate{AvailableCommands: []v1.AvailableCommand{{Name: text, Description: "d", Input: &v1.UnstructuredCommandInput{Hint: "h"}}}},
			&acp.AvailableCommandsUpdate{AvailableCommands: []acp.AvailableCommand{&acp.Command{Name: text, Description: "d", Input: &acp.TextCommandInput{Hint: "h"}}}})
	case 5:
		s.tell(&v1.Notice{Severity: v1.NoticeSeverityWarning, Title: text, Description: "d"}, &acp.Notice{Severity: acp.NoticeSeverityWarning, Title: text, Description: "d"})
	case 6:
		a, b := s.block()
		s.tell(&v1.CompactionSummaryChunk{CompactionID: "k", Content: a}, &acp.CompactionSummaryChunk{CompactionID: "k", Content: b})
		s.tell(&v1.CompactionUpdate{CompactionID: "k", Status: v1.CompactionStatusFailed, Error: v1.Some(text)},
			&acp.CompactionUpdate{CompactionID: "k", Status: acp.CompactionStatusFailed, Error: acp.Some(text)})
	case 7:
		s.tell(&v1.SubagentUpdate{SessionID: "c", Title: v1.Some(text), State: v1.Some[v1.StateUpdate](&v1.RunningStateUpdate{})},
			&acp.SubagentUpdate{SessionID: "c", Title: acp.Some(text), State: acp.Some[acp.StateUpdate](&acp.RunningStateUpdate{})})
	case 8:
		s.tell(&v1.ConfigOptionUpdate{ConfigOptions: []v1.SessionConfigOption{
			{ID: "o", Name: text, Category: "mode", Kind: &v1.SessionConfigSelect{CurrentValue: "v", Options: v1.SessionConfigSelectOptions{
				Grouped: []v1.SessionConfigSelectGroup{{Group: "g", Name: "G", Options: []v1.SessionConfigSelectOption{{Value: "v", Name: "V"}}}}}}},
			{ID: "b", Name: "B", Kind: &v1.SessionConfigBoolean{CurrentValue: true}},
		}}, &acp.ConfigOptionUpdate{ConfigOptions: []acp.SessionConfigOption{
			{ConfigID: "o", Name: text, Category: "mode", Kind: &acp.SessionConfigSelect{CurrentValue: "v", Options: acp.SessionConfigSelectOptions{
				Grouped: []acp.SessionConfigSelectGroup{{GroupID: "g", Name: "G", Options: []acp.SessionConfigSelectOption{{Value: "v", Name: "V"}}}}}}},
			{ConfigID: "b", Name: "B", Kind: &acp.SessionConfigBoolean{CurrentValue: true}},
		}})
	}
}

// turn tells a prompt, what the agent does, and the end. In version 1 the agent echoes the
// prompt, so that its message has an id there too.
func (s *teller) turn() {
	text, id := s.text(), s.id("user")
	echo := &acp.UserMessage{MessageID: acp.MessageID(id), Content: acp.Some([]acp.ContentBlock{acp.Text(text)})}
	s.old.Prompt([]v1.ContentBlock{v1.Text(text)})
	s.old.Apply(&v1.UserMessageChunk{MessageID: v1.MessageID(id), Content: v1.Text(text)})
	responded := thread.Prompt(s.now, []acp.ContentBlock{acp.Text(text)})
	switch s.r.IntN(3) {
	case 0:
		thread.Apply(s.now, echo)
		responded(&acp.PromptResponse{MessageID: echo.MessageID})
	case 1:
		responded(&acp.PromptResponse{MessageID: echo.MessageID})
		thread.Apply(s.now, echo)
	case 2:
		responded(&acp.PromptResponse{MessageID: echo.MessageID})
		for _, c := range text {
			thread.Apply(s.now, &acp.UserMessageChunk{MessageID: echo.MessageID, Content: acp.Text(string(c))})
		}
	}
	thread.Apply(s.now, &acp.SessionStateUpdate{StateUpdate: &acp.RunningStateUpdate{}})
	for range s.r.IntN(8) {
		switch s.r.IntN(3) {
		case 0:
			s.message(s.id("message"))
		case 1:
			s.toolCall()
		case 2:
			s.part()
		}
		s.same()
	}
	reason := []string{"end_turn", "cancelled", "refusal"}[s.r.IntN(3)]
	s.old.EndTurn(&v1.PromptResponse{StopReason: v1.StopReason(reason), Usage: &v1.Usage{TotalTokens: 3, InputTokens: 2, OutputTokens: 1}}, nil)
	thread.Apply(s.now, &acp.SessionStateUpdate{StateUpdate: &acp.IdleStateUpdate{StopReason: acp.StopReason(reason), Usage: &acp.Usage{TotalTokens: 3, InputTokens: 2, OutputTokens: 1}}})
	if s.r.IntN(2) == 0 {
		s.part() // after the end
	}
	s.same()
}

// same holds that the two threads show the same. Revisions count different steps.
func (s *teller) same() {
	s.t.Helper()
	a, b := *s.old.Snapshot(), *s.now.Snapshot()
	a.Revision, b.Revision = 0, 0
	require.Equal(s.t, toJSON(s.t, &a), toJSON(s.t, &b))
}

func TestTheSameStoryGivesTheSameThread(t *testing.T) {
	items := 0
	for seed := range uint64(300) {
		s := &teller{t: t, r: rand.New(rand.NewPCG(seed, 13)), old: model.New(), now: model.New()}
		for range 1 + s.r.IntN(4) {
			s.turn()
		}
		items += s.now.Snapshot().Items.Len()
	}
	assert.Greater(t, items, 2000, "the stories are long enough to say something")
}
