package filename

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Folder is an open folder, or a stand-in for one.
type Folder interface {
	// Lstat returns an error if there is no file of the name.
	Lstat(name string) (fs.FileInfo, error)
	// Names returns the names as the folder spells them.
	Names() ([]string, error)
}

// Spelling returns the name of a file as its folder spells it. It is for a name that exists; another
// name, or one in a folder that cannot be listed, is returned unchanged.
func Spelling(dir Folder, name string) string {
	info, err := dir.Lstat(name)
	if err != nil || !mayDiffer(dir, name, info) {
		return name
	}
	names, _ := dir.Names()
	if slices.Contains(names, name) {
		return name
	}
	same := func(other string) bool {
		found, err := dir.Lstat(other)
		return err == nil && os.SameFile(info, found)
	}
	folded := Fold(name)
	alike := func(other string) bool { return Fold(other) == folded }
	for _, other := range names {
		if alike(other) && same(other) {
			return other
		}
	}
	// A short name, or one that only the file system knows. A file with several hard links would have
	// several spellings, none of which is this name, so any of them is right.
	if i := slices.IndexFunc(names, same); i >= 0 {
		return names[i]
	}
	if i := slices.IndexFunc(names, alike); i >= 0 { // the numbers of the files are not stable
		return names[i]
	}
	return name
}

// mayDiffer reports whether the folder may spell the name differently. It saves reading folders: most
// file systems distinguish case, and then a name in ASCII has one spelling.
func mayDiffer(dir Folder, name string, info fs.FileInfo) bool {
	for i := range len(name) {
		if c := name[i]; c >= 0x80 || c == '~' {
			return true
		}
	}
	if strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") {
		return true
	}
	swapped := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}, name)
	if swapped == name {
		return false
	}
	found, err := dir.Lstat(swapped)
	return err == nil && (os.SameFile(info, found) || info.Size() == found.Size() && info.Mode() == found.Mode())
}

// PathSpelling returns an absolute path, which must have no symlinks and no "..", with the elements that
// exist as their folders spell them.
func PathSpelling(path string) string {
	volume := filepath.VolumeName(path)
	done := volume + string(filepath.Separator)
	rest := strings.FieldsFunc(path[len(volume):], func(r rune) bool { return r == '/' || r == filepath.Separator })
	for i, name := range rest {
		if _, err := os.Lstat(filepath.Join(done, name)); err != nil {
			return filepath.Join(append([]string{done}, rest[i:]...)...)
		}
		done = filepath.Join(done, Spelling(named(done), name))
	}
	return done
}

// named is a folder by its path.
type named string

func (d named) Lstat(name string) (fs.FileInfo, error) {
	return os.Lstat(filepath.Join(string(d), name))
}

func (d named) Names() ([]string, error) {
	f, err := os.Open(string(d))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}
