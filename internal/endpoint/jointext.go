package endpoint

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"sync"
	"time"
	"unicode/utf8"
)

// Text of a sequence waits at most joinTime, and not until there is more than joinSize.
const (
	joinTime = 25 * time.Millisecond
	joinSize = 2 << 10
)

// JoinText sends the texts of seq: the first at once, the following ones joined. What has
// arrived is sent within 25 ms, or as soon as it has 2 KiB, even while seq waits for its next
// text. A text may end inside a rune; the rune is sent when it is complete. send is called by
// one goroutine at a time. JoinText ends with seq, with the first error of seq or send, or when
// ctx is done; what has arrived by then is sent.
func JoinText(ctx context.Context, seq iter.Seq2[string, error], send func(string) error) (err error) {
	var mu sync.Mutex
	j := NewJoiner(&mu, send)
	defer func() { // also if seq panics, so that nothing is sent later
		mu.Lock()
		defer mu.Unlock()
		if sendErr := j.Flush(); sendErr != nil {
			err = sendErr
		}
	}()
	for text, err := range seq {
		mu.Lock()
		failed := j.Add(text)
		mu.Unlock()
		if failed != nil {
			return failed
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// A Joiner joins texts as [JoinText] does. The caller holds its lock during each call.
type Joiner struct {
	mu   sync.Locker
	send func(string) error

	text     []byte
	begun    bool // the first text has been sent
	waiting  bool // a timer runs
	err      error
	panicked any // the value of a panic of send on the goroutine of the timer
}

// NewJoiner returns a Joiner that calls send with mu locked.
func NewJoiner(mu sync.Locker, send func(string) error) *Joiner { return &Joiner{mu: mu, send: send} }

// Add adds a text. It returns the first error of send.
func (j *Joiner) Add(text string) error {
	j.text = append(j.text, text...)
	switch {
	case !j.begun || len(j.text) >= joinSize:
		j.flush(false)
	case len(j.text) > 0 && !j.waiting:
		j.waiting = true
		time.AfterFunc(joinTime, j.late) // ends by itself after joinTime
	}
	if j.panicked != nil {
		return errPanicked
	}
	return j.err
}

// errPanicked makes the caller of Add call Flush, which panics.
var errPanicked = errors.New("the function that sends has panicked")

// Flush sends all that waits. The next text is sent at once again.
func (j *Joiner) Flush() error {
	j.flush(true)
	j.begun = false
	if j.panicked != nil {
		panic(j.panicked)
	}
	return j.err
}

// late sends what has waited for joinTime.
func (j *Joiner) late() {
	j.mu.Lock()
	defer j.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			j.panicked = p // for the goroutine of the caller
		}
	}()
	j.waiting = false
	j.flush(false)
}

// flush sends the text, without an incomplete rune at its end unless all is set.
func (j *Joiner) flush(all bool) {
	n := len(j.text)
	if !all {
		n = complete(j.text)
	}
	if n == 0 || j.err != nil || j.panicked != nil {
		return
	}
	text := string(j.text[:n])
	j.text = append(j.text[:0], j.text[n:]...)
	if cap(j.text) > 4*joinSize { // of a long text: an idle session keeps nothing of it
		j.text = bytes.Clone(j.text)
	}
	j.begun = true
	j.err = j.send(text)
}

// complete returns the length of text without an incomplete rune at its end.
func complete(text []byte) int {
	for i := len(text) - 1; i >= 0 && i >= len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}
