package files

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/reserve"
)

// attempts is how often a file is opened again after it was replaced.
const attempts = 10

func (p *part) readTextFile(ctx context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	text, err := p.read(ctx, req)
	if err != nil {
		return nil, wrap(req.Path, err)
	}
	return &acp.ReadTextFileResponse{Content: text}, nil
}

// refused is an error of a Check or of Buffers, which is returned unchanged.
type refused struct{ error }

func wrap(path string, err error) error {
	if r, ok := err.(refused); ok {
		return r.error
	}
	if errors.Is(err, fs.ErrClosed) { // the session has ended
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
			return lines(text, req.Line, req.Limit), checkText(text)
		}
	}
	if at.info == nil {
		return "", fs.ErrNotExist
	}
	return p.load(ctx, req, at)
}

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

// judge calls the Check. This may take long, so the request or its session may have ended
// afterwards.
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

// openFile never follows a symlink.
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

// errGrown means that more room must be reserved for a text.
var errGrown = errors.New("text needs more room")

// load reads the requested part of a file, and reserves room for a large text. While it waits for
// room it has no folder open, because many requests may wait. Then it locates the file again.
func (p *part) load(ctx context.Context, req *acp.ReadTextFileRequest, at *place) (string, error) {
	limit := p.folders.opts.MaxRead
	room := min(reserve.Small-1, limit)
	for range attempts {
		text, size, err := at.read(ctx, req, room)
		switch {
		case err != errGrown:
			return text, err
		case room == limit, size > limit && !byLine(req):
			return "", ErrTooLarge
		}
		room = min(max(size+reserve.Small, 2*room), limit) // the file may grow while this waits
		at.close()
		if err := reserve.Result(ctx, room); err != nil {
			return "", refused{err}
		}
		again, err := p.locate(req.SessionID, req.Path)
		if err != nil {
			return "", err
		}
		defer again.close()
		switch {
		case again.path != at.path:
			return "", ErrChanged
		case again.info == nil:
			return "", fs.ErrNotExist
		}
		at = again
	}
	return "", ErrChanged
}

func byLine(req *acp.ReadTextFileRequest) bool { return req.Line != nil || req.Limit != nil }

// read reads the requested text if it fits into room. Otherwise it returns errGrown and the size of
// the file.
func (p *place) read(ctx context.Context, req *acp.ReadTextFileRequest, room int64) (text string, size int64, err error) {
	f, info, err := p.openFile(os.O_RDONLY)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	size = info.Size()
	if size > room && byLine(req) {
		text, err = readLines(ctx, f, req.Line, req.Limit, room)
	} else if text, err = readAll(f, size, room); err == nil {
		text, err = lines(text, req.Line, req.Limit), checkText(text)
	}
	if err == ErrTooLarge {
		return "", max(size, room+1), errGrown
	}
	return text, size, err
}
