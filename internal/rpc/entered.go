package rpc

import (
	"sync"
	"time"
)

// entryGrace is how long the end of a group waits for a handler that was called
// to show that it runs.
const entryGrace = 50 * time.Millisecond

// entered says when the handler of a group's request has been entered, for the
// handler of what ends the group, which must find the other one at work. A
// goroutine cannot know that another one has executed the first statement of a
// function, so the first use of the ctx counts, and when a handler does not use
// it, a short time.
type entered struct {
	callOnce, useOnce sync.Once
	called, used      chan struct{} // closed when it is so, or never will be
	at                time.Time     // of the call; set before called is closed
}

func newEntered() *entered {
	return &entered{called: make(chan struct{}), used: make(chan struct{})}
}

// call notes that the handler is being called.
func (e *entered) call() {
	if e != nil {
		e.callOnce.Do(func() {
			e.at = time.Now()
			close(e.called)
		})
	}
}

// use notes that the handler used its ctx.
func (e *entered) use() {
	if e != nil {
		e.useOnce.Do(func() { close(e.used) })
	}
}

// over notes that the handler has returned, or will never be called.
func (e *entered) over() {
	e.call()
	e.use()
}

// wait waits until the handler has been entered.
func (e *entered) wait() {
	<-e.called
	left := entryGrace - time.Since(e.at)
	if left <= 0 {
		return
	}
	t := time.NewTimer(left)
	defer t.Stop()
	select {
	case <-e.used:
	case <-t.C:
	}
}
