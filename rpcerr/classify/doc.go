// Package classify converts any Go error to a [kind.Error].
//
//	e := classify.Error(err) // os.Open: kind.NotFound, http.Client.Do: kind.ServiceUnavailable, ...
//
// An error that already carries a kind, or that came from a peer, is not changed. For
// every other error the package looks at the types and sentinels of the standard library
// first, and at words in the text last. A word is a guess; [Classifier.WithoutPatterns]
// ignores words. Return an explicit kind where it matters. The peer receives the code and
// a fixed message, and nothing of the text of the error.
//
// [OnError] classifies and logs every error that is sent to the peer. Code that calls
// other services uses [FromResponse] for their responses, and [Op.Catch] for every other
// error:
//
//	func (s *Store) Load(ctx context.Context, id string) (doc *Doc, err error) {
//		defer classify.Op{Name: "Store.Load"}.Catch(ctx, &err)
//		...
//	}
//
// An [Adapter] converts errors of packages that this one does not know:
//
//	c := classify.New(classify.As(func(e *github.ErrorResponse) *kind.Error { ... }))
package classify
