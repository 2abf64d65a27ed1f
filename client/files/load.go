package files

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/reserve"
)

// errGrown is the error of a text for which more room must be reserved.
var errGrown = errors.New("text needs more room")

// load reads what is requested of the file at a place, and reserves room for a large text.
// While it waits for that it has no folder open, because very many requests may wait; then
// it looks up the place again.
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
		room = min(max(size+reserve.Small, 2*room), limit) // it may grow while this waits
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

// read reads what is requested if it fits into room. The error is errGrown if it does not;
// size is then that of the file.
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
