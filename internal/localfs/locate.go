// Package localfs finds and uses files of this machine that are below given folders. Symlinks are
// followed as long as they stay there, and nothing that is replaced during an operation leads
// elsewhere. Only regular files are opened, and only texts are read.
package localfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	maxLinks = 40   // symlinks followed in one path
	maxDepth = 256  // elements of a path below its root
	maxPath  = 4096 // bytes
	maxName  = 255  // bytes
)

// Place is a located path. It keeps only one folder open, because a person may think about it for
// long. Close frees it.
type Place struct {
	Path string // absolute, without symlinks
	// dir is the folder of the last element that exists. If Folder is set, dir is the located
	// folder itself, and name is empty.
	dir    *os.Root
	own    bool // dir was opened for this place
	Folder bool
	name   string
	Info   fs.FileInfo // of name, which is not a symlink; nil if it does not exist
	// missing are the folders between dir and name that do not exist.
	missing []string
	dev     uint64 // of dir
}

// Close frees the place.
func (p *Place) Close() {
	if p.own {
		p.dir.Close()
	}
}

// OpenFolder opens the place, which must be a folder.
func (p *Place) OpenFolder() (*os.Root, error) {
	switch {
	case p.Folder:
		return p.dir.OpenRoot(".")
	case p.Info == nil:
		return nil, fs.ErrNotExist
	}
	return nil, ErrNotFolder
}

func (p *Place) enter(next *os.Root) {
	p.Close()
	p.dir, p.own = next, true
}

// keptOpen is how many folders on the way are open at most. Many paths are followed at the same time, and a
// path may be deep.
const keptOpen = 4

// walker follows a path element by element, as the system does, and keeps the innermost folders on the way
// open. A folder that is needed again after it was closed must be the same, so that exchanging an element
// cannot lead elsewhere.
type walker struct {
	allowed []*Root
	root    *Root
	below   []folder // the folders between root and the current position
	rest    []string // the remaining elements
	links   int
}

type folder struct {
	name string
	dir  *os.Root // nil: closed, as are all before it
	info fs.FileInfo
	dev  uint64
}

// Locate finds the place of an absolute path. It follows symlinks within the roots.
func Locate(allowed []*Root, path string) (*Place, error) {
	if !filepath.IsAbs(path) || len(path) > maxPath || strings.IndexByte(path, 0) >= 0 {
		return nil, ErrName
	}
	w := &walker{allowed: allowed}
	at, err := w.walk(path)
	if n := len(w.below); n > 0 && err == nil {
		at.own, w.below = true, w.below[:n-1]
	}
	w.leave(0)
	return at, err
}

// leave closes the folders that are more than depth levels below the root.
func (w *walker) leave(depth int) {
	for _, f := range w.below[depth:] {
		if f.dir != nil {
			f.dir.Close()
		}
	}
	w.below = w.below[:depth]
}

func (w *walker) walk(path string) (*Place, error) {
	if err := w.start(path); err != nil {
		return nil, err
	}
	for len(w.rest) > 0 {
		name := w.rest[0]
		w.rest = w.rest[1:]
		switch name {
		case ".": // a "." after a folder
		case "..":
			if err := w.up(); err != nil {
				return nil, err
			}
		default:
			at, err := w.down(name)
			if at != nil || err != nil {
				return at, err
			}
		}
	}
	here := w.here()
	return &Place{Path: w.path(), dir: here.dir, Folder: true, dev: here.dev}, nil
}

// start moves to the innermost root that contains the path.
func (w *walker) start(path string) error {
	names := elements(path)
	w.leave(0)
	w.root = nil
	best := -1
	for _, r := range w.allowed {
		for _, prefix := range [][]string{r.given, r.names} {
			if len(prefix) > best && hasPrefix(names, prefix) {
				w.root, best = r, len(prefix)
			}
		}
	}
	if w.root == nil {
		return ErrOutside
	}
	w.rest = names[best:]
	return w.limit()
}

func (w *walker) limit() error {
	if len(w.rest)+len(w.below) > maxDepth {
		return ErrName
	}
	return nil
}

// up moves to the parent folder. Above a root, that may be in another root.
func (w *walker) up() error {
	n := len(w.below)
	if n == 0 {
		return w.restart(filepath.Dir(w.root.real))
	}
	w.leave(n - 1)
	if n > 1 && w.below[n-2].dir == nil {
		return w.reopen()
	}
	return nil
}

// reopen opens the innermost folders again.
func (w *walker) reopen() error {
	at := w.root.dir
	for i := range w.below {
		f := &w.below[i]
		next, err := at.OpenRoot(f.name)
		if err != nil {
			return changed(err)
		}
		f.dir, at = next, next
		w.limitOpen(i)
		if now, err := next.Stat("."); err != nil || !os.SameFile(f.info, now) {
			return ErrChanged
		}
	}
	return nil
}

// limitOpen closes a folder that is above the one with that index.
func (w *walker) limitOpen(last int) {
	if i := last - keptOpen; i >= 0 && w.below[i].dir != nil {
		w.below[i].dir.Close()
		w.below[i].dir = nil
	}
}

func (w *walker) restart(path string) error {
	rest := w.rest
	if err := w.start(path); err != nil {
		// The remaining elements may lead into a root: /a/b/.. with the root /a/b/../c.
		return w.start(path + string(filepath.Separator) + strings.Join(rest, string(filepath.Separator)))
	}
	w.rest = append(append([]string(nil), w.rest...), rest...)
	return w.limit()
}

// down moves to the element with that name. It returns a place if the path ends there.
func (w *walker) down(name string) (*Place, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	here := w.here()
	name = onDisk(here.dir, name)
	info, err := here.dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return w.missing(name)
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, w.follow(here.dir, name)
	case info.IsDir():
		return nil, w.enter(here, name, info)
	case len(w.rest) > 0 && w.rest[0] == ".":
		return nil, ErrNotFolder
	case len(w.rest) > 0:
		return nil, ErrNotFile // an element below a file
	}
	return &Place{Path: filepath.Join(w.path(), name), dir: here.dir, name: name, Info: info, dev: here.dev}, nil
}

// enter opens the folder that info describes.
func (w *walker) enter(here folder, name string, info fs.FileInfo) error {
	next, err := here.dir.OpenRoot(name)
	if err != nil {
		return changed(err)
	}
	w.below = append(w.below, folder{name: name, dir: next})
	now, err := next.Stat(".")
	if err != nil {
		return err
	}
	if !os.SameFile(info, now) {
		return ErrChanged
	}
	dev, last := deviceOf(now), len(w.below)-1
	w.below[last].dev, w.below[last].info = dev, now
	w.limitOpen(last)
	if dev != here.dev {
		return refusePseudo(next)
	}
	return nil
}

func (w *walker) follow(dir *os.Root, name string) error {
	if w.links++; w.links > maxLinks {
		return ErrName
	}
	target, err := dir.Readlink(name)
	switch {
	case err != nil:
		return changed(err)
	case filepath.IsAbs(target):
		return w.restart(target)
	case filepath.VolumeName(target) != "" || target != "" && os.IsPathSeparator(target[0]):
		return ErrOutside
	}
	w.rest = append(elements(target), w.rest...)
	return w.limit()
}

func (w *walker) missing(name string) (*Place, error) {
	names := append([]string{name}, w.rest...)
	if names[len(names)-1] == "." {
		return nil, fs.ErrNotExist // a path of a folder does not create a file
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "." })
	for _, name := range names {
		if name == ".." {
			return nil, fs.ErrNotExist
		}
		if err := checkName(name); err != nil {
			return nil, err
		}
	}
	here, last := w.here(), len(names)-1
	return &Place{
		Path: filepath.Join(append([]string{w.path()}, names...)...),
		dir:  here.dir, missing: names[:last], name: names[last], dev: here.dev,
	}, nil
}

func (w *walker) here() folder {
	if n := len(w.below); n > 0 {
		return w.below[n-1]
	}
	here := folder{dir: w.root.dir}
	if info, err := here.dir.Stat("."); err == nil {
		here.dev = deviceOf(info)
	}
	return here
}

func (w *walker) path() string {
	names := make([]string, 0, len(w.below)+1)
	names = append(names, w.root.real)
	for _, f := range w.below {
		names = append(names, f.name)
	}
	return filepath.Join(names...)
}

// The reasons for which a path is not used. Their texts are sent to peers.
var (
	// ErrOutside is the error of a path that is not below a root, whether or not it exists.
	ErrOutside = errors.New("path is outside of the folders of the session")
	// ErrNotText is the error of a text that is not valid UTF-8 or contains a NUL.
	ErrNotText = errors.New("not a text in UTF-8")
	// ErrTooLarge is the error of a text beyond a limit.
	ErrTooLarge = errors.New("too large")
	// ErrNotFile is the error of a path that is not a regular file.
	ErrNotFile = errors.New("not a regular file")
	// ErrNotFolder is the error of a path that is not a folder where one is required.
	ErrNotFolder = errors.New("not a folder")
	// ErrName is the error of a relative path, and of a name that the system does not allow or would change.
	ErrName = errors.New("not a valid absolute path")
	// ErrHardLink is the error of a write in place to a file with several names.
	ErrHardLink = errors.New("file has several hard links")
	// ErrChanged is the error of a path that was replaced while it was used.
	ErrChanged = errors.New("path has changed meanwhile; try again")
)

// changed returns ErrChanged for an error which means that a file was exchanged since it was
// checked. It returns other errors unchanged.
func changed(err error) error {
	if err == nil || errors.Is(err, fs.ErrClosed) {
		return err
	}
	errno, ok := errors.AsType[syscall.Errno](err)
	switch {
	case !ok, // the error of os.Root for a symlink that leads outside
		errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrExist),
		errno == syscall.ENOTDIR, errno == syscall.EISDIR, errno == syscall.ELOOP, errno == syscall.EINVAL:
		return ErrChanged
	}
	return err
}
