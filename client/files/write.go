package files

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"sync"

	"github.com/acpkit/go-sdk/acp"
)

func (p *part) writeTextFile(ctx context.Context, req *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	if err := p.write(ctx, req); err != nil {
		return nil, wrap(req.Path, err)
	}
	return &acp.WriteTextFileResponse{}, nil
}

func (p *part) write(ctx context.Context, req *acp.WriteTextFileRequest) error {
	if int64(len(req.Content)) > p.folders.opts.MaxWrite {
		return ErrTooLarge
	}
	if err := checkText(req.Content); err != nil {
		return err
	}
	at, err := p.locate(req.SessionID, req.Path)
	if err != nil {
		return err
	}
	defer at.close()
	op := &Operation{
		Session: req.SessionID, Write: true, Path: at.path, Requested: req.Path,
		Exists: at.info != nil, Content: req.Content,
	}
	if err := p.judge(ctx, op); err != nil {
		return err
	}
	done, err := p.folders.turns.wait(ctx, at.path)
	if err != nil {
		return refused{err}
	}
	defer done()
	if b := p.folders.opts.Buffers; b != nil {
		ok, err := b.WriteBuffer(ctx, op)
		if err != nil {
			return refused{err}
		}
		if ok {
			return nil
		}
	}
	p.folders.writing.RLock()
	defer p.folders.writing.RUnlock()
	if p.folders.isClosed() {
		return ErrUnknownSession
	}
	if err := at.makeFolders(); err != nil {
		return err
	}
	if p.folders.opts.InPlace {
		return at.overwrite(req.Content)
	}
	return at.replace(req.Content)
}

// makeFolders creates the missing folders. Another writer may create them at the same time.
func (p *place) makeFolders() error {
	for _, name := range p.missing {
		if err := p.dir.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return changed(err)
		}
		made, err := p.dir.Lstat(name)
		if err != nil {
			return changed(err)
		}
		if !made.IsDir() {
			return ErrChanged
		}
		next, err := p.dir.OpenRoot(name)
		if err != nil {
			return changed(err)
		}
		p.enter(next)
		if now, err := next.Stat("."); err != nil || !os.SameFile(made, now) || deviceOf(now) != p.dev {
			return ErrChanged
		}
	}
	p.missing = nil
	return nil
}

func (p *place) replace(text string) error {
	old, info, err := p.openFile(os.O_WRONLY) // fails if the file must not be written
	switch {
	case err == nil:
		old.Close()
	case errors.Is(err, fs.ErrNotExist):
		info = nil
	case isTextBusy(err): // a program that is running can be replaced
		if info, err = p.dir.Lstat(p.name); err != nil || !info.Mode().IsRegular() {
			return ErrChanged
		}
	default:
		return err
	}
	mode := fs.FileMode(0o644)
	if info != nil {
		mode = 0o600 // until the permissions of the old file are set
	}
	name := ".acpkit-" + rand.Text() + ".tmp"
	f, err := p.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return changed(err)
	}
	_, err = f.WriteString(text)
	if err == nil && info != nil {
		keepOwner(f, info)
		err = f.Chmod(info.Mode().Perm())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = changed(p.dir.Rename(name, p.name))
	}
	if err != nil {
		_ = p.dir.Remove(name) // err is the reason
	}
	return err
}

func (p *place) overwrite(text string) error {
	f, info, err := p.openOrCreate()
	if err != nil {
		return err
	}
	if info != nil {
		if linksOf(f, info) > 1 {
			f.Close()
			return ErrHardLink
		}
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteString(text)
	}
	return errors.Join(err, f.Close())
}

// openOrCreate opens the file for writing. info is nil for a new file. Another program may create
// or remove the file meanwhile.
func (p *place) openOrCreate() (f *os.File, info fs.FileInfo, err error) {
	for range attempts {
		f, info, err = p.openFile(os.O_WRONLY)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, info, err
		}
		f, err = p.dir.OpenFile(p.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if !errors.Is(err, fs.ErrExist) {
			return f, nil, changed(err)
		}
	}
	return nil, nil, ErrChanged
}

// turns serializes the writers of each path. The zero value is ready to use.
type turns struct {
	mu    sync.Mutex // guards the fields below, and those of the paths
	paths map[string]*turn
}

type turn struct {
	token   chan struct{} // holds one value while a writer writes
	writers int           // number of writers, including those that wait
}

// wait waits until no other writer writes to the path. done ends the turn.
func (t *turns) wait(ctx context.Context, path string) (done func(), err error) {
	t.mu.Lock()
	if t.paths == nil {
		t.paths = map[string]*turn{}
	}
	p := t.paths[path]
	if p == nil {
		p = &turn{token: make(chan struct{}, 1)}
		t.paths[path] = p
	}
	p.writers++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if p.writers--; p.writers == 0 {
			delete(t.paths, path)
		}
	}
	select {
	case p.token <- struct{}{}:
		return func() { <-p.token; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
