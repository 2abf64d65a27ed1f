package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/acpkit/go-sdk/internal/localfs"
)

// The limits of a search. With more results than this, a model should make its search more
// specific.
const (
	maxMatches  = 200
	maxFiles    = 100_000 // maximum number of files that are examined
	maxSearched = 1 << 20 // maximum size of a file in bytes
	maxLine     = 300     // characters of a line that are returned
)

// Query describes a search. The descriptions are for the model.
type Query struct {
	Pattern string `json:"pattern,omitempty" description:"a regular expression in the syntax of RE2, for each line; without it the files are listed"`
	Literal bool   `json:"literal,omitempty" description:"the pattern is a text"`
	Path    string `json:"path,omitempty" description:"the folder or file to look in; all folders if it is absent"`
	Name    string `json:"name,omitempty" description:"the names of the files to look in, such as *.go"` // a pattern of path.Match
}

// Match is a matching line, or a file.
type Match struct {
	Path string
	Line uint32 // from 1; 0 for a file
	Text string // the line, at most 300 characters
}

// errEnough ends a search that has reached its limit.
var errEnough = errors.New("enough")

// Search searches the files of this machine, in the order of their names. It returns at most 200
// matches; more reports whether there may be others. It does not follow symlinks, and skips .git,
// what git ignores, files that are not text, and files larger than 1 MiB.
func (w *Workspace) Search(ctx context.Context, q Query) (found []Match, more bool, err error) {
	if q.Path != "" || !w.local() {
		if q.Path, err = w.resolve(cmp.Or(q.Path, ".")); err != nil {
			return nil, false, err
		}
	}
	return w.search(ctx, q)
}

// search searches in a path that was resolved, or in all roots.
func (w *Workspace) search(ctx context.Context, q Query) (found []Match, more bool, err error) {
	if q.Literal {
		q.Pattern = regexp.QuoteMeta(q.Pattern)
	}
	re, err := regexp.Compile(q.Pattern)
	if err != nil {
		return nil, false, &Error{q.Pattern, fmt.Errorf("%w, not a regular expression: %w", ErrPattern, err)}
	}
	if _, err := path.Match(q.Name, ""); err != nil {
		return nil, false, &Error{q.Name, fmt.Errorf("%w of names such as *.go", ErrPattern)}
	}
	files, finder := 0, newFinder(re)
	visit := func(at *localfs.Place) error {
		if files++; files > maxFiles || len(found) > maxMatches {
			return errEnough
		}
		if ok, _ := path.Match(q.Name, filepath.Base(at.Path)); !ok && q.Name != "" {
			return ctx.Err()
		}
		if q.Pattern == "" {
			found = append(found, Match{Path: w.shown(at.Path)})
			return ctx.Err()
		}
		text, _, err := at.Read(ctx, nil, nil, maxSearched)
		if err != nil {
			return ctx.Err() // a file that is skipped
		}
		finder.find(ctx, text, func(line string, n uint32) bool {
			found = append(found, Match{w.shown(at.Path), n, clip(line, maxLine)})
			return len(found) <= maxMatches
		})
		return ctx.Err()
	}
	in := []string{q.Path}
	if q.Path == "" {
		in = slices.DeleteFunc(slices.Clone(w.roots), func(root string) bool { return !w.here(root) })
	}
	for _, p := range in {
		if err = failed(p, w.walk(p, visit)); err != nil {
			break
		}
	}
	more = errors.Is(err, errEnough) || len(found) > maxMatches
	if more {
		err = nil
	}
	return found[:min(len(found), maxMatches)], more, err
}

func (w *Workspace) walk(p string, visit func(*localfs.Place) error) error {
	at, err := w.locate(p)
	if err != nil {
		return err
	}
	defer at.Close()
	return at.Walk(w.ignores().skips, visit)
}

// clip cuts a text to a number of runes.
func clip(text string, runes int) string {
	n := 0
	for i := range text {
		if n++; n > runes {
			return text[:i] + "…"
		}
	}
	return text
}
