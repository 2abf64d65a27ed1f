package localfs

import (
	"context"
	"sync"
)

// Turns serializes the writers of each path. The zero value is ready to use.
type Turns struct {
	mu    sync.Mutex // guards the fields below, and those of the paths
	paths map[string]*turn
}

type turn struct {
	token   chan struct{} // holds one value while a writer writes
	writers int           // number of writers, including those that wait
}

// Wait waits until no other writer writes to the path. done ends the turn.
func (t *Turns) Wait(ctx context.Context, path string) (done func(), err error) {
	t.mu.Lock()
	if t.paths == nil {
		t.paths = map[string]*turn{}
	}
	p := t.paths[path]
	if p == nil {
		p = &turn{token: make(chan struct{}, 1)}
		t.paths[path] = p
	}
	p.writers++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if p.writers--; p.writers == 0 {
			delete(t.paths, path)
		}
	}
	select {
	case p.token <- struct{}{}:
		return func() { <-p.token; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
