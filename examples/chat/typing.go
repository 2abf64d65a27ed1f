package main

import (
	"bytes"
	"io"
	"sync"
)

// input is what the user types on a terminal. Only wait blocks; the other methods are called with the
// mutex of the screen held, so that what take returns was typed after the last flush.
type input interface {
	// wait waits until there is something to take. The error is final.
	wait() error
	take() ([]byte, error)
	// flush drops what was typed and not taken.
	flush()
}

// typing is the question that the user answers on a terminal, and what was typed for it. The mutex of
// the screen guards it.
type typing struct {
	in      input
	ask     *asking // nil if nobody waits
	pending []byte  // was taken, and is for the next question that may take what was typed before
}

// begin puts a question in the place of the one before. What is asked must have been shown; the prompt
// comes next. It reports false if the question has begun already: change was called when a read for
// nobody was about to return, and the user may have typed since.
func (t *typing) begin(a *asking) bool {
	if t.ask == a {
		return false
	}
	t.ask = a
	if !a.ahead {
		t.pending = nil
		t.in.flush()
	}
	return true
}

// leave ends the question. What was typed for it is for nobody.
func (t *typing) leave() {
	if t.ask != nil && !t.ask.ahead {
		t.pending = nil
		t.in.flush()
	}
	t.ask = nil
}

// more takes what was typed, unless what is pending is sufficient. It returns with the mutex of the
// screen held.
func (t *typing) more(s *screen, sufficient func([]byte) bool) error {
	s.lock()
	if t.ask == nil {
		return errNobody
	}
	if sufficient(t.pending) {
		return nil
	}
	s.unlock()
	failed := t.in.wait()
	s.lock()
	if t.ask == nil {
		return errNobody // what was typed waits for the next question
	}
	if failed != nil {
		return failed
	}
	text, err := t.in.take()
	t.pending = append(t.pending, text...)
	return err
}

// blockingInput is an input that cannot be asked whether there is something to read. It drops what a
// read returns that began before a flush.
type blockingInput struct {
	r       io.Reader
	discard func() // drops what the system holds

	mu      sync.Mutex // guards what follows
	taken   []byte
	flushes int
}

func (b *blockingInput) wait() error {
	b.mu.Lock()
	before, full := b.flushes, len(b.taken) > 0
	b.mu.Unlock()
	if full {
		return nil
	}
	buf := make([]byte, 4096)
	n, err := b.r.Read(buf)
	b.mu.Lock()
	defer b.mu.Unlock()
	if before == b.flushes {
		b.taken = append(b.taken, buf[:n]...)
	}
	if n > 0 {
		return nil
	}
	return err
}

func (b *blockingInput) take() ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := b.taken
	b.taken = nil
	return text, nil
}

func (b *blockingInput) flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.flushes++
	b.taken = nil
	b.discard()
}

// lineTerminal reads lines from a terminal that edits them itself.
type lineTerminal struct {
	screen *screen
	tty    *tty
	typing // guarded by the mutex of the screen
}

func (r *lineTerminal) read(a *asking) (*asking, string, error) {
	r.change(a)
	hasLine := func(text []byte) bool { return bytes.IndexByte(text, '\n') >= 0 }
	for {
		err := r.more(r.screen, hasLine)
		if line, rest, entered := bytes.Cut(r.pending, []byte("\n")); err == nil && entered {
			a := r.ask
			r.pending, r.ask = rest, nil
			r.tty.restore()
			r.screen.unlock()
			return a, string(line), nil
		}
		if err == nil && len(r.pending) == 0 { // the line was begun before the question
			r.screen.ask(r.ask.prompt)
		}
		r.screen.unlock()
		if err != nil {
			return nil, "", err
		}
	}
}

func (r *lineTerminal) change(a *asking) {
	r.screen.lock()
	defer r.screen.unlock()
	r.tty.restore()
	if a.secret {
		r.tty.set(modeSilent)
	}
	if r.begin(a) {
		r.screen.ask(a.prompt)
	}
}

func (r *lineTerminal) leave() {
	r.screen.lock()
	defer r.screen.unlock()
	r.tty.restore()
	r.typing.leave()
}
