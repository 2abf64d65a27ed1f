package workspace

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/internal/localfs"
)

// The bounds of a search. A model that gets that much must search for something else.
const (
	maxMatches  = 200
	maxFiles    = 100_000 // that are looked at
	maxSearched = 1 << 20 // bytes of a file
	maxLine     = 300     // bytes of a line that are returned
)

// Query says what to search for.
type Query struct {
	Pattern string // a regular expression of package regexp, for each line; empty lists the files
	Literal bool   // Pattern is a text
	Path    string // a folder or a file; empty means all roots
	Name    string // of the files, a pattern of path.Match such as *.go; empty means all
}

// Match is a line that was found, or a file.
type Match struct {
	Path string
	Line uint32 // from 1; 0 for a file
	Text string // the line, at most 300 bytes
}

// Search looks through the files of this machine, in the order of their names, and returns at most
// 200 matches; more means that there may be others. It neither follows symlinks nor looks into .git,
// and skips files that are not text or have more than 1 MiB.
func (w *Workspace) Search(ctx context.Context, q Query) (found []Match, more bool, err error) {
	pattern := q.Pattern
	if q.Literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, false, &Error{q.Pattern, ErrPattern}
	}
	s := &search{ctx: ctx, query: q, re: re}
	for _, p := range w.roots {
		if q.Path != "" {
			p = q.Path
		}
		if p, err = w.resolve(p); err != nil {
			return nil, false, err
		}
		if err = w.search(s, p); err != nil || q.Path != "" {
			break
		}
	}
	if errors.Is(err, errEnough) {
		return s.found, true, nil
	}
	return s.found, false, err
}

// errEnough ends a search that has found enough.
var errEnough = errors.New("enough")

type search struct {
	ctx   context.Context
	query Query
	re    *regexp.Regexp
	files int
	found []Match
}

func (w *Workspace) search(s *search, p string) error {
	at, err := w.locate(p)
	if err != nil {
		return failed(p, err)
	}
	defer at.Close()
	return failed(p, at.Walk(func(name string) bool { return name == ".git" }, s.file))
}

// file searches one file.
func (s *search) file(at *localfs.Place) error {
	if s.files++; s.files > maxFiles {
		return errEnough
	}
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if s.query.Name != "" {
		if ok, err := path.Match(s.query.Name, filepath.Base(at.Path)); err != nil || !ok {
			return err
		}
	}
	if s.query.Pattern == "" {
		return s.add(Match{Path: at.Path})
	}
	text, _, err := at.Read(s.ctx, nil, nil, maxSearched)
	if err != nil {
		return s.ctx.Err() // a file that is not searched
	}
	n := uint32(0)
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if s.re.MatchString(line) {
			if err := s.add(Match{at.Path, n, clip(line, maxLine)}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *search) add(m Match) error {
	if len(s.found) == maxMatches {
		return errEnough
	}
	s.found = append(s.found, m)
	return nil
}

// clip cuts a text at a rune.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}
