package rpc

import "iter"

// itemKind says what an item of the queue is.
type itemKind uint8

const (
	itemNotification itemKind = iota // a notification to handle
	itemDropped                      // the place of a notification that is not handled
	itemRequest                      // the place where a request may start
	itemResponse                     // the place of a response to one of our calls
	itemEnd                          // end of input: nothing was read after it
)

// item is one place in the order.
type item struct {
	kind itemKind
	size int64 // what a notification counts for

	// Of a notification.
	entry  *Entry // nil for an extension
	params []byte
	rare   *rare // mostly nil

	request *request // whose place it is
	call    *call    // whose place it is
}

// rare is what few notifications need.
type rare struct {
	name   string     // of an extension, or before the row is known
	after  []*request // those whose handlers must have been called before
	reason error      // why it is not handled
}

// method names a notification.
func (it *item) method() string {
	switch {
	case it.entry != nil:
		return it.entry.Name
	case it.rare != nil:
		return it.rare.name
	}
	return ""
}

// drop makes of a notification the place where it would have been handled.
func (it *item) drop(reason error) {
	it.rare = &rare{name: it.method(), reason: reason}
	it.kind, it.entry, it.params = itemDropped, nil, nil
}

// queue is a first-in first-out list of blocks, so that a long one needs no more
// memory than what is in it, and gives it back as it gets shorter.
type queue struct {
	first, last *block
	head, tail  int // the first item in first, the first free place in last
	spare       *block
	n           int
}

// block has a size between the needs of an idle connection and those of a flood.
type block struct {
	items [32]item
	next  *block
}

func (q *queue) len() int { return q.n }

func (q *queue) push(it item) {
	if q.last == nil || q.tail == len(q.last.items) {
		b := q.spare
		if q.spare = nil; b == nil {
			b = new(block)
		}
		if q.last == nil {
			q.first, q.head = b, 0
		} else {
			q.last.next = b
		}
		q.last, q.tail = b, 0
	}
	q.last.items[q.tail] = it
	q.tail++
	q.n++
}

// peek returns the first item of a queue that is not empty.
func (q *queue) peek() *item { return &q.first.items[q.head] }

// pop takes the first item out of a queue that is not empty.
func (q *queue) pop() item {
	b := q.first
	it := b.items[q.head]
	b.items[q.head] = item{}
	q.head++
	q.n--
	if q.n == 0 || q.head == len(b.items) {
		if q.first, q.head = b.next, 0; q.first == nil {
			q.last = nil
		}
		b.next, q.spare = nil, b
	}
	return it
}

// all goes through the items in their order.
func (q *queue) all() iter.Seq[*item] {
	return func(yield func(*item) bool) {
		at := q.head
		for b := q.first; b != nil; b = b.next {
			end := len(b.items)
			if b == q.last {
				end = q.tail
			}
			for ; at < end; at++ {
				if !yield(&b.items[at]) {
					return
				}
			}
			at = 0
		}
	}
}
