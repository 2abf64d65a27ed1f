package permission

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// matchesPath reports whether one of the patterns matches the path.
func matchesPath(patterns []string, name string) bool {
	if name == "" {
		return false
	}
	elements := strings.Split(filepath.ToSlash(name), "/")
	return slices.ContainsFunc(patterns, func(p string) bool { return matchesElements(strings.Split(p, "/"), elements) })
}

func matchesElements(pattern, elements []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := range len(elements) + 1 {
				if matchesElements(pattern[1:], elements[i:]) {
					return true
				}
			}
			return false
		}
		if len(elements) == 0 {
			return false
		}
		p, e := pattern[0], elements[0]
		if runtime.GOOS == "windows" {
			p, e = strings.ToLower(p), strings.ToLower(e)
		}
		if ok, _ := path.Match(p, e); !ok {
			return false
		}
		pattern, elements = pattern[1:], elements[1:]
	}
	return len(elements) == 0
}

// linksAtMost is how many dangling links of a path are followed.
const linksAtMost = 40

var errUnresolved = errors.New("permission: the path cannot be resolved")

// resolve returns the file that a path names, with all symlinks resolved. The file, and
// folders at the end of the path, need not exist.
func resolve(name string) (string, error) { return resolveLinks(name, linksAtMost) }

func resolveLinks(name string, links int) (string, error) {
	if !filepath.IsAbs(name) || links == 0 {
		return "", errUnresolved
	}
	full, err := filepath.EvalSymlinks(name)
	if err == nil {
		return full, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", errUnresolved
	}
	// Not filepath.Split and Clean: in a/link/../b the .. is that of the link's target.
	name = strings.TrimRightFunc(name, isSeparator)
	i := strings.LastIndexFunc(name, isSeparator)
	if i < 0 {
		return "", errUnresolved
	}
	base := name[i+1:]
	if base == ".." || base == "." {
		return "", errUnresolved // below something that does not exist
	}
	dir, err := resolveLinks(name[:i+1], links-1)
	if err != nil {
		return "", err
	}
	joined := filepath.Join(dir, base)
	target, err := os.Readlink(joined)
	if err != nil {
		return joined, nil
	}
	if !filepath.IsAbs(target) {
		target = dir + string(filepath.Separator) + target
	}
	return resolveLinks(target, links-1)
}

func isSeparator(r rune) bool { return r == '/' || r == filepath.Separator }
