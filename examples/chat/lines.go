package main

import (
	"bufio"
	"context"
	"io"
	"slices"
	"sync"
)

// question is what the user answers with a line.
type question struct {
	prompt   string
	secret   bool                         // do not show what is typed
	complete func(before string) []string // what the text before the cursor can become; may be nil
}

// A lineReader reads a line that the user types. The error is io.EOF at the end of input.
type lineReader interface {
	read(ask question) (string, error)
	// change replaces the question of the current read. leave is called when nobody waits for
	// its line.
	change(ask question)
	leave()
}

// lines delivers each line that the user types to the last question: a question about a write
// may come while the prompt is shown. Nothing is read without a question, so that another
// program can use the terminal.
type lines struct {
	reader lineReader

	mu      sync.Mutex // guards all below
	asking  []*asking  // the last one gets the next line
	reading bool
	kept    *typed // a line that nobody waited for
	ended   bool
}

type asking struct {
	question
	got chan typed // has room for one
}

type typed struct {
	line string
	err  error
}

// next asks for a line. The error is io.EOF at the end of input, or the cause of ctx.
func (l *lines) next(ctx context.Context, ask question) (string, error) {
	a := &asking{ask, make(chan typed, 1)}
	l.mu.Lock()
	l.asking = append(l.asking, a)
	switch {
	case l.ended:
		l.deliver(typed{err: io.EOF})
	case l.kept != nil:
		l.deliver(*l.kept)
		l.kept = nil
	case l.reading:
		l.reader.change(ask)
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
	ask := l.asking[len(l.asking)-1].question
	go func() { // ends with the line; a read of a terminal cannot be ended otherwise
		line, err := l.reader.read(ask)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.reading, l.ended = false, err != nil
		l.deliver(typed{line, err})
		for l.ended && len(l.asking) > 0 {
			l.deliver(typed{line, err})
		}
		if len(l.asking) > 0 {
			l.start()
		}
	}()
}

func (l *lines) deliver(t typed) {
	n := len(l.asking)
	if n == 0 {
		l.kept = &t
		return
	}
	l.asking[n-1].got <- t
	l.asking = l.asking[:n-1]
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
	case i < len(l.asking):
	case i > 0:
		l.reader.change(l.asking[i-1].question)
	default:
		l.reader.leave()
	}
}

// plainReader reads lines from a file or a pipe, or from a terminal that edits them.
type plainReader struct {
	screen *screen
	in     *bufio.Reader
	tty    *tty // may be nil
}

func (r *plainReader) read(ask question) (string, error) {
	r.screen.prompt(ask.prompt)
	if ask.secret {
		r.tty.set(modeSilent)
		defer r.tty.restore()
	}
	line, err := r.in.ReadString('\n')
	if err != nil && line == "" {
		return "", io.EOF
	}
	return line, nil
}

func (r *plainReader) change(ask question) { r.screen.prompt(ask.prompt) }

func (r *plainReader) leave() {}
