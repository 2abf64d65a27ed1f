package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"slices"
	"sync"
)

// question is what the user answers with a line.
type question struct {
	prompt string
	secret bool // do not show what is typed
	// ahead means that what was typed before the question was shown may answer it. On a terminal, any
	// other question is answered only by what was typed after it was shown: an agent decides when it
	// asks, so that the user may have typed it for another question, or for none.
	ahead    bool
	complete func(before string) []string // what the text before the cursor can become; may be nil
}

// asking is a question that waits for its line.
type asking struct {
	question
	got chan typed // has room for one
}

type typed struct {
	line string
	err  error
}

// A lineReader reads lines. Its methods may be called while read runs.
type lineReader interface {
	// read shows a question and returns the line for it, or for the one that has taken its place. The
	// error is io.EOF at the end of input, and errNobody after leave.
	read(a *asking) (*asking, string, error)
	// change puts another question in the place of the current one. leave is called when nobody waits
	// for a line.
	change(a *asking)
	leave()
}

var errNobody = errors.New("nobody waits for a line")

// lines asks the last question: a question about a write may come while the prompt is shown. Nothing is
// read without a question, so that another program can use the terminal.
type lines struct {
	reader lineReader

	mu      sync.Mutex // guards all below
	asking  []*asking  // the last one is shown
	reading bool
	kept    *typed // a line of a pipe that nobody waited for
	ended   bool
}

// next asks for a line. The error is io.EOF at the end of input, or the cause of ctx.
func (l *lines) next(ctx context.Context, ask question) (string, error) {
	a := &asking{ask, make(chan typed, 1)}
	l.mu.Lock()
	l.asking = append(l.asking, a)
	switch {
	case l.ended:
		l.deliver(a, typed{err: io.EOF})
	case l.kept != nil:
		l.deliver(a, *l.kept)
		l.kept = nil
	case l.reading:
		l.reader.change(a)
	default:
		l.start()
	}
	l.mu.Unlock()
	select {
	case t := <-a.got:
		return t.line, t.err
	case <-ctx.Done():
		l.withdraw(a)
		return "", context.Cause(ctx)
	}
}

func (l *lines) start() {
	l.reading = true
	a := l.asking[len(l.asking)-1]
	go func() { // ends with the line; a read of a pipe cannot be ended otherwise
		to, line, err := l.reader.read(a)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.reading = false
		switch {
		case err == nil:
			l.deliver(to, typed{line: line})
		case err != errNobody:
			l.ended = true
			for len(l.asking) > 0 {
				l.deliver(l.asking[0], typed{err: err})
			}
		}
		if len(l.asking) > 0 {
			l.start()
		}
	}()
}

// deliver hands a line to a question, unless it was withdrawn. A line for no question is kept.
func (l *lines) deliver(to *asking, t typed) {
	if to == nil && len(l.asking) > 0 {
		to = l.asking[len(l.asking)-1]
	}
	if to == nil {
		l.kept = &t
		return
	}
	if i := slices.Index(l.asking, to); i >= 0 {
		l.asking = slices.Delete(l.asking, i, i+1)
		to.got <- t
	}
}

func (l *lines) withdraw(a *asking) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.asking, a)
	if i < 0 {
		return
	}
	l.asking = slices.Delete(l.asking, i, i+1)
	switch {
	case i < len(l.asking) || !l.reading:
	case i > 0:
		l.reader.change(l.asking[i-1])
	default:
		l.reader.leave()
	}
}

// pipeReader reads lines from a file or a pipe. They are for no question but the next: a script writes
// them in order, before anything is asked.
type pipeReader struct {
	screen *screen
	in     *bufio.Reader
	tty    *tty // may be nil
}

func (r *pipeReader) read(a *asking) (*asking, string, error) {
	r.screen.prompt(a.prompt)
	if a.secret {
		r.tty.set(modeSilent)
		defer r.tty.restore()
	}
	line, err := r.in.ReadString('\n')
	if err != nil && line == "" {
		return nil, "", io.EOF
	}
	return nil, line, nil
}

func (r *pipeReader) change(a *asking) { r.screen.prompt(a.prompt) }

func (r *pipeReader) leave() {}
