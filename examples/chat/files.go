package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// files gives the agent the text files below one folder and nothing else. An
// os.Root keeps it there: neither .. nor a symbolic link leads out.
type files struct {
	dir  string // absolute, as the agent knows it
	real string // the same without symbolic links
	root *os.Root
}

// maxFile is the size of a file that is read or written at most.
const maxFile = 10 << 20

func openFiles(dir string) (*files, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, err
	}
	return &files{dir, real, root}, nil
}

func (f *files) Close() error { return f.root.Close() }

// inside turns an absolute path into one relative to the folder.
func (f *files) inside(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", rpcerr.InvalidParams(map[string]any{"path": path}).WithDetail("path must be absolute")
	}
	for _, base := range []string{f.dir, f.real} {
		rel, err := filepath.Rel(base, filepath.Clean(path))
		if err == nil && filepath.IsLocal(rel) {
			return rel, nil
		}
	}
	return "", rpcerr.InvalidParams(map[string]any{"path": path}).WithDetail("path is outside of " + f.dir)
}

// ReadTextFile returns a file or some lines of it.
func (f *files) ReadTextFile(_ context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	rel, err := f.inside(req.Path)
	if err != nil {
		return nil, err
	}
	text, err := f.read(rel)
	if err != nil {
		return nil, f.explain(req.Path, err)
	}
	if req.Line != nil || req.Limit != nil {
		text = lines(text, req.Line, req.Limit)
	}
	return &acp.ReadTextFileResponse{Content: text}, nil
}

func (f *files) read(rel string) (string, error) {
	file, err := f.open(rel, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return "", err
	}
	switch {
	case len(data) > maxFile:
		return "", errTooLarge
	case bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data):
		return "", errBinary
	}
	return string(data), nil
}

// open opens a regular file and nothing else: a pipe would block, a device has no
// end. What is opened is looked at, so that nobody can exchange it in between.
func (f *files) open(rel string, flags int) (*os.File, error) {
	file, err := f.root.OpenFile(rel, flags|doNotBlock, 0o644)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotFile
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// WriteTextFile creates or replaces a file; folders on the way are created.
func (f *files) WriteTextFile(_ context.Context, req *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	rel, err := f.inside(req.Path)
	if err != nil {
		return nil, err
	}
	if len(req.Content) > maxFile {
		return nil, f.explain(req.Path, errTooLarge)
	}
	if err := f.root.MkdirAll(filepath.Dir(rel), 0o755); err != nil {
		return nil, f.explain(req.Path, err)
	}
	if err := f.write(rel, req.Content); err != nil {
		return nil, f.explain(req.Path, err)
	}
	return nil, nil
}

func (f *files) write(rel, text string) error {
	file, err := f.open(rel, os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return err
	}
	err = file.Truncate(0)
	if err == nil {
		_, err = file.WriteString(text)
	}
	return errors.Join(err, file.Close())
}

// unsuitable says in words for the agent what is wrong with a file. Only errors of this
// type are quoted to it.
type unsuitable string

func (u unsuitable) Error() string { return string(u) }

var (
	errNotFile  = unsuitable("not a regular file")
	errTooLarge = unsuitable(fmt.Sprintf("larger than %d MiB", maxFile>>20))
	errBinary   = unsuitable("not a text file")
)

// explain says what went wrong in the protocol's terms. The text of a system error
// is not passed on.
func (f *files) explain(path string, err error) error {
	data := map[string]any{"path": path}
	if what, ok := errors.AsType[unsuitable](err); ok {
		return rpcerr.InvalidParams(data).WithDetail(path + " is " + string(what)).WithCause(err)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return rpcerr.ResourceNotFound(path).WithCause(err)
	case errors.Is(err, fs.ErrPermission):
		return rpcerr.InvalidParams(data).WithDetail(path + " may not be opened").WithCause(err)
	case strings.Contains(err.Error(), "escapes"): // os.Root has no exported error for it
		return rpcerr.InvalidParams(data).WithDetail(path + " leads outside of " + f.dir).WithCause(err)
	}
	return rpcerr.InternalError(data).WithDetail(path + " could not be opened").WithCause(err)
}

// lines returns at most limit lines of text from the line first on, counted from 1.
func lines(text string, first, limit *uint32) string {
	all := strings.SplitAfter(text, "\n")
	if first != nil && *first > 1 {
		all = all[min(int(*first)-1, len(all)):]
	}
	if limit != nil && int(*limit) < len(all) {
		all = all[:*limit]
	}
	return strings.Join(all, "")
}
