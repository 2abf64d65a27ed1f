package localfs

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"unsafe"
)

// readAll reads a file of about size bytes.
func readAll(r io.Reader, size, limit int64) (string, error) {
	if size > limit {
		return "", ErrTooLarge
	}
	b := make([]byte, 0, size+1) // one more, to detect the end
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case int64(len(b)) > limit:
			return "", ErrTooLarge
		case errors.Is(err, io.EOF):
			return unsafe.String(unsafe.SliceData(b), len(b)), nil // b is not used after this
		case err != nil:
			return "", err
		case len(b) == cap(b):
			b = append(b, 0)[:len(b)]
		}
	}
}

// readLines returns the same as Lines, without reading the whole file. It checks only the text it
// returns.
func readLines(ctx context.Context, f io.Reader, first, limit *uint32, largest int64) (string, error) {
	r := bufio.NewReaderSize(&ending{ctx, f}, 64<<10)
	var text strings.Builder
	begin, end := uint64(1), uint64(math.MaxUint64)
	if first != nil {
		begin = max(uint64(*first), 1)
	}
	if limit != nil {
		end = begin + uint64(*limit)
	}
	for next := uint64(1); next < end; { // the number of the line
		part, err := r.ReadSlice('\n') // a long line is read in several parts
		if next >= begin {
			text.Write(part)
		}
		if int64(text.Len()) > largest {
			return "", ErrTooLarge
		}
		switch {
		case err == nil:
			next++
		case errors.Is(err, io.EOF):
			return text.String(), CheckText(text.String())
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
	return text.String(), CheckText(text.String())
}

// ending is a reader that fails when ctx is done.
type ending struct {
	ctx context.Context
	r   io.Reader
}

func (e *ending) Read(p []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.r.Read(p)
}

// Lines returns at most limit lines of text, beginning with the line first. Lines are counted from
// 1; 0 means 1. A line includes its "\n".
func Lines(text string, first, limit *uint32) string {
	if first != nil {
		for n := uint32(1); n < *first && text != ""; n++ {
			text = text[lineEnd(text):]
		}
	}
	if limit == nil {
		return text
	}
	end := 0
	for n := uint32(0); n < *limit && end < len(text); n++ {
		end += lineEnd(text[end:])
	}
	return text[:end]
}

func lineEnd(text string) int {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return len(text)
}
