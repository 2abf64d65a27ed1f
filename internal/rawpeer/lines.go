package rawpeer

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// readTimeout is how long a peer made by [Lines] waits for a message before the test fails.
const readTimeout = time.Minute

// Lines returns a peer that writes bytes, and the reader and writer of the end under test. The peer
// reads all the time, like a program that does nothing else.
func Lines(t testing.TB) (*Peer, io.ReadCloser, io.WriteCloser) {
	in, to := io.Pipe()
	from, out := io.Pipe()
	l := &lines{to: to, from: from, all: make(chan string, 1<<17)}
	go l.read() // ends when the end under test, or the test, closes the pipe
	p := New(t, l)
	p.Bytes = to
	return p, in, out
}

// lines is a stream whose input is read ahead.
type lines struct {
	to   *io.PipeWriter
	from *io.PipeReader
	all  chan string
}

func (l *lines) read() {
	defer close(l.all)
	r := bufio.NewReader(l.from)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		l.all <- strings.TrimSuffix(line, "\n")
	}
}

func (l *lines) Read() ([]byte, error) {
	timer := time.NewTimer(readTimeout)
	defer timer.Stop()
	select {
	case line, ok := <-l.all:
		if !ok {
			return nil, io.EOF
		}
		return []byte(line), nil
	case <-timer.C:
		return nil, errors.New("nothing arrives")
	}
}

func (l *lines) Write(line []byte) error {
	_, err := l.to.Write(append(slices.Clip(line), '\n'))
	return err
}

func (l *lines) Close() error {
	l.to.Close()
	return l.from.Close()
}
