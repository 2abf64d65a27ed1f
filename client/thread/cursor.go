package thread

import (
	"encoding/json"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/fold"
)

// Cursor is a position in a session that the agent has named, for what can be done there.
type Cursor struct {
	ID     string       `json:"id"`
	Anchor CursorAnchor `json:"anchor"`
	// Fork reports whether a session can be forked at the position: session/fork accepts the id.
	Fork bool `json:"fork,omitempty"`
	Meta Meta `json:"meta,omitempty"`
}

// CursorAnchor says where a [Cursor] is.
type CursorAnchor struct {
	// Type is the kind of the item: "user_message", "agent_message", "agent_thought",
	// "session_message", "tool_call" or "compaction". A cursor with another type cannot be shown.
	Type string `json:"type"`
	// ID is the id of the item.
	ID string `json:"id,omitempty"`
	// Position is "before" or "after" the item. A cursor with another position cannot be shown.
	Position string `json:"position,omitempty"`
	Meta     Meta   `json:"meta,omitempty"`
	// Raw holds an anchor of an unknown type.
	Raw json.RawMessage `json:"raw,omitempty"`
}

// AnchorOf returns the anchor in the form of this package. The types of anchors are those of both
// versions of the protocol.
func AnchorOf(a acp.CursorAnchor) CursorAnchor {
	message := func(kind string, m acp.CursorMessageAnchor) CursorAnchor {
		return CursorAnchor{Type: kind, ID: string(m.MessageID), Position: string(m.Position), Meta: Meta(m.Meta)}
	}
	switch a := a.(type) {
	case *acp.CursorUserMessageAnchor:
		return message("user_message", acp.CursorMessageAnchor(*a))
	case *acp.CursorAgentMessageAnchor:
		return message("agent_message", acp.CursorMessageAnchor(*a))
	case *acp.CursorAgentThoughtAnchor:
		return message("agent_thought", acp.CursorMessageAnchor(*a))
	case *acp.CursorSessionMessageAnchor:
		return message("session_message", acp.CursorMessageAnchor(*a))
	case *acp.CursorToolCallAnchor:
		return CursorAnchor{Type: "tool_call", ID: string(a.ToolCallID), Position: string(a.Position), Meta: Meta(a.Meta)}
	case *acp.CursorCompactionAnchor:
		return CursorAnchor{Type: "compaction", ID: string(a.CompactionID), Position: string(a.Position), Meta: Meta(a.Meta)}
	case *acp.UnknownCursorAnchor:
		return CursorAnchor{Type: a.Type, Raw: a.Raw}
	}
	return CursorAnchor{}
}

// CursorChanged creates or changes the cursor with the id. The first event of a cursor must have Anchor,
// or it is ignored; the Anchor of later ones is ignored, because a cursor does not move.
type CursorChanged struct {
	ID     string
	Anchor *CursorAnchor
	Fork   *bool
	// Meta changes the previous Meta, or replaces it if Whole is set.
	Meta  Meta
	Whole bool
}

func (c CursorChanged) apply(t *Thread) {
	i, known := t.cursors[c.ID]
	var cursor Cursor
	switch {
	case known:
		cursor = t.now.Cursors.At(i)
	case c.Anchor == nil:
		return
	default:
		i, cursor = t.now.Cursors.Len(), Cursor{ID: c.ID, Anchor: *c.Anchor}
		t.cursors[c.ID] = i
	}
	fold.Set(&cursor.Fork, c.Fork)
	if c.Whole && c.Meta != nil {
		cursor.Meta = nil
	}
	cursor.Meta = fold.Meta(cursor.Meta, c.Meta)
	t.now.Cursors = t.now.Cursors.put(i, cursor)
	t.changed(PartCursors)
}

func cursor(u *acp.CursorUpdate) CursorChanged {
	c := CursorChanged{ID: string(u.CursorID), Meta: Meta(u.Meta), Whole: true}
	c.Fork = fold.Patch(u.Capabilities, func(p acp.CursorCapabilities) bool { return p.Fork != nil })
	if u.Anchor != nil {
		c.Anchor = new(AnchorOf(u.Anchor))
	}
	return c
}
