package journal

import (
	"cmp"
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

	"github.com/acpkit/go-sdk/internal/filelock"
)

// Files is a Store in a folder, which other processes may use at the same time. Each session has a
// folder of its own with two files: log.jsonl, which has one record a line, and meta.json.
//
// If a crash leaves an incomplete record at the end of a log, the next Append removes it. A damaged
// line is skipped and stays in the file. [Log].Damage reports both.
//
// No method but the first List of a store, and OpenFiles where there are limits, costs more if the
// folder holds more sessions. A session that another program copies into the folder is therefore not
// listed until the store is opened again.
type Files struct {
	dir  string
	opts FilesOptions
	open func(name string, flag int) (logFile, error)

	mu     sync.Mutex          // not held during I/O
	index  Index               // by the name of the session's folder
	listed bool                // index has all sessions
	seen   position            // the changes up to here are in index
	logs   map[string]*fileLog // those that this store has open, by folder
	limits limits
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

// OpenFiles returns the store in the folder dir, which it creates if necessary. Only the user of
// the process can read the files that the store writes. A nil opts is equivalent to the zero
// FilesOptions. OpenFiles deletes the sessions that exceed the limits, and
// each Create some of them.
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
	s.opts.Logger = cmp.Or(s.opts.Logger, slog.Default())
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	if info, err := os.Stat(filepath.Join(dir, changesName)); err == nil && info.Size() > maxChanges {
		_ = os.Remove(filepath.Join(dir, changesName)) // another process may have done so
	}
	if s.opts.MaxAge == 0 && s.opts.MaxBytes == 0 {
		return s, nil
	}
	return s, s.limit(context.Background())
}

// plainID reports whether an id can be used as the name of the session's folder. Ids with
// upper-case letters cannot, because some file systems ignore case. Windows reserves the names of
// devices.
func plainID(id string) bool {
	const first = "0123456789abcdefghijklmnopqrstuvwxyz"
	device := slices.Contains([]string{"con", "prn", "aux", "nul", "com", "lpt"}, strings.TrimRight(id, "0123456789"))
	return !device && id != "" && len(id) <= 64 && strings.IndexByte(first, id[0]) >= 0 && strings.Trim(id, first+"_-") == ""
}

func (s *Files) folder(id string) string {
	if !plainID(id) {
		hash := sha256.Sum256([]byte(id))
		id = "=" + hex.EncodeToString(hash[:20])
	}
	return filepath.Join(s.dir, id)
}

// Create implements Store. It also applies the limits of the options.
func (s *Files) Create(ctx context.Context, id string, meta Meta) (Log, error) {
	meta, err := meta.Begin(id)
	if err = errors.Join(ctx.Err(), err); err != nil {
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
	if err := l.create(meta); err != nil {
		return nil, errors.Join(err, l.release())
	}
	s.opened(l)
	s.changed(folder)
	if err := s.purge(ctx, purgedAtOnce); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (s *Files) opened(l *fileLog) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logs[l.folder] = l
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
	var info fs.FileInfo
	if err = filelock.TryLock(file); err == nil {
		info, err = file.Stat()
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("journal: lock %s: %w", name, err), file.Close())
		if errors.Is(err, filelock.ErrHeld) {
			err = &HeldError{ID: id}
		}
		return nil, err
	}
	return &fileLog{store: s, folder: folder, file: file, info: info}, nil
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
	line := appendLine(nil, &head)
	if err = writeMeta(l.folder, &l.stored); err == nil {
		_, err = l.file.Write(line)
	}
	if err != nil {
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
	s.opened(l)
	return l, nil
}

// closed keeps the metadata of a log that was closed for List.
func (s *Files) closed(l *fileLog) {
	m := l.Meta()
	l.mu.Lock()
	size := l.size
	l.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.logs, l.folder)
	name := filepath.Base(l.folder)
	s.limits.set(name, size)
	if s.listed {
		s.index.Put(name, m)
	}
}

// Meta implements Store.
func (s *Files) Meta(ctx context.Context, id string) (Meta, error) {
	m, err := s.look(s.folder(id))
	if err == nil && (m == nil || m.ID != id) {
		err = ErrNotFound
	}
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return Meta{}, err
	}
	return *m, nil
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
		// The session is deleted as soon as the meta file has the other name, so a crash in the steps below
		// does no harm. The file is removed last.
		marker := filepath.Join(folder, deletedName)
		err := os.Rename(filepath.Join(folder, metaName), marker)
		if errors.Is(err, fs.ErrNotExist) {
			err = os.WriteFile(marker, nil, 0o600)
		}
		if err = errors.Join(err, l.release()); err == nil {
			err = os.Remove(filepath.Join(folder, logName))
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = os.RemoveAll(folder)
		}
		if err != nil {
			return fmt.Errorf("journal: %w", err)
		}
	}
	s.mu.Lock()
	s.index.Drop(filepath.Base(folder))
	s.limits.set(filepath.Base(folder), 0)
	s.mu.Unlock()
	s.changed(folder)
	return nil
}

// syncFolder flushes a folder, so that the names in it survive a loss of power. The file system of Windows
// journals them itself.
func syncFolder(name string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
