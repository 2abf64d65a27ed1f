package thread

import (
	"maps"
	"slices"

	"github.com/acpkit/go-sdk/internal/fold"
)

// plansAtMost is how many plans are kept. Each change copies the list.
const plansAtMost = 100

func (c PlanChanged) apply(t *Thread) {
	i := slices.IndexFunc(t.now.Plans, func(p Plan) bool { return p.ID == c.Plan.ID })
	plans := slices.Clone(t.now.Plans)
	if i < 0 {
		plans = append(plans, c.Plan)
		plans = plans[max(0, len(plans)-plansAtMost):]
	} else {
		plans[i] = c.Plan
	}
	t.now.Plans = plans
	t.changed(PartPlans)
}

func (c PlanRemoved) apply(t *Thread) {
	i := slices.IndexFunc(t.now.Plans, func(p Plan) bool { return p.ID == c.ID })
	if i >= 0 {
		t.now.Plans = slices.Delete(slices.Clone(t.now.Plans), i, i+1)
		t.changed(PartPlans)
	}
}

func (c SuggestionsChanged) apply(t *Thread) {
	t.now.Suggestions = slices.Clone(c.Suggestions)
	t.changed(PartSuggestions)
}

func (c UsageChanged) apply(t *Thread) {
	u := &Usage{Used: c.Used, Size: c.Size, Meta: c.Meta}
	if old := t.now.Usage; old != nil {
		u.Cost, u.Meta = old.Cost, fold.Meta(old.Meta, c.Meta)
	}
	fold.Set(&u.Cost, c.Cost)
	t.now.Usage = u
	t.changed(PartUsage)
}

// modeChanged changes the current mode.
type modeChanged struct {
	id   string
	meta Meta
}

func (c modeChanged) apply(t *Thread) {
	m := Modes{}
	if t.now.Modes != nil {
		m = *t.now.Modes
	}
	m.Current, m.Meta = c.id, fold.Meta(m.Meta, c.meta)
	t.now.Modes = &m
	t.changed(PartModes)
}

func (c OptionsChanged) apply(t *Thread) {
	t.now.Options = slices.Clone(c.Options)
	t.changed(PartOptions)
}

func (c CommandsChanged) apply(t *Thread) {
	t.now.Commands = slices.Clone(c.Commands)
	t.changed(PartCommands)
}

func (c SessionOpened) apply(t *Thread) {
	if c.Modes != nil {
		m := *c.Modes
		if told := t.now.Modes; c.New && told != nil {
			m.Current = told.Current
		}
		t.now.Modes = &m
		t.changed(PartModes)
	}
	if c.Options != nil && !(c.New && t.now.Options != nil) {
		OptionsChanged{*c.Options}.apply(t)
	}
	if c.Commands != nil && !(c.New && t.now.Commands != nil) {
		CommandsChanged{*c.Commands}.apply(t)
	}
	if !c.New && !t.working() {
		t.endCalls(t.now.Turn.Background)
		t.messages.Close()
	}
}

func (c InfoChanged) apply(t *Thread) {
	fold.Set(&t.now.Title, c.Title)
	fold.Set(&t.now.UpdatedAt, c.UpdatedAt)
	t.now.Meta = fold.Meta(t.now.Meta, c.Meta)
	t.changed(PartInfo)
}

func (c StateChanged) apply(t *Thread) {
	turn := Turn{State: c.State, Background: t.now.Turn.Background, Meta: c.Meta, Raw: c.Raw}
	fold.Set(&turn.Background, c.Background)
	switch c.State {
	case StateIdle:
		turn.StopReason, turn.Error, turn.Usage = c.StopReason, c.Error, c.Usage
		t.endCalls(turn.Background)
		t.messages.Close()
		if len(turn.Background) == 0 {
			t.dropPermissions()
		}
	default:
		if !t.working() {
			t.turns++
			t.endCalls(turn.Background) // of the loaded history
		}
	}
	t.now.Turn = turn
	t.changed(PartTurn)
}

// working reports whether a turn is in progress.
func (t *Thread) working() bool { return t.now.Turn.State != StateIdle && t.now.Turn.State != "" }

// endCalls marks the open tool calls that are not in background as ended.
func (t *Thread) endCalls(background []Background) {
	for _, i := range slices.Sorted(maps.Keys(t.open)) {
		n := t.open[i]
		if !slices.ContainsFunc(background, func(b Background) bool { return b.Type == "tool_call" && b.ID == n.call.ID }) {
			n.call.Ended = true
			delete(t.open, i)
			t.touch(t.items[i])
		}
	}
}

// Enqueue adds a prompt to Snapshot.Queued, for an agent that reports when a prompt becomes
// part of the conversation. Call the returned function with the id of the message when it
// does: unless the agent has already sent the message, the prompt becomes that message. If
// the prompt failed or was withdrawn, call the function with an empty id. Calls after the
// first do nothing.
func (t *Thread) Enqueue(content []Block) (inserted func(id string)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queued++
	key := t.queued
	var b blocks
	b.set(content)
	t.now.Queued = append(slices.Clip(t.now.Queued), Queued{key, b.list()})
	t.changed(PartQueued)
	return func(id string) { t.Dequeue(key, id) }
}

// Dequeue removes the queued prompt with the key, as the function does that [Thread.Enqueue] returns.
// The id is that of the message which the prompt has become.
func (t *Thread) Dequeue(key uint64, id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.now.Queued, func(q Queued) bool { return q.Key == key })
	if i < 0 {
		return
	}
	content := t.now.Queued[i].Content.Slice()
	t.now.Queued = slices.Delete(slices.Clone(t.now.Queued), i, i+1)
	t.changed(PartQueued)
	if id != "" {
		t.prompted(id, content)
	}
}
