package permission

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/internal/filename"
)

// matchesPath reports whether a rule that allows matches a file. The case of letters counts but on
// Windows: elsewhere the name is as its folder spells it. For a write, no wildcard matches a guarded
// element.
func matchesPath(patterns []string, name string, write bool) bool {
	elements := split(name)
	key := func(e string) string { return e }
	if runtime.GOOS == "windows" {
		key = strings.ToLower
	}
	return slices.ContainsFunc(patterns, func(p string) bool {
		return matchesElements(split(p), elements, key, func(i int) bool {
			return !write || !isGuardedName(elements[i], i == len(elements)-1) ||
				i > 0 && folded(elements[i]) == repositoryMark && slices.ContainsFunc(elements[:i], func(e string) bool { return folded(e) == ".git" })
		})
	})
}

// suspectsPath reports whether a rule that denies or asks matches a file. It compares names as any file
// system may, because the rule and the file may be spelled differently. A pattern without a drive
// matches on each drive of Windows.
func suspectsPath(patterns []string, name string) bool {
	if name == "" {
		return false
	}
	all, volume := split(name), filepath.VolumeName(name)
	return slices.ContainsFunc(patterns, func(p string) bool {
		pattern := split(p)
		free := func(int) bool { return true }
		return matchesElements(pattern, all, folded, free) || volume != "" && matchesElements(pattern, split(name[len(volume):]), folded, free)
	})
}

func folded(name string) string { return filename.Fold(name) }

func split(name string) []string { return strings.Split(filepath.ToSlash(name), "/") }

// matchesElements reports whether a pattern matches the elements of a path. They are compared as key
// returns them. free reports whether a wildcard may match the element with that index.
func matchesElements(pattern, elements []string, key func(string) string, free func(int) bool) bool {
	all := func(names []string) []string {
		keys := make([]string, len(names))
		for i, name := range names {
			keys[i] = key(name)
		}
		return keys
	}
	patterns, keys := all(pattern), all(elements)
	return filename.MatchElements(pattern, len(elements), func(p, i int) bool {
		wild := strings.ContainsAny(pattern[p], metaCharacters)
		return (!wild || free(i)) && matchesElement(patterns[p], keys[i], wild)
	})
}

func matchesElement(pattern, element string, wild bool) bool {
	if !wild {
		return pattern == element
	}
	ok, err := path.Match(pattern, element)
	return ok || err != nil // a pattern that was right before it was folded
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
	return strings.Join(append([]string{asPattern(real)}, elements[n:]...), "/")
}

// Within returns a pattern for Rule.Paths, also of a rule that allows: what pattern, such as "**" or "*.go", matches
// in a folder. All characters in the path of the folder stand for themselves, and its symlinks are resolved now.
func Within(dir, pattern string) (string, error) {
	real, err := filepath.Abs(dir)
	if err == nil {
		real, err = resolve(real)
	}
	if err != nil {
		return "", fmt.Errorf("permission: the folder %q: %w", dir, err)
	}
	return asPattern(real) + "/" + pattern, nil
}

// asPattern returns the pattern that matches one path, or "" for the root, before a "/". On Windows a backslash
// separates elements of a pattern, and escapes nothing.
func asPattern(name string) string {
	name = strings.TrimSuffix(filepath.ToSlash(name), "/")
	return strings.NewReplacer("[", "[[]", "*", "[*]", "?", "[?]", `\`, `\\`).Replace(name)
}

// metaCharacters have a meaning in a pattern.
const metaCharacters = `\*?[`

// linksAtMost is how many dangling links of a path are followed.
const linksAtMost = 40

// longestPath is the maximum length of a path in bytes, as on Linux. To resolve a longer one would cost
// more than its length.
const longestPath = 4096

var errUnresolved = errors.New("permission: the path cannot be resolved")

// resolve returns the file that a path names, with all symlinks resolved. The file, and
// folders at the end of the path, need not exist.
// Names are as their folders spell them.
func resolve(name string) (string, error) {
	if len(name) > longestPath {
		return "", errUnresolved
	}
	real, err := resolveLinks(name, linksAtMost)
	if err != nil {
		return "", err
	}
	return filename.PathSpelling(real), nil
}

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
