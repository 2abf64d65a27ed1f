package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"unsafe"

	"github.com/acpkit/go-sdk/acp"
)

// attempts is how often a file is opened again that was replaced meanwhile.
const attempts = 10

func (p *part) readTextFile(ctx context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	text, err := p.read(ctx, req)
	if err != nil {
		return nil, wrap(req.Path, err)
	}
	return &acp.ReadTextFileResponse{Content: lines(text, req.Line, req.Limit)}, nil
}

// refused is an error of a Check or of Buffers, which is passed on as it is.
type refused struct{ error }

func wrap(path string, err error) error {
	if r, ok := err.(refused); ok {
		return r.error
	}
	if errors.Is(err, fs.ErrClosed) { // the session ended meanwhile
		err = ErrUnknownSession
	}
	return &Error{Path: path, Err: err}
}

func (p *part) read(ctx context.Context, req *acp.ReadTextFileRequest) (string, error) {
	at, err := p.locate(req.SessionID, req.Path)
	if err != nil {
		return "", err
	}
	defer at.close()
	op := &Operation{Session: req.SessionID, Path: at.path, Requested: req.Path, Exists: at.info != nil}
	if err := p.judge(ctx, op); err != nil {
		return "", err
	}
	if b := p.folders.opts.Buffers; b != nil {
		text, ok, err := b.ReadBuffer(ctx, op)
		if err != nil {
			return "", refused{err}
		}
		if ok {
			return text, checkText(text)
		}
	}
	if at.info == nil {
		return "", fs.ErrNotExist
	}
	f, info, err := at.openFile(os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := readAll(f, info.Size(), p.folders.opts.MaxRead)
	if err != nil {
		return "", err
	}
	return text, checkText(text)
}

// locate finds the place of a file.
func (p *part) locate(id acp.SessionID, path string) (*place, error) {
	roots, err := p.roots(id)
	if err != nil {
		return nil, err
	}
	at, err := locate(roots, path)
	if err != nil {
		return nil, err
	}
	if at.folder || at.info != nil && !at.info.Mode().IsRegular() {
		at.close()
		return nil, ErrNotFile
	}
	return at, nil
}

// judge asks the Check, which may take long: the request may be over then, or its session.
func (p *part) judge(ctx context.Context, op *Operation) error {
	if p.check == nil {
		return nil
	}
	if err := p.check(ctx, op); err != nil {
		return refused{err}
	}
	if err := ctx.Err(); err != nil {
		return refused{err}
	}
	if _, open := p.conn.SessionRoots(op.Session); !open {
		return ErrUnknownSession
	}
	return nil
}

// openFile opens the regular file at p. It never follows a symlink.
func (p *place) openFile(flags int) (*os.File, fs.FileInfo, error) {
	for range attempts {
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

// readAll reads a file of about that size.
func readAll(r io.Reader, size, limit int64) (string, error) {
	if size > limit {
		return "", ErrTooLarge
	}
	b := make([]byte, 0, size+1) // one more, so that the end is seen
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case int64(len(b)) > limit:
			return "", ErrTooLarge
		case errors.Is(err, io.EOF):
			return unsafe.String(unsafe.SliceData(b), len(b)), nil // b is not used again
		case err != nil:
			return "", err
		case len(b) == cap(b):
			b = append(b, 0)[:len(b)]
		}
	}
}

// lines returns at most limit lines of text from the line first on, counted from 1; 0
// means 1. Lines end with "\n", and keep it.
func lines(text string, first, limit *uint32) string {
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
