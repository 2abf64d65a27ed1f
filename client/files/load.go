package files

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/reserve"
)

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
