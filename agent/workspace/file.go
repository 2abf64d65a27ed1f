package workspace

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/localfs"
)

// maxText is the maximum size of a text in bytes. No model reads more.
const maxText = 4 << 20

// File is a file with its whole text.
type File struct {
	Path    string // absolute
	Text    string
	Version Version
}

// Version identifies a text of a file.
type Version string

// The versions that do not identify a text.
const (
	AnyText Version = ""    // the file may have any text, or not exist
	NoFile  Version = "new" // the file must not exist
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
		return nil, err
	}
	return &File{path, text, VersionOf(text)}, nil
}

// ReadLines reads at most limit lines of a file, beginning with line number first. Line numbers
// start at 1. A limit of 0 means all lines. The file may be larger than the limit of Read.
func (w *Workspace) ReadLines(ctx context.Context, path string, first, limit uint32) (string, error) {
	path, err := w.resolve(path)
	if err != nil {
		return "", err
	}
	var line, most *uint32
	if first > 1 {
		line = &first
	}
	if limit > 0 {
		most = &limit
	}
	return w.read(ctx, path, line, most)
}

// read reads a file through the client if it offers that, and otherwise from the disk.
func (w *Workspace) read(ctx context.Context, path string, line, limit *uint32) (string, error) {
	if !w.offers().read {
		return w.readDisk(ctx, path, line, limit)
	}
	res, err := w.conn.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: w.id, Path: path, Line: line, Limit: limit})
	switch {
	case err != nil:
		return "", failed(path, err)
	case len(res.Content) > maxText:
		return "", &Error{path, ErrTooLarge}
	}
	return res.Content, nil
}

func (w *Workspace) readDisk(ctx context.Context, path string, line, limit *uint32) (string, error) {
	at, err := w.locate(path)
	if err != nil {
		return "", failed(path, err)
	}
	defer at.Close()
	text, _, err := at.Read(ctx, line, limit, maxText)
	if err == localfs.ErrGrown {
		err = ErrTooLarge
	}
	return text, failed(path, err)
}

// writing serializes the writes of each file, across all workspaces of this program.
var writing localfs.Turns

// Write creates or replaces a file if the file has the version old; otherwise the error is
// [ErrStale]. It creates missing folders. The result has the text of the file after the write,
// which differs from text if an editor formats the file when it saves.
func (w *Workspace) Write(ctx context.Context, path, text string, old Version) (*File, error) {
	path, err := w.resolve(path)
	if err != nil {
		return nil, err
	}
	if err = localfs.CheckText(text); len(text) > maxText {
		err = ErrTooLarge
	}
	if err != nil {
		return nil, &Error{path, err}
	}
	file := path
	if at, err := w.locate(path); err == nil { // the place identifies a file that has several names
		file = at.Path
		at.Close()
	}
	done, err := writing.Wait(ctx, file)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := w.expect(ctx, path, old); err != nil {
		return nil, err
	}
	o := w.offers()
	if !o.write {
		err = w.writeDisk(path, text)
	} else {
		_, err = w.conn.WriteTextFile(ctx, &acp.WriteTextFileRequest{SessionID: w.id, Path: path, Content: text})
	}
	if err != nil {
		return nil, failed(path, err)
	}
	if o.read && o.write {
		if now, err := w.read(ctx, path, nil, nil); err == nil { // the file is written, even if it cannot be read
			text = now
		}
	}
	return &File{path, text, VersionOf(text)}, nil
}

// expect returns an error if the file does not have the version old. It also returns an error if
// the client does not offer writing, and the text on the disk differs from that of the client.
func (w *Workspace) expect(ctx context.Context, path string, old Version) error {
	o := w.offers()
	onDisk := o.read && !o.write
	if old == AnyText && !onDisk {
		return nil
	}
	now, err := w.read(ctx, path, nil, nil)
	none := errors.Is(err, fs.ErrNotExist) || old == NoFile && silent(err)
	switch {
	case err != nil && !none:
		return err
	case old != AnyText && (none != (old == NoFile) || !none && VersionOf(now) != old):
		return &Error{path, ErrStale}
	case !onDisk:
		return nil
	}
	disk, err := w.readDisk(ctx, path, nil, nil)
	noFile := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !noFile:
		return err
	case disk != now, none && !noFile: // some clients return an empty text for a file that does not exist
		return &Error{path, ErrUnsaved}
	}
	return nil
}

func (w *Workspace) writeDisk(path, text string) error {
	at, err := w.locate(path)
	if err != nil {
		return err
	}
	defer at.Close()
	if err := at.MakeFolders(); err != nil {
		return err
	}
	return at.Replace(text)
}
