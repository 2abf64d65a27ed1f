package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/asked"
	"github.com/acpkit/go-sdk/internal/localfs"
)

// Folders are the folders that agents may use. All methods are safe for concurrent use.
type Folders struct {
	opts  Options
	turns localfs.Turns

	writing sync.RWMutex // locked for reading while a file is written; locked before mu

	mu     sync.Mutex // guards the fields below
	closed bool
	roots  []*localfs.Root
	parts  map[*part]struct{} // parts whose connection has not ended
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
	r, err := localfs.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("files: opening a root: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		r.Close()
		return errors.New("files: the folders are closed")
	}
	f.roots = append(f.roots, r)
	return nil
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
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

func (f *Folders) isClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

func (f *Folders) allowed() []*localfs.Root {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.roots
}

// OpenFolder opens a folder of a session, under the rules for files, and returns its path
// without symlinks. An empty path means the session's cwd. It is for other parts of a
// client that work in folders; ctx is that of a handler of the client. The caller must close dir.
func (f *Folders) OpenFolder(ctx context.Context, id acp.SessionID, path string) (dir *os.Root, real string, err error) {
	dir, real, err = f.openFolder(ctx, id, path)
	if err != nil {
		return nil, "", &Error{Path: path, Err: err}
	}
	return dir, real, nil
}

func (f *Folders) openFolder(ctx context.Context, id acp.SessionID, path string) (*os.Root, string, error) {
	dirs := asked.Of(ctx).Roots(string(id))
	if len(dirs) == 0 {
		return nil, "", ErrUnknownSession
	}
	path = cmp.Or(path, dirs[0])
	s := openSession(f.allowed(), dirs)
	defer s.close()
	at, err := localfs.Locate(s.roots, path)
	if err != nil {
		return nil, "", err
	}
	defer at.Close()
	dir, err := at.OpenFolder()
	return dir, at.Path, err
}
