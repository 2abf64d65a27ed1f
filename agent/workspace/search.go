package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"strings"

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
// files that are not text, and files larger than 1 MiB.
func (w *Workspace) Search(ctx context.Context, q Query) (found []Match, more bool, err error) {
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
	files := 0
	visit := func(at *localfs.Place) error {
		if files++; files > maxFiles || len(found) > maxMatches {
			return errEnough
		}
		if ok, _ := path.Match(q.Name, filepath.Base(at.Path)); !ok && q.Name != "" {
			return ctx.Err()
		}
		if q.Pattern == "" {
			found = append(found, Match{Path: at.Path})
			return ctx.Err()
		}
		text, _, err := at.Read(ctx, nil, nil, maxSearched)
		if err != nil {
			return ctx.Err() // a file that is skipped
		}
		n := uint32(0)
		for line := range strings.Lines(text) {
			n++
			if line = strings.TrimRight(line, "\r\n"); len(found) <= maxMatches && re.MatchString(line) {
				found = append(found, Match{at.Path, n, clip(line, maxLine)})
			}
		}
		return ctx.Err()
	}
	in := w.real
	if q.Path != "" || !w.local() {
		in = []string{cmp.Or(q.Path, ".")}
	}
	for _, p := range in {
		if p == "" {
			continue // the root is on another machine
		}
		if p, err = w.resolve(p); err == nil {
			err = failed(p, w.walk(p, visit))
		}
		if err != nil {
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
	return at.Walk(func(name string) bool { return name == ".git" }, visit)
}

// clip cuts a text to a number of runes.
func clip(text string, runes int) string {
	if all := []rune(text); len(all) > runes {
		return string(all[:runes]) + "…"
	}
	return text
}
