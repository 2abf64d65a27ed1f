package journal

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// changesName is the file in which the processes that use a store write the name of each folder that
// they have changed. So a list reads what has changed, and not all sessions.
const changesName = "changes.log"

// maxChanges is the size in bytes at which OpenFiles removes the file of the changes.
const maxChanges = 8 << 20

// position is a position in the file of the changes; the zero position is that before any change.
type position struct {
	file fs.FileInfo
	at   int64
}

// changed tells the other processes that a session has changed. A list of theirs may be outdated if it
// fails. If the file is removed meanwhile, they read all sessions, which have changed before.
func (s *Files) changed(folder string) {
	f, err := os.OpenFile(filepath.Join(s.dir, changesName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		_, err = f.WriteString(filepath.Base(folder) + "\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		s.opts.Logger.Warn("other processes do not see a change of a session in their list", "folder", folder, "error", err)
	}
}

// changes returns the names of the folders that have changed since a position, or of all, and the position
// of the last change. all reports that any folder may have changed. It creates the file, so that its
// removal is noticed.
func (s *Files) changes(since position) (names map[string]bool, now position, all bool, err error) {
	f, err := os.OpenFile(filepath.Join(s.dir, changesName), os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil { // a disk without room, or one that cannot be written, can be read nevertheless
		names, err = s.folders()
		return names, position{}, true, err
	}
	defer f.Close()
	if now.file, err = f.Stat(); err != nil {
		return nil, position{}, false, err
	}
	if now.at = now.file.Size(); since.file == nil || !os.SameFile(since.file, now.file) || now.at < since.at {
		names, err = s.folders()
		return names, now, true, err
	}
	text, err := io.ReadAll(io.NewSectionReader(f, since.at, now.at-since.at))
	names = make(map[string]bool)
	for name := range bytes.Lines(text) {
		if whole, ok := bytes.CutSuffix(name, []byte("\n")); ok {
			names[string(whole)] = true
		} else {
			now.at -= int64(len(name)) // it is being written
		}
	}
	return names, now, false, err
}

// List implements Store. For a first page it reads the metadata of the sessions that have changed since
// the previous first page.
func (s *Files) List(ctx context.Context, q Query) ([]Meta, string, error) {
	s.mu.Lock()
	listed := s.listed
	s.mu.Unlock()
	if !listed || q.Cursor == "" {
		if err := s.refresh(ctx); err != nil {
			return nil, "", err
		}
	}
	for {
		s.mu.Lock()
		page, next, err := s.index.Page(q)
		s.mu.Unlock()
		if !s.removed(page) {
			return page, next, err
		}
	}
}

// removed drops the sessions of a page whose folders a person has removed. It reports whether there
// were any.
func (s *Files) removed(page []Meta) (any bool) {
	for _, m := range page {
		folder := s.folder(m.ID)
		if _, err := os.Lstat(folder); errors.Is(err, fs.ErrNotExist) {
			s.mu.Lock()
			s.index.Drop(filepath.Base(folder))
			s.mu.Unlock()
			any = true
		}
	}
	return any
}

// refresh reads the metadata of the sessions that have changed, and arranges the list.
func (s *Files) refresh(ctx context.Context) error {
	s.mu.Lock()
	since, open := s.seen, slices.Collect(maps.Keys(s.logs))
	s.mu.Unlock()
	names, now, all, err := s.changes(since)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	for _, folder := range open {
		names[filepath.Base(folder)] = true
	}
	found := make(map[string]*Meta, len(names)) // nil for a folder without a session
	for name := range names {
		if ctx.Err() != nil {
			break
		}
		if found[name], err = s.look(filepath.Join(s.dir, name)); err != nil {
			s.opts.Logger.Warn("a session is left out of the list", "folder", filepath.Join(s.dir, name), "error", err)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if all {
		s.index = Index{}
	}
	for name, m := range found {
		if m == nil {
			s.index.Drop(name)
		} else {
			s.index.Put(name, *m)
		}
	}
	s.index.arrange()
	s.listed, s.seen = true, now
	return nil
}

func (s *Files) folders() (map[string]bool, error) {
	f, err := os.Open(s.dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := f.Readdirnames(-1)
	names := make(map[string]bool, len(all))
	for _, name := range all {
		if !strings.Contains(name, ".") { // not that of a session
			names[name] = true
		}
	}
	return names, err
}

// look returns the metadata of the session in a folder, or nil if the folder holds none. If the meta
// file is lost, it returns what the log tells.
func (s *Files) look(folder string) (*Meta, error) {
	s.mu.Lock()
	open := s.logs[folder]
	s.mu.Unlock()
	if open != nil {
		m := open.Meta()
		return &m, nil
	}
	stored, err := readMeta(folder)
	var m *Meta
	if err == nil {
		m = &stored.Meta
	} else if deleted(folder) {
		return nil, nil
	} else if m = readHead(folder); m != nil {
		m.Damage = metaName + " cannot be read: what is known of the session is as when it was created"
	}
	switch {
	case m == nil && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)):
		return nil, nil // left by an unfinished Create or Delete, or not a folder
	case m == nil:
		return nil, err
	case s.folder(m.ID) != folder:
		return nil, fmt.Errorf("journal: %s is not the folder of session %q", folder, m.ID)
	}
	return m, nil
}

// readHead returns the metadata in the first record of a log. If that is damaged, it returns the id
// that the name of the folder tells. It returns nil if there is no log.
func readHead(folder string) *Meta {
	f, err := os.Open(filepath.Join(folder, logName))
	if err != nil {
		return nil
	}
	defer f.Close()
	line, err := readLine(bufio.NewReader(f))
	if line = bytes.TrimSuffix(line, []byte("\n")); intact(line) {
		if m := headOf(line); m != nil {
			return m
		}
	}
	if id := filepath.Base(folder); err == nil && plainID(id) {
		return &Meta{ID: id}
	}
	return nil
}
