package thread

import (
	"maps"
	"slices"
)

func (c StateChanged) apply(t *Thread) {
	turn := Turn{State: c.State, Background: t.now.Turn.Background, Meta: c.Meta, Raw: c.Raw}
	set(&turn.Background, c.Background)
	switch c.State {
	case StateIdle:
		turn.StopReason, turn.Error, turn.Usage = c.StopReason, c.Error, c.Usage
		t.endCalls(turn.Background)
		t.closeMessage()
		if len(turn.Background) == 0 {
			t.dropPermissions()
		}
	default:
		if !t.working() {
			t.turns++
			t.endCalls(turn.Background) // left over from what was loaded
		}
	}
	t.now.Turn = turn
	t.changed(PartTurn)
}

// working reports whether a turn is in progress.
func (t *Thread) working() bool { return t.now.Turn.State != StateIdle && t.now.Turn.State != "" }

// endCalls marks the open tool calls as ended that do not go on in the background.
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

// closeMessage keeps chunks without ids of the next turn apart from this one's.
func (t *Thread) closeMessage() {
	if t.last != nil {
		if n, ok := t.last.node.(*messageNode); ok {
			n.closed = true
		}
	}
}
