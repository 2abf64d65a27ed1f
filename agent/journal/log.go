package journal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/acpkit/go-sdk/internal/filelock"
)

// fileLog is the log of a session in a folder. It keeps one file open and locked.
type fileLog struct {
	store  *Files
	folder string
	file   logFile
	damage []Damage // set by load

	info fs.FileInfo // of the file that is open

	slow sync.Mutex // held while something is flushed to the disk; locked before mu

	mu      sync.Mutex
	closed  bool
	newer   bool   // the log has records of a later version
	broken  error  // set when the content of the file is unknown, because fsync has failed or another program has changed it
	marks   []mark // for Read, in the order of the file
	size    int64  // of the intact lines
	torn    bool   // the file is longer than size
	unended bool   // the last intact line has lost its line feed
	last    Record
	stored  metaFile
	buf     []byte
}

// A mark tells at which byte of the file a record begins.
type mark struct{ seq, at int64 }

// markEvery is the least number of bytes between two marks.
const markEvery = 64 << 10

// mark adds a mark if the last one is far enough from it.
func (l *fileLog) mark(seq, at int64) {
	if n := len(l.marks); n == 0 || at-l.marks[n-1].at >= markEvery {
		l.marks = append(l.marks, mark{seq, at})
	}
}

// before returns where the record with the number seq, or the next one that exists, can be found by
// reading from there. The caller holds l.mu.
func (l *fileLog) before(seq int64) int64 {
	i, exact := slices.BinarySearchFunc(l.marks, seq, func(m mark, seq int64) int { return cmp.Compare(m.seq, seq) })
	if exact {
		return l.marks[i].at
	} else if i == 0 {
		return 0
	}
	return l.marks[i-1].at
}

type metaFile struct {
	Meta
	Synced int64 `json:"synced"` // number of the last record that survives the loss of power
}

// A logFile is an open log file, opened for appending.
type logFile interface {
	io.WriteCloser
	Sync() error
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
	Fd() uintptr // to lock it
}

// appendFile is a logFile whose Truncate method opens the file by name, because Windows cannot
// truncate a file that is open for appending.
type appendFile struct{ *os.File }

func openLogFile(name string, flag int) (logFile, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND|flag, 0o600)
	if err != nil {
		return nil, err
	}
	return appendFile{f}, nil
}

func (f appendFile) Truncate(size int64) error { return os.Truncate(f.Name(), size) }

const (
	logName     = "log.jsonl"
	metaName    = "meta.json"
	deletedName = "deleted"
	keptBuffer  = 4 << 10 // bytes; a larger buffer is released when the log is synced
)

func (l *fileLog) path() string { return filepath.Join(l.folder, logName) }

// load reads the file to its end and determines what a crash has damaged.
func (l *fileLog) load() error {
	f, err := os.Open(l.path())
	if err != nil {
		return err
	}
	defer f.Close()
	var head *Meta
	var missing, end int64
	var last []byte // the line of the last record
	end, err = scan(f, func(line []byte, at int64) bool {
		seq, _, ok := cutSeq(line)
		switch {
		case !ok:
			l.newer = true
		case seq == 0:
			head = headOf(line)
		case seq > l.last.Seq:
			l.mark(seq, at)
			missing += seq - l.last.Seq - 1
			l.last.Seq, last = seq, append(last[:0], line...)
		}
		return true
	}, func(from, to int64) {
		l.damage = append(l.damage, Damage{l.path(), from, fmt.Sprintf("%d bytes are no records", to-from)})
	})
	if err == nil && last != nil {
		l.last, err = decodeLine(last)
	}
	if err == nil {
		err = l.readEnd(f, end)
	}
	if err != nil {
		return err
	}
	l.last.Data = nil
	if missing > 0 && len(l.damage) == 0 {
		l.damage = append(l.damage, Damage{l.path(), 0, fmt.Sprintf("%d records are missing before record %d", missing, l.last.Seq)})
	}
	if l.stored.ID == "" && head != nil {
		l.stored.Meta = *head
		l.damage = append(l.damage, Damage{filepath.Join(l.folder, metaName), 0, "it cannot be read: what is known of the session is as when it was created"})
	}
	if l.last.Time.After(l.stored.Updated) {
		l.stored.Updated = l.last.Time
	}
	if n := l.stored.Synced - l.last.Seq; n > 0 && !l.newer {
		l.damage = append(l.damage, Damage{l.path(), end, fmt.Sprintf("the last %d of %d records are missing", n, l.stored.Synced)})
		if l.last.Seq == 0 {
			return &DamagedError{ID: l.stored.ID, Damage: l.damage[len(l.damage)-1]}
		}
		l.stored.Synced = l.last.Seq
	}
	return nil
}

// headOf returns the metadata in the first line of a log, or nil.
func headOf(line []byte) *Meta {
	r, err := decodeLine(line)
	if m := new(Meta); err == nil && r.Kind == kindHead && json.Unmarshal(r.Data, m) == nil && m.ID != "" {
		return m
	}
	return nil
}

func (l *fileLog) readEnd(f *os.File, end int64) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	l.size, l.torn = end, size > end
	if end > 0 {
		var b [1]byte
		_, err = f.ReadAt(b[:], end-1)
		l.unended = b[0] != '\n'
	}
	return err
}

// cut truncates the file after the last intact line, to remove the rest of a failed write.
func (l *fileLog) cut() error {
	if !l.torn {
		return nil
	}
	if err := l.file.Truncate(l.size); err != nil {
		return err
	}
	l.torn = false
	return nil
}

// usable returns an error if nothing can be appended. The caller holds l.mu.
func (l *fileLog) usable() error {
	switch {
	case l.closed:
		return ErrClosed
	case l.newer:
		return ErrNewer
	}
	return l.broken
}

func (l *fileLog) Append(recs ...Record) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.usable(); err != nil {
		return 0, err
	}
	buf, last := l.buf[:0], l.last
	if l.unended {
		buf = append(buf, '\n')
	}
	at := l.size + int64(len(buf))
	for i := range recs {
		var err error
		if last, err = recs[i].Follow(last); err != nil {
			return 0, err
		}
		buf = appendLine(buf, &last)
	}
	l.buf = buf
	if len(recs) == 0 {
		return last.Seq, nil
	}
	err := l.unchanged()
	if err == nil {
		err = l.cut()
	}
	if err == nil {
		var n int
		if n, err = l.file.Write(buf); err == nil && n < len(buf) {
			err = io.ErrShortWrite
		}
		if err != nil {
			l.torn = true
			_ = l.cut() // after an error the next Append tries again
		}
	}
	if err != nil {
		return 0, fmt.Errorf("journal: append to %s: %w", l.path(), err)
	}
	l.mark(l.last.Seq+1, at)
	l.size += int64(len(buf))
	last.Data = nil
	l.last, l.stored.Updated, l.unended = last, last.Time, false
	return last.Seq, nil
}

// unchanged returns an error if another program has removed, replaced or changed the file. The caller
// holds l.mu.
func (l *fileLog) unchanged() error {
	info, err := os.Stat(l.path())
	if err == nil && os.SameFile(info, l.info) && (l.torn || info.Size() == l.size) {
		return nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	l.broken = &DamagedError{ID: l.stored.ID, Damage: Damage{l.path(), l.size, "another program has removed or changed the file while it was open"}}
	return l.broken
}

func (l *fileLog) Sync(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- l.sync() }() // ends with its fsync; Close waits for it
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// sync flushes the records to the disk, and then stores their number in the meta file. It does not
// flush the folder: after a loss of power, a lower number is correct too.
func (l *fileLog) sync() error {
	l.slow.Lock()
	defer l.slow.Unlock()
	l.mu.Lock()
	seq, synced, err := l.last.Seq, l.stored.Synced, l.usable()
	if cap(l.buf) > keptBuffer {
		l.buf = nil
	}
	l.mu.Unlock()
	if err != nil || synced >= seq {
		return err
	}
	if err = l.file.Sync(); err == nil {
		return l.writeMeta(func(m *metaFile) { m.Synced = seq })
	}
	err = fmt.Errorf("journal: sync %s: %w", l.path(), err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = err
	return err
}

// writeMeta changes the meta file. After an error nothing is changed. The caller holds l.slow.
func (l *fileLog) writeMeta(change func(*metaFile)) error {
	l.mu.Lock()
	next, err := l.stored, l.usable()
	l.mu.Unlock()
	if err != nil {
		return err
	}
	change(&next)
	if err := writeMeta(l.folder, &next); err != nil {
		return err
	}
	l.mu.Lock()
	if next.Updated.Before(l.stored.Updated) { // an Append has changed it meanwhile
		next.Updated = l.stored.Updated
	}
	l.stored = next
	l.mu.Unlock()
	l.store.changed(l.folder)
	return nil
}

func (l *fileLog) SetMeta(change func(*Meta)) error {
	l.slow.Lock()
	defer l.slow.Unlock()
	if err := l.writeMeta(func(m *metaFile) { m.Meta = m.Changed(change) }); err != nil {
		return err
	}
	return syncFolder(l.folder)
}

func (l *fileLog) Meta() Meta {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stored.Clone()
}

func (l *fileLog) Damage() []Damage { return slices.Clone(l.damage) }

func (l *fileLog) Read(ctx context.Context, after int64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		l.mu.Lock()
		closed, size, begin := l.closed, l.size, l.before(max(after, 0)+1)
		l.mu.Unlock()
		if closed {
			yield(Record{}, ErrClosed)
			return
		}
		f, err := os.Open(l.path())
		if err != nil {
			yield(Record{}, fmt.Errorf("journal: %w", err))
			return
		}
		defer f.Close()
		var stop error
		last, ended := max(after, 0), false
		_, err = scan(io.NewSectionReader(f, begin, size-begin), func(line []byte, _ int64) bool {
			if seq, _, ok := cutSeq(line); !ok || seq <= last {
				return true
			}
			var r Record
			if stop = ctx.Err(); stop == nil {
				r, stop = decodeLine(line)
			}
			if stop != nil {
				return false
			}
			last, r.Data = r.Seq, bytes.Clone(r.Data)
			ended = !yield(r, nil)
			return !ended
		}, func(int64, int64) {})
		if err = errors.Join(err, stop); err != nil && !ended {
			yield(Record{}, fmt.Errorf("journal: read %s: %w", l.path(), err))
		}
	}
}

// Close waits for a running flush, because that uses the files.
func (l *fileLog) Close() error {
	l.slow.Lock()
	defer l.slow.Unlock()
	l.mu.Lock()
	before := l.closed
	l.closed = true
	l.mu.Unlock()
	if before {
		return nil
	}
	l.store.closed(l)
	return l.release()
}

func (l *fileLog) release() error {
	filelock.Unlock(l.file)
	return l.file.Close()
}

// writeMeta replaces the meta file of a folder. After a crash, the file has either the old or the
// new content. The new content survives a loss of power after the folder is synced.
func writeMeta(folder string, m *metaFile) error {
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	name := filepath.Join(folder, metaName)
	f, err := os.OpenFile(name+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(name+".new", name)
	}
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}

func readMeta(folder string) (*metaFile, error) {
	name := filepath.Join(folder, metaName)
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	m := new(metaFile)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if m.ID == "" {
		return nil, fmt.Errorf("%s: the id of the session is missing", name)
	}
	return m, nil
}
