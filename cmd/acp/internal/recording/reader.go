package recording

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

const (
	// maxLine is the longest line that is read. A record has at most one message of maxMessage, in
	// which masking can make every byte longer, but not all of them.
	maxLine = 4 * maxMessage
	// followPause is how often Follow looks whether the file has grown.
	followPause = 50 * time.Millisecond
)

// ErrNotRecording is the error for a file that is no recording.
var ErrNotRecording = errors.New("this is no recording of acp tap")

// NewerError is the error for a recording that a newer version has written.
type NewerError struct {
	Format  int    // of the recording
	Version string // of the program that wrote it
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("the recording has format %d of acp %s, and this acp reads format %d: install a newer acp", e.Format, e.Version, Format)
}

// LineError is returned by Next and Follow for a line that is no record. Reading goes on.
type LineError struct {
	Line int64 // counts from 1, which is the head
	Err  error
}

func (e *LineError) Error() string {
	return fmt.Sprintf("line %d of the recording is damaged: %v", e.Line, e.Err)
}
func (e *LineError) Unwrap() error { return e.Err }

// Reader reads a recording. It is used by one goroutine at a time.
type Reader struct {
	// Head is the first line.
	Head Head

	file   *os.File
	buf    *bufio.Reader
	part   []byte // the beginning of a line whose end is not read yet
	offset int64  // of the next line
	line   int64  // how many lines were read
}

// Open opens a recording and reads its head. The error is ErrNotRecording or a *NewerError, or
// that of the system, each with the name of the file.
func Open(name string) (*Reader, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	r := &Reader{file: f, buf: bufio.NewReaderSize(f, 64<<10)}
	if err := r.readHead(); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

func (r *Reader) readHead() error {
	begin, err := r.buf.Peek(len(headBegin))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if string(begin) != headBegin {
		return ErrNotRecording // which may have no lines
	}
	line, err := r.next()
	if errors.Is(err, io.EOF) || err == nil && (json.Unmarshal(line, &r.Head) != nil || r.Head.Format < 1) {
		return ErrNotRecording
	}
	if err != nil {
		return err
	}
	if r.Head.Format > Format {
		return &NewerError{r.Head.Format, r.Head.Version}
	}
	return nil
}

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }

// Next returns the next record. At the end of the file the error is io.EOF; a torn last line is
// left out, and returned once the rest of it is in the file.
func (r *Reader) Next() (Record, error) {
	offset := r.offset
	line, err := r.next()
	if err != nil {
		return Record{}, err
	}
	rec := Record{Offset: offset}
	if err := json.Unmarshal(line, &rec); err != nil {
		return Record{}, &LineError{r.line, err}
	}
	if rec.Seq == 0 || rec.Kind == "" {
		return Record{}, &LineError{r.line, errors.New("it is no record")}
	}
	return rec, nil
}

// next returns the next whole line, which is valid until the next call.
func (r *Reader) next() ([]byte, error) {
	for {
		part, err := r.buf.ReadSlice('\n')
		if err == nil && len(r.part) == 0 {
			return r.whole(part), nil
		}
		r.part = append(r.part, part...)
		if len(r.part) > maxLine {
			return nil, fmt.Errorf("%s: line %d: %w", r.file.Name(), r.line+1, bufio.ErrTooLong)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return nil, err
		}
		line := r.part
		r.part = nil
		return r.whole(line), nil
	}
}

func (r *Reader) whole(line []byte) []byte {
	r.line++
	r.offset += int64(len(line))
	return line
}

// Follow returns the next record like Next, but waits for it while the recording is being written.
// After the last record of a recording that has ended the error is io.EOF.
func (r *Reader) Follow(ctx context.Context) (Record, error) {
	for {
		live := isLive(r.file.Name()) // before reading, so that nothing is missed that was written last
		rec, err := r.Next()
		if !errors.Is(err, io.EOF) || !live {
			return rec, err
		}
		select {
		case <-time.After(followPause):
		case <-ctx.Done():
			return Record{}, context.Cause(ctx)
		}
	}
}
