package files

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/localfs"
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
	at, err := p.locate(req.SessionID, req.Path)
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
