// Package classify finds out what a Go error is: it makes a [kind.Error] of
// whatever a function returned.
//
//	e := classify.Error(err) // os.Open: kind.NotFound, http.Client.Do: kind.ServiceUnavailable, ...
//
// Errors that say themselves what they are stay as they are. For the others tables are
// tried, Go's own errors first and words in the text last; be explicit where the
// kind matters. What comes out tells the peer its code and a fixed message only.
//
// Code that calls other services uses [FromResponse] for answers over HTTP, and
// catches everything else at one place:
//
//	func (s *Store) Load(ctx context.Context, id string) (doc *Doc, err error) {
//		defer classify.Op{Name: "Store.Load"}.Catch(ctx, &err)
//		...
//	}
//
// An [Adapter] translates errors of packages that this one cannot know:
//
//	c := classify.New(classify.As(func(e *github.ErrorResponse) *kind.Error { ... }))
package classify
