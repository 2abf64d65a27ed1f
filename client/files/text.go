package files

import (
	"context"
	"errors"
	"io/fs"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/asked"
	"github.com/acpkit/go-sdk/internal/localfs"
	"github.com/acpkit/go-sdk/internal/reserve"
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
	if err := localfs.CheckText(req.Content); err != nil {
		return err
	}
	at, err := p.locate(ctx, req.SessionID, req.Path)
	if err != nil {
		return err
	}
	defer at.Close()
	op := &Operation{
		Session: req.SessionID, Write: true, Path: at.Path, Requested: req.Path,
		Exists: at.Info != nil, Content: req.Content,
	}
	if err := p.judge(ctx, op); err != nil {
		return err
	}
	done, err := p.folders.turns.Wait(ctx, at.Path)
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
	if err := at.MakeFolders(); err != nil {
		return err
	}
	if p.folders.opts.InPlace {
		return at.Overwrite(req.Content)
	}
	return at.Replace(req.Content)
}

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
	at, err := p.locate(ctx, req.SessionID, req.Path)
	if err != nil {
		return "", err
	}
	defer at.Close()
	op := &Operation{Session: req.SessionID, Path: at.Path, Requested: req.Path, Exists: at.Info != nil}
	if err := p.judge(ctx, op); err != nil {
		return "", err
	}
	if b := p.folders.opts.Buffers; b != nil {
		text, ok, err := b.ReadBuffer(ctx, op)
		if err != nil {
			return "", refused{err}
		}
		if ok {
			return localfs.Lines(text, req.Line, req.Limit), localfs.CheckText(text)
		}
	}
	if at.Info == nil {
		return "", fs.ErrNotExist
	}
	return p.load(ctx, req, at)
}

func (p *part) locate(ctx context.Context, id acp.SessionID, path string) (*localfs.Place, error) {
	roots, err := p.roots(ctx, id)
	if err != nil {
		return nil, err
	}
	at, err := localfs.Locate(roots, path)
	if err != nil {
		return nil, err
	}
	if at.Folder || at.Info != nil && !at.Info.Mode().IsRegular() {
		at.Close()
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
	if asked.Of(ctx).Roots(string(op.Session)) == nil {
		return ErrUnknownSession
	}
	return nil
}

// load reads the requested part of a file, and reserves room for a large text. While it waits for
// room it has no folder open, because many requests may wait. Then it locates the file again.
func (p *part) load(ctx context.Context, req *acp.ReadTextFileRequest, at *localfs.Place) (string, error) {
	limit := p.folders.opts.MaxRead
	room := min(reserve.Small-1, limit)
	for range localfs.Attempts {
		text, size, err := at.Read(ctx, req.Line, req.Limit, room)
		switch {
		case err != nil && err == ctx.Err():
			return "", refused{err}
		case err != localfs.ErrGrown:
			return text, err
		case room == limit, size > limit && !byLine(req):
			return "", ErrTooLarge
		}
		room = min(max(size+reserve.Small, 2*room), limit) // the file may grow while this waits
		at.Close()
		if err := reserve.Result(ctx, room); err != nil {
			return "", refused{err}
		}
		again, err := p.locate(ctx, req.SessionID, req.Path)
		if err != nil {
			return "", err
		}
		defer again.Close()
		switch {
		case again.Path != at.Path:
			return "", ErrChanged
		case again.Info == nil:
			return "", fs.ErrNotExist
		}
		at = again
	}
	return "", ErrChanged
}

func byLine(req *acp.ReadTextFileRequest) bool { return req.Line != nil || req.Limit != nil }
