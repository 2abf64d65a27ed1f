package kit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
)

// shown returns the items that a person sees in a session: "agent: hi", "call: Run ls failed:
// Cancelled".
func shown(s *thread.Snapshot) (lines []string) {
	for _, item := range s.Items.All() {
		switch m := item.(type) {
		case *thread.Message:
			line := string(m.Role) + ": "
			for _, b := range m.Content.All() {
				if line += b.Text; b.Type != thread.BlockText {
					line += "[" + b.Type + "]"
				}
			}
			lines = append(lines, line)
		case *thread.ToolCall:
			line := "call: " + m.Title + " " + m.Status
			for _, c := range m.Content.All() {
				if c.Block != nil {
					line += ": " + c.Block.Text
				} else {
					line += ": " + c.Type
				}
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// items returns the items of a session with their ids. Prompts have no ids in version 1.
func items(t testing.TB, s *thread.Snapshot) (all []string) {
	for _, item := range s.Items.All() {
		if m, ok := item.(*thread.Message); ok && m.Role == thread.RoleUser {
			item = &thread.Message{Role: m.Role, Content: m.Content}
		}
		text, err := json.Marshal(item)
		require.NoError(t, err)
		all = append(all, string(text))
	}
	return all
}

// reload loads a session that the user shows. It shows the same as before, which reload returns.
func (u *user) reload(id acp.SessionID) *thread.Snapshot {
	u.t.Helper()
	live := u.set.Thread(id).Snapshot()
	u.load(id)
	loaded := u.set.Thread(id).Snapshot()
	assert.Equal(u.t, items(u.t, live), items(u.t, loaded))
	assert.Equal(u.t, live.Plans, loaded.Plans)
	assert.Equal(u.t, live.Title, loaded.Title)
	assert.Equal(u.t, live.Usage, loaded.Usage)
	return live
}

// The text and updates of a turn arrive in order, whatever the sizes of the model's deltas, and
// session/load shows the same.
func TestOutput(t *testing.T) {
	long := strings.Repeat("0123456789abcde\n", 1<<20/16)
	say := func(ctx context.Context, s *kit.Session, deltas ...string) error {
		for _, d := range deltas {
			if err := s.Text(ctx, d); err != nil {
				return err
			}
		}
		return nil
	}
	for name, test := range map[string]struct {
		turn func(ctx context.Context, s *kit.Session) error
		want []string
	}{
		"a rune in pieces": {func(ctx context.Context, s *kit.Session) error {
			return say(ctx, s, "\xe2", "\x82", "\xac5", "\xf0\x9f")
		}, []string{"agent: €5\ufffd\ufffd"}},
		"bytes that are no text": {func(ctx context.Context, s *kit.Session) error { return say(ctx, s, "a\xff\xfe", "\x80b", "\xe2", "c") }, []string{"agent: a\ufffd\ufffd\ufffdb\ufffdc"}},
		"empty deltas":           {func(ctx context.Context, s *kit.Session) error { return say(ctx, s, "", "a", "", "b", "") }, []string{"agent: ab"}},
		"a long delta":           {func(ctx context.Context, s *kit.Session) error { return say(ctx, s, "a", long, "b") }, []string{"agent: a" + long + "b"}},
		"text and thoughts in turns": {func(ctx context.Context, s *kit.Session) error {
			return errors.Join(s.Thought(ctx, "t1"), s.Text(ctx, "a"), s.Text(ctx, "b"), s.Thought(ctx, "t2"), s.Text(ctx, "c"), s.Thought(ctx, "t3"))
		}, []string{"thought: t1", "agent: ab", "thought: t2", "agent: c", "thought: t3"}},
		"two messages of a model": {func(ctx context.Context, s *kit.Session) error {
			return errors.Join(s.Text(ctx, "a"), s.EndMessage(), s.EndMessage(), s.Text(ctx, "b"))
		}, []string{"agent: a", "agent: b"}},
		"an image between texts": {func(ctx context.Context, s *kit.Session) error {
			image := &acp.AgentMessageChunk{Content: &acp.ImageContent{MIMEType: "image/png", Data: "AAAA"}}
			return errors.Join(s.Text(ctx, "a"), s.Update(ctx, image), s.Text(ctx, "b"))
		}, []string{"agent: a", "agent: [image]", "agent: b"}},
		"a message of several blocks": {func(ctx context.Context, s *kit.Session) error {
			chunk := func(c acp.ContentBlock) error {
				return s.Update(ctx, &acp.AgentMessageChunk{MessageID: "m", Content: c})
			}
			hint := &acp.TextContent{Text: "!", Annotations: &acp.Annotations{Audience: []acp.Role{acp.RoleUser}}}
			return errors.Join(chunk(acp.Text("a")), chunk(acp.Text("b")), chunk(hint), chunk(&acp.ImageContent{MIMEType: "image/png", Data: "AAAA"}), chunk(acp.Text("c")), chunk(acp.Text("d")))
		}, []string{"agent: ab![image]cd"}},
		"a call that is left open": {func(ctx context.Context, s *kit.Session) error {
			return errors.Join(s.Update(ctx, &acp.ToolCall{ToolCallID: "c", Title: "Look", Status: acp.ToolCallStatusInProgress}),
				s.Update(ctx, &acp.ToolCallUpdate{ToolCallID: "c", Title: "Look around", Content: []acp.ToolCallContent{acp.ToolText("half")}}))
		}, []string{"call: Look around failed: half: The turn ended before this call did."}},
		"an update of a call that has ended": {func(ctx context.Context, s *kit.Session) error {
			status := func(id acp.ToolCallID, status acp.ToolCallStatus, text string) error {
				return s.Update(ctx, &acp.ToolCallUpdate{ToolCallID: id, Status: status, Content: []acp.ToolCallContent{acp.ToolText(text)}})
			}
			return errors.Join(s.Update(ctx, &acp.ToolCall{ToolCallID: "c", Title: "Look"}), status("c", acp.ToolCallStatusCompleted, "done"),
				status("c", acp.ToolCallStatusInProgress, "again"), status("c", "", "more"), status("unknown", acp.ToolCallStatusFailed, "what?"))
		}, []string{"call: Look completed: done"}},
		"updates that cannot be sent": {func(ctx context.Context, s *kit.Session) error {
			plan := []acp.PlanEntry{{Content: "p", Priority: acp.PlanEntryPriorityHigh, Status: acp.PlanEntryStatusPending}}
			if err := errors.Join(s.SendPlan(ctx, plan...), s.Update(ctx, &acp.ToolCall{ToolCallID: "c", Title: "Look", Status: acp.ToolCallStatusInProgress})); err != nil {
				return err
			}
			nowhere := []acp.ToolCallLocation{{Path: "relative"}}
			for _, u := range []acp.SessionUpdate{
				&acp.ToolCallUpdate{ToolCallID: "c", Status: acp.ToolCallStatusCompleted, Locations: nowhere}, &acp.ToolCall{ToolCallID: "d", Locations: nowhere},
				&acp.ToolCall{ToolCallID: "e", Content: []acp.ToolCallContent{nil}}, &acp.ToolCall{ToolCallID: "f", RawInput: json.RawMessage("{")},
				&acp.ToolCall{}, &acp.Plan{Entries: []acp.PlanEntry{{}}}, &acp.AgentMessageChunk{}, nil,
			} {
				assert.Error(t, s.Update(ctx, u))
			}
			return s.Text(ctx, "a")
		}, []string{"call: Look failed: The turn ended before this call did.", "agent: a"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := connect(t, kit.New(&kit.Options{Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
					return "", test.turn(ctx, s)
				}}))
				id := u.open()
				u.ask(id, "go")
				assert.Equal(t, append([]string{"user: go"}, test.want...), shown(u.reload(id)))
			})
		})
	}
}

// If a model streams single bytes, they are joined to fewer chunks.
func TestOutputJoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var want strings.Builder
		u := connect(t, kit.New(&kit.Options{Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
			for i := range 10_000 {
				want.WriteByte(byte('a' + i%26))
				require.NoError(t, s.Text(ctx, string(rune('a'+i%26))))
				time.Sleep(time.Millisecond)
			}
			return "", nil
		}}))
		id := u.open()
		u.ask(id, "go")
		var got strings.Builder
		chunks, ids := 0, make(map[acp.MessageID]bool)
		for _, up := range u.Take() {
			if c, ok := up.(*acp.AgentMessageChunk); ok {
				got.WriteString(acp.PlainText(c.Content))
				chunks++
				ids[c.MessageID] = true
			}
		}
		assert.Equal(t, want.String(), got.String())
		assert.Less(t, chunks, 500)
		assert.Len(t, ids, 1)
		u.reload(id)
	})
}

// The first delta is sent at once. Later deltas are sent even while the model sends nothing.
func TestOutputDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var u *user
		u = connect(t, kit.New(&kit.Options{Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
			require.NoError(t, s.Text(ctx, "a"))
			synctest.Wait()
			assert.Equal(t, []string{"message: a"}, story(u.Take()))
			require.NoError(t, s.Text(ctx, "b"))
			require.NoError(t, s.Text(ctx, "c"))
			time.Sleep(25 * time.Millisecond)
			synctest.Wait()
			assert.Equal(t, []string{"message: bc"}, story(u.Take()))
			require.NoError(t, s.SendPlan(ctx, acp.PlanEntry{Content: "p", Priority: acp.PlanEntryPriorityHigh, Status: acp.PlanEntryStatusPending}))
			return "", nil
		}}))
		id := u.open()
		_, err := u.Prompt(t.Context(), &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{&acp.ImageContent{MIMEType: "image/png", Data: "AAAA"}}})
		require.NoError(t, err)
	})
}

// If several goroutines send deltas, each delta arrives once.
func TestOutputOfTwoGoroutines(t *testing.T) {
	u := connect(t, kit.New(&kit.Options{Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
		var work sync.WaitGroup
		for _, mark := range []string{"<a>", "<b>"} {
			work.Go(func() {
				for range 1000 {
					assert.NoError(t, s.Text(ctx, mark))
				}
			})
			work.Go(func() {
				for i := range 20 {
					id := acp.ToolCallID(fmt.Sprint(mark, i))
					assert.NoError(t, s.Update(ctx, &acp.ToolCall{ToolCallID: id, Title: "T"}))
					assert.NoError(t, s.Update(ctx, &acp.ToolCallUpdate{ToolCallID: id, Status: acp.ToolCallStatusCompleted}))
					assert.NoError(t, s.SetTitle(ctx, string(id)))
				}
			})
		}
		work.Wait()
		return "", nil
	}}))
	id := u.open()
	u.ask(id, "go")
	all := strings.Join(shown(u.reload(id)), "\n")
	assert.Equal(t, []int{1000, 1000, 40}, []int{strings.Count(all, "<a>"), strings.Count(all, "<b>"), strings.Count(all, "call: T completed")})
}

// Text that cannot be sent because the connection has ended is stored once.
func TestOutputAfterTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var u *user
		failed := make(chan error, 1)
		a := kit.New(&kit.Options{Store: new(journal.Memory), Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
			require.NoError(t, s.Text(ctx, "before, "))
			require.NoError(t, s.Update(ctx, &acp.ToolCall{ToolCallID: "c", Title: "Look", Status: acp.ToolCallStatusInProgress}))
			u.Close()
			<-ctx.Done()
			_ = s.Update(ctx, &acp.ToolCallUpdate{ToolCallID: "c", Status: acp.ToolCallStatusCompleted})
			_ = s.Text(ctx, "after, ")
			time.Sleep(time.Minute)
			failed <- errors.Join(s.Text(ctx, "and much later"), s.EndMessage())
			return "", nil
		}})
		u = connect(t, a)
		id := u.open()
		_, err := u.Prompt(t.Context(), &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.Text("go")}})
		require.Error(t, err)
		assert.Error(t, <-failed, "the turn learns of it")
		synctest.Wait()
		other := connect(t, a)
		other.load(id)
		assert.Equal(t, []string{"user: go", "agent: before, ", "call: Look completed", "agent: after, and much later"}, shown(other.set.Thread(id).Snapshot()))
	})
}

// Updates that other goroutines send after the end of a turn do not open its calls again. Their
// text precedes the next prompt.
func TestOutputAfterTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := connect(t, kit.New(&kit.Options{Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
			if acp.PlainText(p.Blocks...) == "second" {
				return "", s.Text(ctx, "Yes?")
			}
			require.NoError(t, s.Update(ctx, &acp.ToolCall{ToolCallID: "c", Title: "Look", Status: acp.ToolCallStatusInProgress}))
			go func() {
				time.Sleep(time.Second)
				assert.NoError(t, s.Update(ctx, &acp.ToolCallUpdate{ToolCallID: "c", Status: acp.ToolCallStatusInProgress}))
				assert.NoError(t, s.Update(ctx, &acp.ToolCall{ToolCallID: "late", Title: "Late", Status: acp.ToolCallStatusInProgress}))
				assert.NoError(t, s.Text(ctx, "By the way"))
			}()
			return "", nil
		}}))
		id := u.open()
		u.ask(id, "first")
		time.Sleep(time.Second)
		synctest.Wait()
		u.ask(id, "second")
		assert.Equal(t, []string{
			"user: first", "call: Look failed: The turn ended before this call did.",
			"call: Late failed: The turn ended before this call did.", "agent: By the way", "user: second", "agent: Yes?",
		}, shown(u.reload(id)))
	})
}

func TestTitle(t *testing.T) {
	var titles []string
	u := connect(t, kit.New(&kit.Options{Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
		for _, title := range titles {
			if err := s.SetTitle(ctx, title); err != nil {
				return "", err
			}
		}
		return "", nil
	}}))
	long := strings.Repeat("é", 100)
	for prompt, want := range map[string]string{
		"\n \n  fix\tthe bug\r\nand more": "fix the bug", long: "", "\x1b[31mred": `\x1b[31mred`, " a\x00b ": `a\x00b`, "\u202egpj.exe": `\u202egpj.exe`,
	} {
		titles = nil
		id := u.open()
		u.ask(id, prompt)
		got := u.set.Thread(id).Snapshot().Title
		if prompt == long {
			assert.True(t, utf8.ValidString(got) && len(got) <= 80 && strings.HasPrefix(got, "éé") && strings.HasSuffix(got, "é..."), got)
		} else {
			assert.Equal(t, want, got)
		}
		titles = []string{"", "  \n", "A better title\nx"}
		u.ask(id, "again")
		assert.Equal(t, "A better title", u.set.Thread(id).Snapshot().Title)
		u.load(id)
		assert.Equal(t, "A better title", u.set.Thread(id).Snapshot().Title)
		titles = []string{""}
		u.ask(id, "and again")
		assert.Empty(t, u.set.Thread(id).Snapshot().Title)
		titles = nil
		u.ask(id, "the last")
		assert.Equal(t, "the last", u.set.Thread(id).Snapshot().Title)
	}
}

// The last reported usage counts.
func TestUsage(t *testing.T) {
	u := connect(t, kit.New(&kit.Options{Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
		cost := &acp.UsageUpdate{Used: 900, Size: 1000, Cost: &acp.Cost{Amount: 0.5, Currency: "EUR"}}
		return "", errors.Join(s.Update(ctx, cost), s.SendUsage(ctx, 950, 1000), s.SendUsage(ctx, 400, 1000))
	}}))
	id := u.open()
	u.ask(id, "one")
	u.ask(id, "two")
	live := u.reload(id).Usage
	assert.Equal(t, []uint64{400, 1000}, []uint64{live.Used, live.Size})
}

// Plans with ids reach each client in the form that it supports, live and in a replay.
func TestPlansByTheClientsCapability(t *testing.T) {
	items := []acp.PlanEntry{{Content: "p", Priority: acp.PlanEntryPriorityHigh, Status: acp.PlanEntryStatusPending}}
	steps := []thread.PlanEntry{{Content: "p", Priority: "high", Status: "pending"}}
	for name, tt := range map[string]struct {
		caps          *acp.ClientCapabilities
		shown, loaded []thread.Plan
	}{
		"several": {&acp.ClientCapabilities{Plan: &acp.PlanCapabilities{}},
			[]thread.Plan{{ID: "a", Entries: steps}, {ID: "m", Markdown: "# M", Path: "/m.md"}}, []thread.Plan{{ID: "a", Entries: steps}, {ID: "m", Markdown: "# M", Path: "/m.md"}}},
		"one": {nil, []thread.Plan{{}}, []thread.Plan{{Entries: steps}}},
	} {
		t.Run(name, func(t *testing.T) {
			u := connectAs(t, kit.New(&kit.Options{Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
				return "", errors.Join(
					s.Update(ctx, &acp.PlanUpdate{Plan: &acp.PlanItems{PlanID: "a", Entries: items}}), s.Update(ctx, &acp.PlanUpdate{Plan: &acp.PlanMarkdown{PlanID: "m", Content: "# M", Path: "/m.md"}}),
					s.Update(ctx, &acp.PlanUpdate{Plan: &acp.PlanItems{PlanID: "b", Entries: items}}), s.Update(ctx, &acp.PlanRemoved{PlanID: "b"}), s.Update(ctx, &acp.PlanRemoved{PlanID: "none"}))
			}}), tt.caps, func(s *peertest.Client) acp.Client { return s })
			id := u.open()
			u.ask(id, "one")
			assert.Equal(t, tt.shown, u.set.Thread(id).Snapshot().Plans)
			u.load(id)
			assert.Equal(t, tt.loaded, u.set.Thread(id).Snapshot().Plans)
		})
	}
}

// A client that shows one plan has the one that changed last, live and in a replay.
func TestTheLatestPlan(t *testing.T) {
	entry := func(text string) []acp.PlanEntry {
		return []acp.PlanEntry{{Content: text, Priority: acp.PlanEntryPriorityHigh, Status: acp.PlanEntryStatusPending}}
	}
	u := connect(t, kit.New(&kit.Options{Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
		return "", errors.Join(s.Update(ctx, &acp.PlanUpdate{Plan: &acp.PlanItems{PlanID: "a", Entries: entry("a")}}), s.SendPlan(ctx, entry("only")...),
			s.Update(ctx, &acp.PlanUpdate{Plan: &acp.PlanItems{PlanID: "b", Entries: entry("b")}}), s.Update(ctx, &acp.PlanUpdate{Plan: &acp.PlanItems{PlanID: "a", Entries: entry("a again")}}), s.Text(ctx, "t"))
	}}))
	id := u.open()
	u.ask(id, "one")
	live := u.set.Thread(id).Snapshot().Plans
	require.Len(t, live, 1)
	assert.Equal(t, "a again", live[0].Entries[0].Content)
	u.load(id)
	assert.Equal(t, live, u.set.Thread(id).Snapshot().Plans)
}

// A client without notices receives them as a message before the next answer. They are not stored.
func TestNotice(t *testing.T) {
	for name, caps := range map[string]*acp.ClientCapabilities{
		"with notices":    {Session: &acp.ClientSessionCapabilities{Notices: &acp.NoticeCapabilities{}}},
		"without notices": nil,
	} {
		t.Run(name, func(t *testing.T) {
			u := connectAs(t, kit.New(&kit.Options{Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
				return "", errors.Join(s.Text(ctx, "a"), s.SendNotice(ctx, "The key ends soon."), s.Text(ctx, "b"))
			}}), caps, func(s *peertest.Client) acp.Client { return s })
			id := u.open()
			u.ask(id, "one")
			want := []string{"user: one", "agent: ab"}
			assert.Equal(t, want, shown(u.set.Thread(id).Snapshot()))
			notices := 0
			for _, item := range u.set.Thread(id).Snapshot().Items.All() {
				if n, ok := item.(*thread.Notice); ok {
					assert.Equal(t, "The key ends soon.", n.Title)
					notices++
				}
			}
			u.ask(id, "two")
			if caps != nil {
				assert.Equal(t, 1, notices)
			} else {
				assert.Equal(t, append(want, "user: two", "agent: The key ends soon.\n\n", "agent: ab"), shown(u.set.Thread(id).Snapshot()))
			}
			u.load(id)
			assert.Equal(t, append(want, "user: two", "agent: ab"), shown(u.set.Thread(id).Snapshot()))
		})
	}
}
