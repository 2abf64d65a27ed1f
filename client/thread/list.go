package thread

import (
	"encoding/json"
	"iter"
)

// List is an immutable list. The zero value is an empty list. A changed list shares its
// unchanged parts with the previous one.
type List[T any] struct {
	n     int
	depth int // levels above the leaves
	root  *branch[T]
}

// branch is a node of the tree of a List. It has children or, at the lowest level, values.
type branch[T any] struct {
	children []*branch[T]
	values   []T
}

// A branch has at most 1<<fanoutBits children or values.
const (
	fanoutBits = 5
	fanout     = 1 << fanoutBits
)

func listOf[T any](values []T) (l List[T]) {
	for _, v := range values {
		l = l.append(v)
	}
	return l
}

// Len returns the number of values.
func (l List[T]) Len() int { return l.n }

// At returns the value at index i. It panics if i is out of range.
func (l List[T]) At(i int) T {
	if i < 0 || i >= l.n {
		panic("thread: List.At: index out of range")
	}
	return l.leaf(i)[i&(fanout-1)]
}

// All returns an iterator over the indices and values, in order.
func (l List[T]) All() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i := 0; i < l.n; i += fanout {
			for j, v := range l.leaf(i) {
				if !yield(i+j, v) {
					return
				}
			}
		}
	}
}

// Slice returns a new slice of the values, or nil if there are none.
func (l List[T]) Slice() []T {
	if l.n == 0 {
		return nil
	}
	s := make([]T, 0, l.n)
	for _, v := range l.All() {
		s = append(s, v)
	}
	return s
}

// leaf returns the values of the leaf that holds index i.
func (l List[T]) leaf(i int) []T {
	b := l.root
	for level := l.depth; level > 0; level-- {
		b = b.children[i>>(level*fanoutBits)&(fanout-1)]
	}
	return b.values
}

// append returns the list with v at its end.
func (l List[T]) append(v T) List[T] {
	switch {
	case l.root == nil:
		l.root = &branch[T]{}
	case l.n == 1<<((l.depth+1)*fanoutBits): // full
		l.root = &branch[T]{children: []*branch[T]{l.root}}
		l.depth++
	}
	l.root = l.root.put(l.depth, l.n, v)
	l.n++
	return l
}

// set returns the list with v at index i.
func (l List[T]) set(i int, v T) List[T] {
	l.root = l.root.put(l.depth, i, v)
	return l
}

// put returns the list with v at index i, which may be its length.
func (l List[T]) put(i int, v T) List[T] {
	if i < l.n {
		return l.set(i, v)
	}
	return l.append(v)
}

// put returns a copy of b, which is level levels above the leaves, with v at index i. The index may
// be the first free one.
func (b *branch[T]) put(level, i int, v T) *branch[T] {
	at := i >> (level * fanoutBits) & (fanout - 1)
	if level == 0 {
		return &branch[T]{values: with(b.values, at, v)}
	}
	var child *branch[T]
	if at < len(b.children) {
		child = b.children[at]
	} else {
		child = &branch[T]{}
	}
	return &branch[T]{children: with(b.children, at, child.put(level-1, i, v))}
}

// with returns a copy of s with v at index i, which may be the length of s.
func with[S ~[]E, E any](s S, i int, v E) S {
	c := make(S, max(len(s), i+1))
	copy(c, s)
	c[i] = v
	return c
}

// MarshalJSON encodes the list as an array.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l.n == 0 {
		return []byte("[]"), nil
	}
	return json.Marshal(l.Slice())
}

// UnmarshalJSON decodes an array.
func (l *List[T]) UnmarshalJSON(data []byte) error {
	var values []T
	if err := json.Unmarshal(data, &values); err != nil {
		return err
	}
	*l = listOf(values)
	return nil
}

// IsZero reports whether the list is empty. The omitzero option of encoding/json uses it.
func (l List[T]) IsZero() bool { return l.n == 0 }
