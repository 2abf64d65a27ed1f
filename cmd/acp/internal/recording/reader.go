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
	// maxLine is the longest line that is read. A record has one message of at most maxMessage bytes. A
	// byte of a line that is no text takes six bytes in JSON.
	maxLine = 7 * maxMessage
	// followPause is how often Follow looks whether the file has grown.
	followPause = 50 * time.Millisecond
)

var (
	// ErrNotRecording is the error for a file that is no recording.
	ErrNotRecording = errors.New("this is no recording of acp tap: acp recordings lists those that there are")
	// ErrDamaged is the error for a line that is no record. Reading goes on.
	ErrDamaged = errors.New("damaged")
)

// Reader reads a recording. It is used by one goroutine at a time.
type Reader struct {
	// Head is the first line.
	Head Head
	// File is open until the caller closes it. Only its offset must not change.
	*os.File

	buf    *bufio.Reader
	part   []byte // the beginning of a line whose end is not in the file yet
	offset int64  // of the next line
	line   int64  // how many lines were read
}

// Open opens a recording and reads its head. The error is ErrNotRecording, that of a newer format,
// or that of the system, each with the name of the file.
func Open(name string) (*Reader, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%w: acp recordings lists those that there are", err)
	}
	r := &Reader{File: f, buf: bufio.NewReaderSize(f, 64<<10)}
	if err := r.readHead(); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

func (r *Reader) readHead() error {
	begin, _ := r.buf.Peek(len(headBegin)) // other files may have no lines, or be folders
	if string(begin) != headBegin {
		return ErrNotRecording
	}
	line, err := r.next()
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return err
	case json.Unmarshal(line, &r.Head) != nil, r.Head.Format < 1:
		return ErrNotRecording
	case r.Head.Format > Format:
		return fmt.Errorf("the recording has format %d of acp %s, and this acp reads format %d: install a newer acp", r.Head.Format, r.Head.Version, Format)
	}
	return nil
}

// Next returns the next record. At the end of the file the error is io.EOF; a torn last line is
// left out, and returned once the rest of it is in the file.
func (r *Reader) Next() (Record, error) {
	line, err := r.next()
	if err != nil {
		return Record{}, err
	}
	rec := Record{Offset: r.offset - int64(len(line)), Length: len(line)}
	if err = json.Unmarshal(line, &rec); err == nil && (rec.Seq == 0 || rec.Kind == "") {
		err = errors.New("it is no record")
	}
	if err != nil {
		return Record{}, fmt.Errorf("line %d of the recording is %w: %w", r.line, ErrDamaged, err)
	}
	return rec, nil
}

// next returns the next whole line, which is valid until the next call.
func (r *Reader) next() ([]byte, error) {
	for {
		line, err := r.buf.ReadSlice('\n')
		if len(r.part) > 0 || err != nil {
			r.part = append(r.part, line...)
			line = r.part
		}
		switch {
		case len(line) > maxLine:
			return nil, fmt.Errorf("%s: line %d: %w", r.File.Name(), r.line+1, bufio.ErrTooLong)
		case err == nil:
			r.part = nil
			r.line++
			r.offset += int64(len(line))
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// Follow returns the next record like Next, but waits for it while the recording is being written.
// After the last record of a recording that has ended the error is io.EOF.
func (r *Reader) Follow(ctx context.Context) (Record, error) {
	for live := true; ; {
		rec, err := r.Next()
		if !errors.Is(err, io.EOF) || !live {
			return rec, err
		}
		if live = isLive(r.File.Name()); !live {
			continue // what was written last
		}
		select {
		case <-time.After(followPause):
		case <-ctx.Done():
			return Record{}, context.Cause(ctx)
		}
	}
}
