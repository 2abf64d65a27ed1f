package files

import (
	"context"
	"sync"
)

// turns makes writers of one path take turns. The zero value is ready for use.
type turns struct {
	mu    sync.Mutex // guards all below, and what the paths hold
	paths map[string]*turn
}

type turn struct {
	token   chan struct{} // holds one value while a writer writes
	writers int           // that write or wait
}

// wait returns when no one else writes to the path. The result ends the turn.
func (t *turns) wait(ctx context.Context, path string) (done func(), err error) {
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
