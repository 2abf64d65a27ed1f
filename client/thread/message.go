package thread

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/acpkit/go-sdk/internal/fold"
)

// messageNode is a message while it grows.
type messageNode struct {
	role     Role
	id       string
	content  blocks
	from, to *Address
	meta     Meta
}

func (n *messageNode) freeze(s *Snapshot, i int) {
	item := &Message{Role: n.role, ID: n.id, Content: n.content.list(), From: n.from, To: n.to, Meta: n.meta}
	s.Items = s.Items.put(i, item)
}

// blocks is content that grows. Adjacent texts are one block. Lists that it has returned do not
// change.
type blocks struct {
	done List[Block]
	open bool  // the content continues with last and text
	last Block // the text block that grows, without its text
	text strings.Builder
}

func (b *blocks) add(block Block) {
	if block.Type != BlockText || block.Raw != nil {
		b.seal()
		b.done = b.done.append(block)
		return
	}
	if block.empty() {
		return
	}
	if !b.open || !sameHints(&b.last, &block) {
		b.seal()
		b.open, b.last = true, block
		b.last.Text = ""
	}
	b.text.WriteString(block.Text)
}

// empty reports whether the block is a text without characters, hints and Meta.
func (b *Block) empty() bool {
	return b.Type == BlockText && b.Text == "" && b.Annotations == nil && b.Meta == nil && b.Raw == nil
}

// seal completes the text block.
func (b *blocks) seal() {
	if b.open {
		b.done = b.list()
		b.open = false
		b.text = strings.Builder{}
	}
}

// list returns the content so far.
func (b *blocks) list() List[Block] {
	if !b.open {
		return b.done
	}
	block := b.last
	block.Text = b.text.String()
	return b.done.append(block)
}

// set replaces the content.
func (b *blocks) set(content []Block) {
	*b = blocks{}
	for _, block := range content {
		b.add(block)
	}
}

// sameHints reports whether two text blocks differ in their texts only.
func sameHints(a, b *Block) bool {
	if a.Annotations == nil && b.Annotations == nil && a.Meta == nil && b.Meta == nil {
		return true
	}
	return reflect.DeepEqual(a.Annotations, b.Annotations) && reflect.DeepEqual(a.Meta, b.Meta)
}

// sameBlock reports whether two blocks have the same JSON form.
func sameBlock(a, b *Block) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
}

func (c MessageChunk) apply(t *Thread) {
	if c.Role == RoleUser && t.echoed(c) {
		return
	}
	e, ok := t.messages.Find(string(c.Role), c.ID)
	if !ok {
		if c.Content.empty() && c.Meta == nil {
			return // an empty chunk separates nothing
		}
		e = t.newMessage(c.Role, c.ID)
	}
	n := e.node.(*messageNode)
	n.content.add(c.Content)
	n.meta = fold.Meta(n.meta, c.Meta)
	t.touch(e)
}

func (t *Thread) newMessage(role Role, id string) *entry {
	e := t.add(&messageNode{role: role, id: id}, true)
	t.messages.Add(string(role), id, e)
	return e
}

func (c MessageChanged) apply(t *Thread) {
	if c.Role == RoleUser && c.Content != nil && t.echoedWhole(c.ID, *c.Content) {
		c.Content = nil
	}
	e, ok := t.messages.Find(string(c.Role), c.ID)
	if !ok {
		e = t.newMessage(c.Role, c.ID)
	}
	n := e.node.(*messageNode)
	if c.Content != nil {
		t.forgetEcho(e)
		n.content.set(*c.Content)
	}
	if c.From != nil {
		n.from = c.From
	}
	if c.To != nil {
		n.to = c.To
	}
	n.meta = fold.Meta(n.meta, c.Meta)
	t.touch(e)
}
