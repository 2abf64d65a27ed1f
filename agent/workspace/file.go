package workspace

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/localfs"
)

// maxText is the maximum size of a text in bytes. No model reads more.
const maxText = 4 << 20

// File is the whole text of a file.
type File struct {
	Path    string // absolute
	Text    string
	Version Version
}

// Version stands for the whole text of a file.
type Version string

// These versions stand for no text.
const (
	AnyText Version = ""    // a write does not look at what is there
	NoFile  Version = "new" // there is no file
)

// VersionOf returns the version of a text.
func VersionOf(text string) Version { return Version(fmt.Sprintf("%x", sha256.Sum256([]byte(text)))) }

// Read reads a file.
func (w *Workspace) Read(ctx context.Context, path string) (*File, error) {
	path, err := w.resolve(path)
	if err != nil {
		return nil, err
	}
	text, err := w.read(ctx, path, nil, nil)
	if err != nil {
		return nil, failed(path, err)
	}
	return &File{path, text, VersionOf(text)}, nil
}

// ReadLines reads at most limit lines of a file, beginning with the line first, which is counted
// from 1. A limit of 0 means all lines. The file may be larger than what Read reads.
func (w *Workspace) ReadLines(ctx context.Context, path string, first, limit uint32) (string, error) {
	path, err := w.resolve(path)
	if err != nil {
		return "", err
	}
	first = max(first, 1)
	most := &limit
	if limit == 0 {
		most = nil
	}
	text, err := w.read(ctx, path, &first, most)
	return text, failed(path, err)
}

func (w *Workspace) read(ctx context.Context, path string, line, limit *uint32) (string, error) {
	if w.offers().read {
		return w.readClient(ctx, path, line, limit)
	}
	return w.readLocal(ctx, path, line, limit)
}

func (w *Workspace) readClient(ctx context.Context, path string, line, limit *uint32) (string, error) {
	res, err := w.conn.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: w.id, Path: path, Line: line, Limit: limit})
	if err != nil {
		return "", err
	}
	if len(res.Content) > maxText {
		return "", ErrTooLarge
	}
	return res.Content, nil
}

func (w *Workspace) readLocal(ctx context.Context, path string, line, limit *uint32) (string, error) {
	at, err := w.locate(path)
	if err != nil {
		return "", err
	}
	defer at.Close()
	return textOf(ctx, at, line, limit)
}

func textOf(ctx context.Context, at *localfs.Place, line, limit *uint32) (string, error) {
	switch {
	case at.Folder:
		return "", ErrNotFile
	case at.Info == nil:
		return "", fs.ErrNotExist
	}
	text, _, err := at.Read(ctx, line, limit, maxText)
	if err == localfs.ErrGrown {
		err = ErrTooLarge
	}
	return text, err
}

// writing has the writers of each path wait for each other, in all workspaces of this program.
var writing localfs.Turns

// Write creates or replaces a file if it has the text that the version stands for; otherwise the
// error is [ErrStale]. Folders on the way are created. The result has the text that the file has
// then: an editor may format it when it is saved.
func (w *Workspace) Write(ctx context.Context, path, text string, old Version) (*File, error) {
	path, err := w.resolve(path)
	if err != nil {
		return nil, err
	}
	if len(text) > maxText {
		return nil, &Error{path, ErrTooLarge}
	}
	if err := localfs.CheckText(text); err != nil {
		return nil, &Error{path, err}
	}
	done, err := writing.Wait(ctx, path)
	if err != nil {
		return nil, err
	}
	defer done()
	if w.offers().write {
		text, err = w.writeClient(ctx, path, text, old)
	} else {
		err = w.writeLocal(ctx, path, text, old)
	}
	if err != nil {
		return nil, failed(path, err)
	}
	return &File{path, text, VersionOf(text)}, nil
}

func (w *Workspace) writeClient(ctx context.Context, path, text string, old Version) (string, error) {
	if old != AnyText {
		now, err := w.read(ctx, path, nil, nil)
		if err := expect(old, now, failed(path, err)); err != nil {
			return "", err
		}
	}
	_, err := w.conn.WriteTextFile(ctx, &acp.WriteTextFileRequest{SessionID: w.id, Path: path, Content: text})
	if err != nil || !w.offers().read {
		return text, err
	}
	if now, err := w.readClient(ctx, path, nil, nil); err == nil {
		text = now
	}
	return text, nil // it is written, even if it cannot be read
}

// expect returns an error unless a file that was read has the expected version.
func expect(old Version, now string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if old == NoFile {
			return nil
		}
	case silent(err) && old == NoFile:
		return nil
	case err != nil:
		return err
	case VersionOf(now) == old:
		return nil
	}
	return ErrStale
}

func (w *Workspace) writeLocal(ctx context.Context, path, text string, old Version) error {
	at, err := w.locate(path)
	if err != nil {
		return err
	}
	defer at.Close()
	if at.Folder || at.Info != nil && !at.Info.Mode().IsRegular() {
		return ErrNotFile
	}
	shown := w.offers().read // the client shows a text of this file
	if old != AnyText || shown {
		now, err := textOf(ctx, at, nil, nil)
		if shown {
			if err := w.saved(ctx, path, now, err); err != nil {
				return err
			}
		}
		if old != AnyText {
			if err := expect(old, now, err); err != nil {
				return err
			}
		}
	}
	if err := at.MakeFolders(); err != nil {
		return err
	}
	return at.Replace(text)
}

// saved returns an error unless the client has the text of a file that was read from the disk, or
// has none of a file that does not exist.
func (w *Workspace) saved(ctx context.Context, path, disk string, err error) error {
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	none := err != nil
	now, err := w.readClient(ctx, path, nil, nil)
	err = failed(path, err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if none {
			return nil
		}
	case err != nil:
		return err
	case !none && now == disk, none && now == "": // some clients have an empty text for a file that does not exist
		return nil
	}
	return ErrUnsaved
}

// cwd opens the folder of a command on this machine.
func (w *Workspace) cwd(path string) (dir *os.Root, real string, err error) {
	at, err := w.locate(path)
	if err != nil {
		return nil, "", err
	}
	defer at.Close()
	if !at.Folder {
		if at.Info == nil {
			return nil, "", fs.ErrNotExist
		}
		return nil, "", localfs.ErrNotFolder
	}
	dir, err = at.OpenFolder()
	return dir, at.Path, err
}
