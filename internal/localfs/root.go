package localfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Root is an open folder.
type Root struct {
	given []string // elements of the path as it was given
	real  string   // its path without symlinks
	names []string // the elements of real
	dir   *os.Root
}

// Close closes the folder.
func (r *Root) Close() error { return r.dir.Close() }

// OpenRoot opens a folder and returns it as a Root, which must be closed.
func OpenRoot(dir string) (*Root, error) {
	if dir == "" {
		return nil, errors.New("its path is empty")
	}
	abs, err := absolute(dir)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, err
	}
	opened, err := os.OpenRoot(real)
	if err != nil {
		return nil, err
	}
	if err := refusePseudo(opened); err != nil {
		opened.Close()
		return nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	return newRoot(abs, real, opened), nil
}

// absolute returns an absolute path of the folder that the system finds by dir. It keeps "..",
// because a/link/.. is the folder above the target of the link. Windows removes ".." before it
// follows links, like filepath.Abs.
func absolute(dir string) (string, error) {
	if filepath.IsAbs(dir) {
		return dir, nil
	}
	if runtime.GOOS == "windows" {
		return filepath.Abs(dir)
	}
	wd, err := os.Getwd()
	return wd + string(filepath.Separator) + dir, err
}

// newRoot returns the root of an open folder. Its peer may also use the given path.
func newRoot(given, real string, dir *os.Root) *Root {
	names := elements(given)
	if n := len(names); n > 0 && names[n-1] == "." { // agents append a separator and a name
		names = names[:n-1]
	}
	return &Root{given: names, real: real, names: elements(real), dir: dir}
}

// OpenBelow opens a folder that is in one of the allowed roots. It returns nil if the folder is not
// allowed or does not exist. The program may have named it by symlinks that are outside of the roots.
func OpenBelow(allowed []*Root, dir string) *Root {
	at, err := Locate(allowed, dir)
	if errors.Is(err, ErrOutside) {
		if real, failed := filepath.EvalSymlinks(dir); failed == nil {
			at, err = Locate(allowed, real)
		}
	}
	if err != nil {
		return nil
	}
	defer at.Close()
	if !at.Folder {
		return nil
	}
	opened, err := at.dir.OpenRoot(".")
	if err != nil {
		return nil
	}
	return newRoot(dir, at.Path, opened)
}

// Find finds the place of a path below roots, which are opened for it. real has the path that each
// root must have without symlinks, so that a root which was replaced is not used; empty means that
// the root is not used. A path in a root that does not exist does not exist.
func Find(roots, real []string, path string) (*Place, error) {
	var open []*Root
	var gone error
	defer func() {
		for _, r := range open {
			r.Close()
		}
	}()
	for i, root := range roots {
		if real[i] == "" {
			continue
		}
		r, err := OpenRoot(root)
		if errors.Is(err, fs.ErrNotExist) {
			if names := elements(path); hasPrefix(names, elements(root)) || hasPrefix(names, elements(real[i])) {
				gone = err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		open = append(open, r)
		if r.real != real[i] {
			return nil, ErrChanged
		}
	}
	at, err := Locate(open, path)
	if err == ErrOutside && gone != nil {
		return nil, gone
	}
	if err == nil && !at.own { // the roots are closed
		at.dir, err = at.dir.OpenRoot(".")
		at.own = err == nil
	}
	return at, err
}
