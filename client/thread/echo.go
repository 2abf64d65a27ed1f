package thread

import (
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/internal/fold"
)

// echoesAtMost is how many prompts may wait for their echo. Most agents of version 1 send
// none.
const echoesAtMost = 64

// echo is a prompt that the agent may repeat, in pieces of its own choice.
type echo struct {
	entry *entry
	item  int // the index of the entry, in a snapshot
	want  []Block
	at    int     // the block that is expected next
	off   int     // and where in its text
	got   []Block // the pieces so far
	known bool    // the prompt had its id before the echo: all chunks with the id are the echo
}

// waitingEchoes returns copies of the echoes for a snapshot.
func (t *Thread) waitingEchoes() (all []echo) {
	for _, x := range t.echoes {
		c := *x
		c.item, c.got = x.entry.index, slices.Clip(x.got)
		all = append(all, c)
	}
	return all
}

// prompted adds a prompt of the user. The id is empty if the agent has not sent the id of the
// message yet. A later echo of the prompt is the same message.
func (t *Thread) prompted(id string, content []Block) {
	if id != "" && t.knows(id) {
		return // the echo arrived first
	}
	e := t.newMessage(RoleUser, id)
	n := e.node.(*messageNode)
	n.content.set(content)
	t.messages.Close()
	if len(t.echoes) == echoesAtMost {
		t.echoes = slices.Delete(t.echoes, 0, 1)
	}
	t.echoes = append(t.echoes, &echo{entry: e, want: n.content.list().Slice(), known: id != ""})
	t.touch(e)
}

// knows reports whether the user has a message with that id.
func (t *Thread) knows(id string) bool {
	_, ok := t.messages.Find(string(RoleUser), id)
	return ok
}

// echoed reports whether the chunk repeats a prompt. If so, it has applied the chunk.
func (t *Thread) echoed(c MessageChunk) bool {
	for i, x := range t.echoes {
		n := x.entry.node.(*messageNode)
		if n.id != "" && c.ID != "" && n.id != c.ID {
			continue
		}
		if !x.take(&c.Content) {
			if x.known && n.id == c.ID { // the agent changed the prompt
				t.forgetEcho(x.entry)
				n.content.set(x.got)
				return false
			}
			if len(x.got) > 0 { // another message began like the prompt
				t.disown(x, c.ID)
				return false
			}
			continue
		}
		t.name(x.entry, c.ID)
		n.meta = fold.Meta(n.meta, c.Meta)
		t.touch(x.entry)
		if x.at == len(x.want) {
			t.echoes = slices.Delete(t.echoes, 0, i+1)
		}
		return true
	}
	return false
}

// take reports whether the block is the next piece of the prompt, and advances past it.
func (x *echo) take(b *Block) bool {
	if x.at == len(x.want) {
		return false
	}
	want := &x.want[x.at]
	switch {
	case want.Type == BlockText && b.Type == BlockText && b.Text != "" && strings.HasPrefix(want.Text[x.off:], b.Text):
		x.off += len(b.Text)
		if x.off == len(want.Text) {
			x.at, x.off = x.at+1, 0
		}
	case want.Type != BlockText && sameBlock(want, b):
		x.at++
	default:
		return false
	}
	x.got = append(x.got, *b)
	return true
}

// forgetEcho stops comparing chunks with the prompt in e.
func (t *Thread) forgetEcho(e *entry) {
	t.echoes = slices.DeleteFunc(t.echoes, func(x *echo) bool { return x.entry == e })
}

// disown moves the chunks that looked like an echo to a message of their own.
func (t *Thread) disown(x *echo, id string) {
	t.forgetEcho(x.entry)
	n := x.entry.node.(*messageNode)
	if n.id != "" {
		t.messages.Unname(string(RoleUser), n.id)
		id, n.id = n.id, ""
		t.touch(x.entry)
	}
	e := t.newMessage(RoleUser, id)
	for _, b := range x.got {
		e.node.(*messageNode).content.add(b)
	}
}

// echoedWhole reports whether a message repeats a whole prompt. If so, the prompt gets its id.
func (t *Thread) echoedWhole(id string, content []Block) bool {
	if t.knows(id) {
		return false
	}
	var b blocks
	b.set(content)
	got := b.list().Slice()
	for i, x := range t.echoes {
		if !x.known && x.at == 0 && x.off == 0 && slices.EqualFunc(x.want, got, func(a, b Block) bool { return sameBlock(&a, &b) }) {
			t.name(x.entry, id)
			t.echoes = slices.Delete(t.echoes, 0, i+1)
			return true
		}
	}
	return false
}

// name gives a message the id that the agent has chosen for it.
func (t *Thread) name(e *entry, id string) {
	n := e.node.(*messageNode)
	if id != "" && n.id == "" {
		n.id = id
		t.messages.Name(string(n.role), id, e)
	}
}
