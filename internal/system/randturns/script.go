// Package randturns plays random conversations with an agent of package agent/kit. It knows what
// a person must have seen of each, because it has made up all that the agent does.
package randturns

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
)

// A Script is a random conversation.
type Script struct{ Turns []*Turn }

// A Turn is what an agent does for one prompt, and what the person does before it.
type Turn struct {
	Prompt  string
	Image   bool     // the prompt has an image, too
	Mode    string   // set by the person before the prompt; empty means no change
	Model   string   // the same of another setting
	Modes   []string // all that the session has in the turn, in their order
	Cancels bool     // the person cancels the turn once the agent says Cancel
	After   Seen     // what the person must have seen when the turn has ended

	steps []step
	end   func() (acp.StopReason, error)
}

// Cancel is what the agent says when it waits to be cancelled.
const Cancel = "CANCEL-NOW"

type step func(ctx context.Context, s *kit.Session) error

// Seen is what a person sees of a session.
type Seen struct {
	Lines              []string // messages and tool calls in their order
	Plan               []string
	Title, Mode, Model string
	Used               uint64
}

// Options say which scripts are made.
type Options struct {
	Turns  int
	Slow   time.Duration // how long the agent waits at most between two deltas
	Simple bool          // each message is whole before the next item begins
}

// author makes up a script.
type author struct {
	Options
	r        *rand.Rand
	n        int // of the turn
	ids      int
	turn     *Turn
	seen     Seen
	messages map[acp.MessageID]int // lines of messages with ids of the author
	calls    map[int]bool          // lines of calls that are open
	open     string                // the role of the message that grows
	rules    map[string]bool
	history  []string
	over     bool // the turn has been cancelled
}

// New returns the script of a seed.
func New(seed uint64, o Options) *Script {
	a := &author{Options: o, r: rand.New(rand.NewPCG(seed, 19)), rules: make(map[string]bool)}
	a.seen.Mode, a.seen.Model = modes[0], models[0]
	sc := new(Script)
	for a.n = range o.Turns {
		sc.Turns = append(sc.Turns, a.write())
	}
	return sc
}

func (a *author) write() *Turn {
	t := &Turn{Prompt: fmt.Sprintf("turn %d: %s", a.n, a.words()), Image: a.one(5)}
	a.turn, a.over, a.open, a.calls, a.messages = t, false, "", make(map[int]bool), make(map[acp.MessageID]int)
	t.Modes = []string{a.seen.Mode}
	if a.one(4) {
		t.Mode = modes[a.r.IntN(len(modes))]
		a.seen.Mode, t.Modes = t.Mode, append(t.Modes, t.Mode)
	}
	if a.one(4) {
		t.Model = models[a.r.IntN(len(models))]
		a.seen.Model = t.Model
	}
	line := "user: " + t.Prompt
	if t.Image {
		line += "[image]"
	}
	a.line(line)
	a.seen.Title = cmp.Or(a.seen.Title, strings.Join(strings.Fields(t.Prompt), " "))
	for range 1 + a.r.IntN(8) {
		if !a.over {
			a.step()
		}
	}
	a.finish()
	t.After = a.seen
	t.After.Lines, t.After.Plan = slices.Clone(a.seen.Lines), slices.Clone(a.seen.Plan)
	return t
}

func (a *author) one(in int) bool { return a.r.IntN(in) == 0 }

func (a *author) id() int { a.ids++; return a.ids }

func (a *author) words() string {
	all := []string{"one", "deux", "drei €", "四", "🙂 five", "<six>", "\"seven\"", "line\nbreak", "tab\t", "end."}
	var b strings.Builder
	for range 1 + a.r.IntN(4) {
		b.WriteString(all[a.r.IntN(len(all))] + " ")
	}
	return strings.TrimSpace(strings.ReplaceAll(b.String(), "\n", " "))
}

func (a *author) line(text string) int {
	a.seen.Lines = append(a.seen.Lines, text)
	return len(a.seen.Lines) - 1
}

func (a *author) do(f step) { a.turn.steps = append(a.turn.steps, f) }

// step adds one thing that the agent does.
func (a *author) step() {
	switch a.r.IntN(14) {
	case 0, 1, 2:
		a.say("agent", strings.Repeat(a.words()+"\n", 1+a.r.IntN(20)))
	case 3:
		a.say("thought", a.words())
	case 4:
		a.open = ""
		a.do(func(_ context.Context, s *kit.Session) error { return s.EndMessage() })
	case 5:
		a.message()
	case 6:
		a.plan()
	case 7:
		used := uint64(a.r.IntN(1000))
		a.open, a.seen.Used = "", used
		a.do(func(ctx context.Context, s *kit.Session) error { return s.SendUsage(ctx, used, 1000) })
	case 8:
		title := a.words()
		a.seen.Title = strings.Join(strings.Fields(title), " ")
		a.do(func(ctx context.Context, s *kit.Session) error { return s.SetTitle(ctx, title+"\nmore") })
	case 9:
		mode, model := modes[a.r.IntN(len(modes))], models[a.r.IntN(len(models))]
		a.seen.Mode, a.seen.Model, a.turn.Modes = mode, model, append(a.turn.Modes, mode)
		a.do(func(ctx context.Context, s *kit.Session) error {
			return errors.Join(s.SetMode(ctx, acp.SessionModeID(mode)), s.SetSetting(ctx, "model", model))
		})
	case 10:
		a.remember()
	case 11:
		a.ownCall()
	default:
		a.batch()
	}
}

// say adds text, cut anywhere.
func (a *author) say(role, text string) {
	if a.open != role {
		a.open = role
		a.line(role + ": ")
	}
	a.seen.Lines[len(a.seen.Lines)-1] += text
	var deltas []string
	var waits []time.Duration
	for rest := text; rest != ""; {
		n := 1 + a.r.IntN(min(len(rest), 1+a.r.IntN(30)))
		deltas, rest = append(deltas, rest[:n]), rest[n:]
		wait := time.Duration(0)
		if a.one(4) {
			wait = time.Duration(a.r.Int64N(int64(a.Slow) + 1))
		}
		waits = append(waits, wait)
	}
	a.do(func(ctx context.Context, s *kit.Session) error {
		send := s.Text
		if role == "thought" {
			send = s.Thought
		}
		for i, d := range deltas {
			if err := send(ctx, d); err != nil {
				return err
			}
			if waits[i] > 0 {
				time.Sleep(waits[i])
			}
		}
		return nil
	})
}

// message adds a part of a message that may have an id of its own.
func (a *author) message() {
	a.open = ""
	var id acp.MessageID
	if a.one(2) {
		id = acp.MessageID(fmt.Sprintf("m%d-%d", a.n, a.r.IntN(2)))
		if a.Simple {
			id = acp.MessageID(fmt.Sprintf("m%d", a.id()))
		}
	}
	var content acp.ContentBlock = &acp.ImageContent{MIMEType: "image/png", Data: "AAAA"}
	text := "[image]"
	if a.one(2) {
		text = a.words()
		content = acp.Text(text)
	}
	if at, ok := a.messages[id]; ok {
		a.seen.Lines[at] += text
	} else if at := a.line("agent: " + text); id != "" {
		a.messages[id] = at
	}
	a.do(func(ctx context.Context, s *kit.Session) error {
		return s.Update(ctx, &acp.AgentMessageChunk{MessageID: id, Content: content})
	})
}

func (a *author) plan() {
	a.open, a.seen.Plan = "", nil
	var entries []acp.PlanEntry
	for range 1 + a.r.IntN(3) {
		e := acp.PlanEntry{Content: a.words(), Priority: acp.PlanEntryPriorityHigh, Status: acp.PlanEntryStatusPending}
		entries, a.seen.Plan = append(entries, e), append(a.seen.Plan, e.Content)
	}
	a.do(func(ctx context.Context, s *kit.Session) error { return s.SendPlan(ctx, entries...) })
}

// remember changes what the model reads, or says it.
func (a *author) remember() {
	switch item := a.words(); a.r.IntN(5) {
	case 0:
		a.history = []string{"summary of " + item}
		a.do(func(_ context.Context, s *kit.Session) error { return s.Compact("summary of " + item) })
	case 1:
		all, _ := json.Marshal(append([]string{}, a.history...)) // texts
		if a.open != "agent" {
			a.line("agent: ")
		}
		a.open = "agent"
		a.seen.Lines[len(a.seen.Lines)-1] += string(all)
		a.do(func(ctx context.Context, s *kit.Session) error {
			all, err := s.History(ctx)
			if err != nil {
				return err
			}
			text, err := json.Marshal(append([]json.RawMessage{}, all...))
			return errors.Join(err, s.Text(ctx, string(text)))
		})
	case 2:
		a.do(func(ctx context.Context, s *kit.Session) error { return s.SendNotice(ctx, item) })
	default:
		a.history = append(a.history, item, "and more")
		a.do(func(_ context.Context, s *kit.Session) error { return s.Remember(item, "and more") })
	}
}

// finish adds the end of the turn.
func (a *author) finish() {
	reason, why := acp.StopReasonEndTurn, "The turn ended before this call did."
	a.turn.end = func() (acp.StopReason, error) { return reason, nil }
	if !a.over {
		switch a.r.IntN(12) {
		case 0:
			reason = acp.StopReasonMaxTokens
		case 1:
			a.turn.end = func() (acp.StopReason, error) { return "", errors.New("the model has failed") }
		case 2:
			a.turn.end = func() (acp.StopReason, error) { panic("the model has panicked") }
		case 3, 4:
			why = "Cancelled"
			a.cancelled()
		}
	}
	for at := range maps.Keys(a.calls) {
		a.seen.Lines[at] = strings.Replace(a.seen.Lines[at], " "+openStatus, " failed", 1) + ": " + why
	}
}

// cancelled adds that the agent waits for the cancel of the person, in a tool or outside, and what
// it still says then.
func (a *author) cancelled() {
	a.turn.Cancels = true
	if a.one(2) {
		a.open = ""
		a.calls[a.line("call: Look "+openStatus)] = true
		a.line("call: Look /w/wait failed: Cancelled")
		id := acp.ToolCallID(fmt.Sprint("own", a.id()))
		a.do(func(ctx context.Context, s *kit.Session) error {
			if err := s.Update(ctx, &acp.ToolCall{ToolCallID: id, Title: "Look"}); err != nil {
				return err
			}
			_, err := s.Run(ctx, request(call{Tool: "look", What: "/w/wait", Do: "wait"}))
			if err == nil {
				return errors.New("a turn that is cancelled goes on")
			}
			return nil
		})
	} else {
		a.say("agent", "stop me: ")
		a.seen.Lines[len(a.seen.Lines)-1] += Cancel
		a.open = ""
		a.do(func(ctx context.Context, s *kit.Session) error {
			defer func() { <-ctx.Done() }()
			return errors.Join(s.Text(ctx, Cancel), s.EndMessage())
		})
	}
	a.say("agent", "last words")
}
