package order

import "iter"

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
	items [32]Item
	next  *block
}

func (q *queue) len() int { return q.n }

func (q *queue) push(it Item) {
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
func (q *queue) peek() *Item { return &q.first.items[q.head] }

// pop takes the first item out of a queue that is not empty.
func (q *queue) pop() Item {
	b := q.first
	it := b.items[q.head]
	b.items[q.head] = Item{}
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
func (q *queue) all() iter.Seq[*Item] {
	return func(yield func(*Item) bool) {
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
