package workspace

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/internal/filename"
	"github.com/acpkit/go-sdk/internal/localfs"
)

// ignores knows which files git ignores in the folders of one search.
type ignores map[string][]ignore // by folder: its rules, after those of the folders above it

type ignore struct {
	base    string   // the folder of the file
	pattern []string // the elements of a path below base; a single one that is no path is for a name
	path    bool
	folder  bool // for folders only
	keep    bool // matching files are not ignored
}

// skips reports whether a search skips an element of a folder: what git ignores, and its own folder.
func (g ignores) skips(in *localfs.Place, name string, folder bool) bool {
	if folder && name == ".git" {
		return true
	}
	name = bytewise(name)
	for _, r := range slices.Backward(g.of(in.Path)) { // the last rule that matches decides
		if (folder || !r.folder) && r.matches(in.Path, name) {
			return !r.keep
		}
	}
	return false
}

// of returns the rules of a folder and of those above it, up to that of the repository.
func (g ignores) of(dir string) []ignore {
	rules, known := g[dir]
	if known {
		return rules
	}
	if isRepository(dir) {
		rules = ignoreRules(dir, ".git/info/exclude")
	} else if dir != filepath.Dir(dir) {
		rules = slices.Clip(g.of(filepath.Dir(dir)))
	}
	rules = append(rules, ignoreRules(dir, ".gitignore")...)
	g[dir] = rules
	return rules
}

func isRepository(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

// ignores returns those of a search. Above a root they count only in a repository.
func (w *Workspace) ignores() ignores {
	g := make(ignores)
	for _, root := range w.real {
		dir := root
		for dir != filepath.Dir(dir) && !isRepository(dir) {
			dir = filepath.Dir(dir)
		}
		if !isRepository(dir) {
			g[filepath.Dir(root)] = nil
		}
	}
	return g
}

// ignoreRules returns the rules in a file of a folder.
func ignoreRules(base, name string) (rules []ignore) {
	name = filepath.Join(base, name)
	var text []byte
	if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() && info.Size() <= maxSearched {
		text, _ = os.ReadFile(name) // empty after an error
	}
	for line := range strings.Lines(strings.TrimPrefix(string(text), mark)) {
		line = strings.TrimRight(line, "\r\n")
		if trimmed := strings.TrimRight(line, " "); !strings.HasSuffix(trimmed, `\`) {
			line = trimmed
		}
		r := ignore{base: base}
		line, r.keep = strings.CutPrefix(line, "!")
		line, r.folder = strings.CutSuffix(line, "/")
		if line == "" || line[0] == '#' {
			continue
		}
		for strings.Contains(line, "***") { // which is as two stars
			line = strings.ReplaceAll(line, "***", "**")
		}
		r.path = strings.Contains(line, "/")
		r.pattern = strings.Split(classes.Replace(bytewise(strings.TrimPrefix(line, "/"))), "/")
		if r.path && strings.HasSuffix(line, "/**") { // what is in the folder, and not the folder
			r.pattern = append(r.pattern, "*")
		}
		rules = append(rules, r)
	}
	return rules
}

// classes turns the classes of git into those of path.Match.
var classes = strings.NewReplacer("[!", "[^", "[:digit:]", "0-9", "[:lower:]", "a-z", "[:upper:]", "A-Z", "[:alpha:]", "a-zA-Z",
	"[:alnum:]", "a-zA-Z0-9", "[:xdigit:]", "0-9a-fA-F", "[:space:]", " \t\n\v\f\r", "[:blank:]", " \t", "[:punct:]", "!-.:-@\\[-`{-~")

// matches reports whether the rule is for a name in a folder. A pattern that is not valid is for none.
func (r *ignore) matches(in, name string) bool {
	if !r.path {
		ok, _ := path.Match(r.pattern[0], name)
		return ok
	}
	below := bytewise(filepath.ToSlash(in[len(r.base):])) + "/" + name
	names := strings.Split(strings.TrimPrefix(below, "/"), "/")
	return filename.MatchElements(r.pattern, len(names), func(p, i int) bool {
		ok, _ := path.Match(r.pattern[p], names[i])
		return ok
	})
}

// bytewise returns a text with a rune for each byte: to git, "?" is a byte.
func bytewise(text string) string {
	var all strings.Builder
	for i := range len(text) {
		all.WriteRune(rune(text[i]))
	}
	return all.String()
}
