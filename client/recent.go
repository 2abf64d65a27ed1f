// Copied to client/v2 by go generate.

package client

import "container/list"

// recent is a set of at most max values. If it is full, add removes the least recently added value.
type recent[T comparable] struct {
	max   int
	at    map[T]*list.Element
	order list.List // of T; the value added last is first
}

func newRecent[T comparable](max int) recent[T] {
	return recent[T]{max: max, at: map[T]*list.Element{}}
}

func (r *recent[T]) has(v T) bool { return r.at[v] != nil }

func (r *recent[T]) add(v T) {
	if e := r.at[v]; e != nil {
		r.order.MoveToFront(e)
		return
	}
	if len(r.at) >= r.max {
		r.remove(r.order.Back().Value.(T))
	}
	r.at[v] = r.order.PushFront(v)
}

func (r *recent[T]) remove(v T) {
	if e := r.at[v]; e != nil {
		r.order.Remove(e)
		delete(r.at, v)
	}
}
