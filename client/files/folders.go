package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/acpkit/go-sdk/acp"
)

// Folders are the folders that agents may use. All methods are safe for concurrent use.
type Folders struct {
	opts  Options
	turns turns

	writing sync.RWMutex // locked for reading while a file is written; locked before mu

	mu     sync.Mutex // guards the fields below
	closed bool
	roots  []*root
	parts  map[*part]struct{} // parts whose connection has not ended
}

// root is an open folder.
type root struct {
	given []string // elements of the path as it was given
	real  string   // its path without symlinks
	names []string // the elements of real
	dir   *os.Root
}

// Open opens the folders. It is an error if one does not exist or cannot be opened.
func Open(opts *Options) (*Folders, error) {
	f := &Folders{parts: map[*part]struct{}{}}
	if opts != nil {
		f.opts = *opts
	}
	if f.opts.MaxRead <= 0 {
		f.opts.MaxRead = defaultMax
	}
	if f.opts.MaxWrite <= 0 {
		f.opts.MaxWrite = defaultMax
	}
	for _, dir := range f.opts.Roots {
		if err := f.Add(dir); err != nil {
			f.Close()
			return nil, err
		}
	}
	return f, nil
}

// Add adds a folder that agents may use. It applies to sessions whose first request arrives
// after it.
func (f *Folders) Add(dir string) error {
	r, err := openRoot(dir)
	if err != nil {
		return fmt.Errorf("files: opening a root: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		r.dir.Close()
		return errors.New("files: the folders are closed")
	}
	f.roots = append(f.roots, r)
	return nil
}

func openRoot(dir string) (*root, error) {
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

// newRoot returns the root of an open folder. An agent may also use the given path.
func newRoot(given, real string, dir *os.Root) *root {
	names := elements(given)
	if n := len(names); n > 0 && names[n-1] == "." { // agents append a separator and a name
		names = names[:n-1]
	}
	return &root{given: names, real: real, names: elements(real), dir: dir}
}

// Close closes the folders and returns when the writes in progress are done. Requests fail
// from then on, even if a [Check] allows them later.
func (f *Folders) Close() error {
	f.writing.Lock()
	defer f.writing.Unlock()
	f.mu.Lock()
	roots, parts := f.roots, f.parts
	f.closed, f.roots, f.parts = true, nil, nil
	f.mu.Unlock()
	for p := range parts {
		p.end()
	}
	var errs []error
	for _, r := range roots {
		errs = append(errs, r.dir.Close())
	}
	return errors.Join(errs...)
}

func (f *Folders) isClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

func (f *Folders) allowed() []*root {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.roots
}

// OpenFolder opens a folder of a session, under the rules for files, and returns its path
// without symlinks. An empty path means the session's cwd. It is for other parts of a
// client that work in folders. The caller must close dir.
func (f *Folders) OpenFolder(conn Sessions, id acp.SessionID, path string) (dir *os.Root, real string, err error) {
	dir, real, err = f.openFolder(conn, id, path)
	if err != nil {
		return nil, "", &Error{Path: path, Err: err}
	}
	return dir, real, nil
}

func (f *Folders) openFolder(conn Sessions, id acp.SessionID, path string) (*os.Root, string, error) {
	dirs, ok := conn.SessionRoots(id)
	if !ok || len(dirs) == 0 {
		return nil, "", ErrUnknownSession
	}
	if path == "" {
		path = dirs[0]
	}
	s := openSession(f.allowed(), dirs)
	defer s.close()
	at, err := locate(s.roots, path)
	if err != nil {
		return nil, "", err
	}
	defer at.close()
	switch {
	case at.folder:
	case at.info == nil:
		return nil, "", os.ErrNotExist
	default:
		return nil, "", ErrNotFolder
	}
	dir, err := at.dir.OpenRoot(".")
	return dir, at.path, err
}
