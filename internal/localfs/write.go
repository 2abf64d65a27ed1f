package localfs

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"sync"
)

// MakeFolders creates the missing folders. Another writer may create them at the same time.
func (p *Place) MakeFolders() error {
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

// Replace writes the text to a temporary file, which then takes the place of the file. Nobody may do more
// with the new file than with the old one.
func (p *Place) Replace(text string) error {
	if p.Folder {
		return ErrNotFile
	}
	old, info, err := p.openFile(os.O_WRONLY) // fails if the file must not be written
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist):
		info = nil
	case isTextBusy(err): // a program that is running can be replaced
		if old, info, err = p.openFile(os.O_RDONLY); err != nil {
			return err
		}
	default:
		return err
	}
	mode := fs.FileMode(0o644)
	if info != nil {
		defer old.Close()
		mode = 0o600 // until the permissions of the old file are set
	}
	name := ".acpkit-" + rand.Text() + ".tmp"
	f, err := p.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return changed(err)
	}
	_, err = f.WriteString(text)
	if err == nil && info != nil {
		err = f.Chmod(permissions(f, old, info))
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = changed(p.dir.Rename(name, p.name))
	}
	if err != nil {
		_ = p.dir.Remove(name) // err is the reason
	}
	return err
}

// permissions gives a new file the owner, the group and the ACL of the old one, as far as possible, and returns
// the permissions that it may have.
func permissions(f, old *os.File, info fs.FileInfo) fs.FileMode {
	owner, group := keepOwner(f, info)
	return narrowed(info.Mode().Perm(), owner, group, copyACL(f, old))
}

// narrowed returns permissions with which nobody may do more than before, if the owner, the group or the ACL
// of a file could not be kept.
func narrowed(perm fs.FileMode, ofOwner, ofGroup, acl bool) fs.FileMode {
	user, group, others := perm>>6&7, perm>>3&7, perm&7
	if !ofOwner { // the old owner is one of the group or of the others now
		group, others = group&user, others&user
	}
	if !ofGroup { // the members of the old group are others now, and some of the others are the group
		group, others = group&others, group&others
	}
	if !acl { // it may refuse what the bits grant
		group, others = 0, 0
	}
	return user<<6 | group<<3 | others
}

// Overwrite writes the text to the file itself.
func (p *Place) Overwrite(text string) error {
	f, info, err := p.openOrCreate()
	if err != nil {
		return err
	}
	if info != nil {
		err = p.prepare(f)
	}
	if err == nil {
		_, err = f.WriteString(text)
	}
	return errors.Join(err, f.Close())
}

// prepare empties a file that was opened for writing, if it has only the name by which it was opened. Otherwise it may be a file
// outside. The number of names is looked at first: a file that has one name, and then still has this name, has no other.
func (p *Place) prepare(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if linksOf(f, info) > 1 {
		return ErrHardLink
	}
	if !isAt(p.dir, f, p.name) {
		return ErrChanged
	}
	if now, err := p.dir.Lstat(p.name); err != nil || !os.SameFile(info, now) {
		return ErrChanged
	}
	if info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 { // the system would keep them for root
		if err := f.Chmod(info.Mode().Perm()); err != nil {
			return err
		}
	}
	return f.Truncate(0)
}

// openOrCreate opens the file for writing. info is nil for a new file. Another program may create
// or remove the file meanwhile.
func (p *Place) openOrCreate() (f *os.File, info fs.FileInfo, err error) {
	for range Attempts {
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

// Turns serializes the writers of each path. The zero value is ready to use.
type Turns struct {
	mu    sync.Mutex // guards the fields below, and those of the paths
	paths map[string]*turn
}

type turn struct {
	token   chan struct{} // holds one value while a writer writes
	writers int           // number of writers, including those that wait
}

// Wait waits until no other writer writes to the path. done ends the turn.
func (t *Turns) Wait(ctx context.Context, path string) (done func(), err error) {
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
