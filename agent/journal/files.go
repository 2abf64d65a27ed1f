package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Files is a Store in a folder, which other processes may use at the same time. Each session has a
// folder of its own with two files: log.jsonl, which has one record a line, and meta.json.
//
// If a crash leaves an incomplete record at the end of a log, the next Append removes it. A damaged
// line is skipped and stays in the file. [Log].Damage reports both.
type Files struct {
	dir  string
	opts FilesOptions
	open func(name string, flag int) (logFile, error)

	mu    sync.Mutex
	index map[string]*indexed // by id
	pages pages
	logs  map[string]*fileLog // those that this store has open, by id
}

// FilesOptions configure [OpenFiles]. With the zero value, no session is deleted.
type FilesOptions struct {
	// MaxAge is the age of its last change at which a session is deleted. Zero means no limit.
	MaxAge time.Duration

	// MaxBytes is the maximum size of all logs together. Beyond it sessions are deleted, beginning
	// with the one that was not changed for longest. Zero means no limit.
	MaxBytes int64

	// Logger receives a record for each session that is deleted because of these limits, and a
	// warning for each session whose meta.json cannot be read. If it is nil, slog.Default() is
	// used.
	Logger *slog.Logger
}

// indexed describes a session for List. It is known without opening the log.
type indexed struct {
	meta Meta
	file fs.FileInfo // of the meta file
}

// OpenFiles returns the store in the folder dir, which it creates if necessary. Only the user of
// the process can read the files that the store writes. A nil opts is equivalent to the zero
// FilesOptions. OpenFiles and Create delete the sessions that exceed the limits.
func OpenFiles(dir string, opts *FilesOptions) (*Files, error) {
	s := &Files{dir: dir, open: openLogFile, logs: make(map[string]*fileLog)}
	if opts != nil {
		s.opts = *opts
	}
	if dir == "" {
		return nil, errors.New("journal: the path of the folder is empty")
	}
	if s.opts.MaxAge < 0 || s.opts.MaxBytes < 0 {
		return nil, errors.New("journal: MaxAge and MaxBytes must not be negative")
	}
	if s.opts.Logger == nil {
		s.opts.Logger = slog.Default()
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return s, s.purge(context.Background())
}

// plainID reports whether an id can be used as the name of the session's folder. Ids with
// upper-case letters cannot, because some file systems ignore case. Windows reserves the names of
// devices.
func plainID(id string) bool {
	const first = "0123456789abcdefghijklmnopqrstuvwxyz"
	device := slices.Contains([]string{"con", "prn", "aux", "nul", "com", "lpt"}, strings.TrimRight(id, "0123456789"))
	return !device && id != "" && len(id) <= 64 && strings.IndexByte(first, id[0]) >= 0 && strings.Trim(id, first+"_-") == ""
}

// folder returns the path of a session's folder.
func (s *Files) folder(id string) string {
	if !plainID(id) {
		hash := sha256.Sum256([]byte(id))
		id = "=" + hex.EncodeToString(hash[:20])
	}
	return filepath.Join(s.dir, id)
}

// Create implements Store. It also applies the limits of the options.
func (s *Files) Create(ctx context.Context, id string, meta Meta) (Log, error) {
	if err := errors.Join(ctx.Err(), checkID(id)); err != nil {
		return nil, err
	}
	folder := s.folder(id)
	if deleted(folder) {
		if err := s.Delete(ctx, id); err != nil {
			return nil, err
		}
	}
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("journal: %w", err)
	}
	l, err := s.hold(id, folder, os.O_CREATE)
	if err != nil {
		return nil, err
	}
	if err := l.create(created(id, meta)); err != nil {
		return nil, errors.Join(err, l.release())
	}
	s.mu.Lock()
	s.logs[id] = l
	if s.index != nil {
		s.index[id] = &indexed{meta: l.stored.Meta}
		s.pages.add(l.stored.Meta)
	}
	s.mu.Unlock()
	if err := s.purge(ctx); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// hold opens and locks the log file of a session, without reading it. With the flag os.O_CREATE it
// creates the file.
func (s *Files) hold(id, folder string, flag int) (*fileLog, error) {
	name := filepath.Join(folder, logName)
	file, err := s.open(name, flag)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	} else if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	unlock, err := lock(file)
	if err != nil {
		_ = file.Close()
		if errors.Is(err, errHeld) {
			return nil, &HeldError{ID: id}
		}
		return nil, fmt.Errorf("journal: lock %s: %w", name, err)
	}
	return &fileLog{store: s, folder: folder, file: file, unlock: unlock}, nil
}

// deleted reports whether the session in a folder is deleted. Some of its files may still exist.
func deleted(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, deletedName))
	return err == nil
}

// create writes the files of a new session. It accepts a folder that has an empty log and no meta
// file: a crash during an earlier Create leaves such a folder.
func (l *fileLog) create(meta Meta) error {
	info, err := os.Stat(l.path())
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if _, err := os.Stat(filepath.Join(l.folder, metaName)); err == nil || info.Size() > 0 {
		return ErrExists
	}
	l.stored.Meta = meta
	head := Record{Kind: kindHead, Time: meta.Created}
	if head.Data, err = json.Marshal(meta); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	line, err := appendLine(nil, &head)
	if err != nil {
		return err
	}
	if err := writeMeta(l.folder, &l.stored); err != nil {
		return err
	}
	if _, err := l.file.Write(line); err != nil {
		return errors.Join(fmt.Errorf("journal: %w", err), os.RemoveAll(l.folder))
	}
	l.size = int64(len(line))
	return errors.Join(syncFolder(l.folder), syncFolder(filepath.Dir(l.folder)))
}

// Open implements Store.
func (s *Files) Open(ctx context.Context, id string) (Log, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	folder := s.folder(id)
	l, err := s.hold(id, folder, 0)
	if errors.Is(err, ErrNotFound) {
		if _, err := readMeta(folder); err == nil && !deleted(folder) {
			return nil, &DamagedError{ID: id, Damage: Damage{filepath.Join(folder, logName), 0, "the file is missing"}}
		}
	}
	if err != nil {
		return nil, err
	}
	if deleted(folder) {
		return nil, errors.Join(ErrNotFound, l.release())
	}
	stored, metaErr := readMeta(folder)
	if stored != nil {
		l.stored = *stored
	}
	err = l.load()
	switch {
	case err == nil && l.stored.ID == "" && l.size == 0 && !l.torn && errors.Is(metaErr, fs.ErrNotExist):
		err = ErrNotFound // a Create that was not finished left the folder
	case err == nil && l.stored.ID != id:
		err = &DamagedError{ID: id, Damage: Damage{filepath.Join(folder, metaName), 0, fmt.Sprintf("it is not of this session: %v", metaErr)}}
	}
	if err != nil {
		return nil, errors.Join(err, l.release())
	}
	s.mu.Lock()
	s.logs[id] = l
	s.mu.Unlock()
	return l, nil
}

// closed updates the index, which List uses, with the metadata of a log that was closed.
func (s *Files) closed(l *fileLog) {
	m := l.Meta()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.logs, m.ID)
	if at := s.index[m.ID]; at != nil {
		at.meta = m
	}
}

// Delete implements Store. After a crash the session is either deleted or complete.
func (s *Files) Delete(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	folder := s.folder(id)
	l, err := s.hold(id, folder, 0)
	if errors.Is(err, ErrNotFound) {
		if err := os.RemoveAll(folder); err != nil {
			return fmt.Errorf("journal: %w", err)
		}
	} else if err != nil {
		return err
	} else {
		// The session is deleted as soon as this file exists, so a crash in the steps below does no
		// harm. This file is removed last.
		err := os.WriteFile(filepath.Join(folder, deletedName), nil, 0o600)
		if err = errors.Join(err, l.release()); err == nil {
			err = errors.Join(os.Remove(filepath.Join(folder, logName)), os.Remove(filepath.Join(folder, metaName)))
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = os.RemoveAll(folder)
		}
		if err != nil {
			return fmt.Errorf("journal: %w", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.index, id)
	return nil
}

// List implements Store. For a first page it reads the meta files that have changed since the
// previous first page.
func (s *Files) List(ctx context.Context, q Query) ([]Meta, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index == nil || q.Cursor == "" {
		if err := s.refresh(ctx); err != nil {
			return nil, "", err
		}
	}
	return s.pages.page(q, func(id string) (Meta, bool) {
		if l := s.logs[id]; l != nil {
			return l.Meta(), true
		}
		at := s.index[id]
		if at == nil {
			return Meta{}, false
		}
		return at.meta.clone(), true
	})
}

// refresh reads the meta files that have changed. The caller holds s.mu.
func (s *Files) refresh(ctx context.Context) error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	before := make(map[string]*indexed, len(s.index)) // by folder
	for id, at := range s.index {
		before[s.folder(id)] = at
	}
	found := make([]*indexed, len(entries))
	var work sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		work.Go(func() { // ends with its share of the folders, or with ctx
			for i := w; i < len(entries) && ctx.Err() == nil; i += workers {
				if entries[i].IsDir() {
					folder := filepath.Join(s.dir, entries[i].Name())
					found[i] = s.look(folder, before[folder])
				}
			}
		})
	}
	work.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	s.index = make(map[string]*indexed, len(found))
	all := make([]Meta, 0, len(found))
	for _, at := range found {
		if at == nil {
			continue
		}
		m := at.meta
		if l := s.logs[m.ID]; l != nil {
			m = l.Meta()
		}
		s.index[m.ID] = at
		all = append(all, m)
	}
	s.pages.reset(all)
	return nil
}

// look returns the index entry of the session in a folder, or nil if the folder holds none.
func (s *Files) look(folder string, before *indexed) *indexed {
	info, err := os.Stat(filepath.Join(folder, metaName))
	if err == nil && before != nil && os.SameFile(info, before.file) && info.ModTime().Equal(before.file.ModTime()) {
		return before
	}
	var m *metaFile
	if err == nil {
		m, err = readMeta(folder)
	}
	switch {
	case err == nil && s.folder(m.ID) != folder:
		err = fmt.Errorf("journal: %s is not the folder of session %q", folder, m.ID)
	case err == nil:
		if deleted(folder) {
			return nil
		}
		return &indexed{meta: m.Meta, file: info}
	case errors.Is(err, fs.ErrNotExist):
		return nil // left by an unfinished Create or Delete
	}
	s.opts.Logger.Warn("a session is left out of the list", "folder", folder, "error", err)
	return nil
}

// purge deletes the sessions that exceed the limits of the options.
func (s *Files) purge(ctx context.Context) error {
	if s.opts.MaxAge == 0 && s.opts.MaxBytes == 0 {
		return nil
	}
	s.mu.Lock()
	err := s.refresh(ctx)
	order := slices.Clone(s.pages.order)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	var bytes int64
	sizes := make([]int64, len(order))
	for i, at := range order {
		if info, err := os.Stat(filepath.Join(s.folder(at.id), logName)); err == nil {
			sizes[i] = info.Size()
			bytes += sizes[i]
		}
	}
	oldest := now().Add(-s.opts.MaxAge)
	for i, at := range slices.Backward(order) { // order begins with the latest session
		if (s.opts.MaxAge == 0 || !at.updated.Before(oldest)) && (s.opts.MaxBytes == 0 || bytes <= s.opts.MaxBytes) {
			return nil
		}
		var held *HeldError
		switch err := s.Delete(ctx, at.id); {
		case errors.As(err, &held):
		case err != nil:
			return err
		default:
			bytes -= sizes[i]
			s.opts.Logger.Info("a session is deleted by the limits of the store", "session", at.id, "updated", at.updated)
		}
	}
	return nil
}
