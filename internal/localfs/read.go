package localfs

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"unsafe"
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

// Bytes reads a regular file of at most limit bytes.
func (p *Place) Bytes(limit int64) ([]byte, error) {
	if p.Folder || p.Info == nil {
		return nil, ErrNotFile
	}
	f, info, err := p.openFile(os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := readAll(f, info.Size(), limit)
	return []byte(text), err
}

// readAll reads a file of about size bytes.
func readAll(r io.Reader, size, limit int64) (string, error) {
	if size > limit {
		return "", ErrTooLarge
	}
	b := make([]byte, 0, size+1) // one more, to detect the end
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case int64(len(b)) > limit:
			return "", ErrTooLarge
		case errors.Is(err, io.EOF):
			return unsafe.String(unsafe.SliceData(b), len(b)), nil // b is not used after this
		case err != nil:
			return "", err
		case len(b) == cap(b):
			b = append(b, 0)[:len(b)]
		}
	}
}

// readLines returns the same as Lines, without reading the whole file. It checks only the text it
// returns.
func readLines(ctx context.Context, f io.Reader, first, limit *uint32, largest int64) (string, error) {
	r := bufio.NewReaderSize(&ending{ctx, f}, 64<<10)
	var text strings.Builder
	begin, end := uint64(1), uint64(math.MaxUint64)
	if first != nil {
		begin = max(uint64(*first), 1)
	}
	if limit != nil {
		end = begin + uint64(*limit)
	}
	for next := uint64(1); next < end; { // the number of the line
		part, err := r.ReadSlice('\n') // a long line is read in several parts
		if next >= begin {
			text.Write(part)
		}
		if int64(text.Len()) > largest {
			return "", ErrTooLarge
		}
		switch {
		case err == nil:
			next++
		case errors.Is(err, io.EOF):
			return text.String(), CheckText(text.String())
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
	return text.String(), CheckText(text.String())
}

// ending is a reader that fails when ctx is done.
type ending struct {
	ctx context.Context
	r   io.Reader
}

func (e *ending) Read(p []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.r.Read(p)
}

// Lines returns at most limit lines of text, beginning with the line first. Lines are counted from
// 1; 0 means 1. A line includes its "\n".
func Lines(text string, first, limit *uint32) string {
	if first != nil {
		for n := uint32(1); n < *first && text != ""; n++ {
			text = text[lineEnd(text):]
		}
	}
	if limit == nil {
		return text
	}
	end := 0
	for n := uint32(0); n < *limit && end < len(text); n++ {
		end += lineEnd(text[end:])
	}
	return text[:end]
}

func lineEnd(text string) int {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return len(text)
}

// Walk calls visit with each regular file below the place, which may be a file itself, in the order
// of their names. It neither follows symlinks nor enters folders that cannot be opened, and leaves out the
// elements of a folder that skip names. A place that a function gets is valid during the call. Walk ends
// with the error of visit.
func (p *Place) Walk(skip func(in *Place, name string, folder bool) bool, visit func(*Place) error) error {
	if !p.Folder {
		if p.Info == nil {
			return fs.ErrNotExist
		}
		if !p.Info.Mode().IsRegular() {
			return ErrNotFile
		}
		return visit(p)
	}
	entries, err := fs.ReadDir(p.dir.FS(), ".")
	if err != nil {
		return err
	}
	w := &walker{root: &Root{dir: p.dir}}
	for _, e := range entries {
		if checkName(e.Name()) != nil || skip(p, e.Name(), e.IsDir()) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue
		}
		path := filepath.Join(p.Path, e.Name())
		switch {
		case info.IsDir():
			if err := w.enter(folder{dir: p.dir, dev: p.dev}, e.Name(), info); err != nil {
				w.leave(0)
				continue
			}
			next := w.here()
			err = (&Place{Path: path, dir: next.dir, Folder: true, dev: next.dev}).Walk(skip, visit)
			w.leave(0)
		case info.Mode().IsRegular():
			err = visit(&Place{Path: path, dir: p.dir, name: e.Name(), Info: info, dev: p.dev})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
