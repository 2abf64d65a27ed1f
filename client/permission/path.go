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

// The systems on which file systems usually ignore the case of letters in names. On macOS a path is
// resolved without correcting the case of its names, and a few file systems there distinguish case.
// Therefore a rule that denies or asks ignores case there, and a rule that allows does not.
const (
	foldsAlways   = runtime.GOOS == "windows"
	foldsSuspects = foldsAlways || runtime.GOOS == "darwin"
)

func matchesPath(patterns []string, name string) bool { return matches(patterns, name, foldsAlways) }

// suspectsPath is matchesPath for rules that deny or ask: a pattern without a drive matches
// on each drive of Windows.
func suspectsPath(patterns []string, name string) bool {
	volume := filepath.VolumeName(name)
	return matches(patterns, name, foldsSuspects) || volume != "" && matches(patterns, name[len(volume):], foldsSuspects)
}

// matches is matchesPath; fold ignores the case of letters.
func matches(patterns []string, name string, fold bool) bool {
	if name == "" {
		return false
	}
	if name = filepath.ToSlash(name); fold {
		name = strings.ToLower(name)
	}
	elements := strings.Split(name, "/")
	return slices.ContainsFunc(patterns, func(p string) bool {
		if fold {
			p = strings.ToLower(p)
		}
		return matchesElements(strings.Split(p, "/"), elements)
	})
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
		if ok, _ := path.Match(pattern[0], elements[0]); !ok {
			return false
		}
		pattern, elements = pattern[1:], elements[1:]
	}
	return len(elements) == 0
}

// throughLinks adds to patterns their forms without symlinks, because they are compared with paths
// without symlinks.
func throughLinks(patterns []string) []string {
	all := slices.Clone(patterns)
	for _, p := range patterns {
		if real := followed(p); real != "" && real != p {
			all = append(all, real)
		}
	}
	return all
}

// followed returns a pattern with the symlinks resolved that are before the first element
// that matches several names; empty if that is not possible.
func followed(pattern string) string {
	elements := strings.Split(pattern, "/")
	n := slices.IndexFunc(elements, func(e string) bool { return strings.ContainsAny(e, metaCharacters) })
	if n < 0 {
		n = len(elements)
	}
	real, err := resolve(filepath.FromSlash(strings.Join(elements[:n], "/")))
	if err != nil {
		return ""
	}
	literal := strings.Split(filepath.ToSlash(real), "/")
	for i, e := range literal {
		for _, c := range metaCharacters { // the first is the one that escapes the others
			e = strings.ReplaceAll(e, string(c), `\`+string(c))
		}
		literal[i] = e
	}
	return strings.Join(append(literal, elements[n:]...), "/")
}

// metaCharacters have a meaning in a pattern.
const metaCharacters = `\*?[`

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
	if runtime.GOOS == "windows" {
		if !literal(name) {
			return "", errUnresolved
		}
		name = filepath.Clean(name) // Windows removes .. before it looks for links
	}
	full, err := filepath.EvalSymlinks(name)
	if err == nil {
		return full, nil
	}
	if !errors.Is(err, fs.ErrNotExist) { // on Windows also a path through a junction
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

// literal reports whether Windows takes the path literally. Other spellings are second names
// of files, which no pattern would match: those of devices, of streams and of the shares of
// whole drives, and names with a dot or a space at the end, which Windows removes.
func literal(name string) bool {
	volume := filepath.VolumeName(name)
	drive := len(volume) == 2 && volume[1] == ':'
	share := strings.FieldsFunc(volume, isSeparator)
	if !drive && (len(share) != 2 || share[0] == "." || strings.ContainsAny(volume, "?:") || strings.HasSuffix(share[1], "$")) {
		return false
	}
	return !slices.ContainsFunc(strings.FieldsFunc(name[len(volume):], isSeparator), func(e string) bool {
		ends := strings.HasSuffix(e, ".") || strings.HasSuffix(e, " ")
		return strings.Contains(e, ":") || ends && e != "." && e != ".."
	})
}

func isSeparator(r rune) bool { return r == '/' || r == filepath.Separator }
