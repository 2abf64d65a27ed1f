package localfs

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// Attempts is how often a file is opened again after it was replaced.
const Attempts = 10

// openFile never follows a symlink.
func (p *Place) openFile(flags int) (*os.File, fs.FileInfo, error) {
	for range Attempts {
		want, err := p.dir.Lstat(p.name)
		if err != nil {
			return nil, nil, err
		}
		if !want.Mode().IsRegular() {
			return nil, nil, ErrNotFile
		}
		f, err := p.dir.OpenFile(p.name, flags|doNotBlock, 0)
		switch {
		case err == nil:
		case changed(err) == ErrChanged:
			continue
		default:
			return nil, nil, err
		}
		got, err := f.Stat()
		if err == nil && os.SameFile(want, got) {
			if deviceOf(got) != p.dev { // a mount point
				err = refusePseudoFile(f)
			}
			if err == nil {
				return f, got, nil
			}
		}
		f.Close()
		if err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, ErrChanged
}

// ErrGrown means that more room must be reserved for a text.
var ErrGrown = errors.New("text needs more room")

// Read reads lines as Lines has them, if they fit into room. Otherwise it returns ErrGrown and the
// size of the file.
func (p *Place) Read(ctx context.Context, line, limit *uint32, room int64) (text string, size int64, err error) {
	switch {
	case p.Folder:
		return "", 0, ErrNotFile
	case p.Info == nil:
		return "", 0, fs.ErrNotExist
	}
	f, info, err := p.openFile(os.O_RDONLY)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	size = info.Size()
	if size > room && (line != nil || limit != nil) {
		text, err = readLines(ctx, f, line, limit, room)
	} else if text, err = readAll(f, size, room); err == nil {
		text, err = Lines(text, line, limit), CheckText(text)
	}
	if err == ErrTooLarge {
		return "", max(size, room+1), ErrGrown
	}
	return text, size, err
}
