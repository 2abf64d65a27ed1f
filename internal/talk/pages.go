package talk

import (
	"fmt"
	"iter"
)

// Pages returns an iterator over the items of a list that arrives in pages. page requests the page
// at a cursor and returns the cursor of the next page; nil is that of the first, and says that
// there is no other.
func Pages[T any](first *string, page func(cursor *string) (items []T, next *string, err error)) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for cursor := first; ; {
			items, next, err := page(cursor)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range items {
				if !yield(&items[i], nil) {
					return
				}
			}
			if next == nil {
				return
			}
			if cursor != nil && *cursor == *next {
				yield(nil, fmt.Errorf("client: the agent returned the cursor %q of the page itself as that of the next page", *next))
				return
			}
			cursor = next
		}
	}
}
