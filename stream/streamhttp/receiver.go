package streamhttp

import (
	"errors"
	"net/http"
	"sync"
	"time"
)

const (
	// partSize is how many bytes are written at once.
	partSize = 64 << 10
	// deadAfter is how long a receiver may take for them before another one may replace it.
	deadAfter = 30 * time.Second
)

var errReplaced = errors.New("streamhttp: another receiver has taken over")

// receiver is one GET, which writes to its client.
type receiver struct {
	w        http.ResponseWriter
	limit    time.Duration // how long a part may take
	progress func(n int)   // called while events are written, after each n bytes
	replaced chan struct{} // closed when another receiver has taken over

	mu      sync.Mutex               // guards all below
	control *http.ResponseController // nil when the GET is over
	writing time.Time                // when the write under way began
}

func newReceiver(w http.ResponseWriter, limit time.Duration, progress func(n int)) *receiver {
	return &receiver{w: w, limit: limit, progress: progress, replaced: make(chan struct{}), control: http.NewResponseController(w)}
}

// dead reports whether the client has taken nothing of a write for deadAfter.
func (r *receiver) dead() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.writing.IsZero() && time.Since(r.writing) >= deadAfter
}

// replace ends a receiver. It is called once.
func (r *receiver) replace() {
	close(r.replaced)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.control != nil && !r.writing.IsZero() {
		_ = r.control.SetWriteDeadline(time.Now())
	}
}

// close is called at the end of the GET, after which its writer must not be used.
func (r *receiver) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.control = nil
}

// begin is called before each part of a write.
func (r *receiver) begin() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.replaced:
		return errReplaced
	default:
	}
	r.writing = time.Now()
	_ = r.control.SetWriteDeadline(r.writing.Add(r.limit)) // not every server has deadlines
	return nil
}

// end is called after a write.
func (r *receiver) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writing = time.Time{}
	_ = r.control.SetWriteDeadline(time.Time{})
}

// write writes and flushes. It calls progress, if not nil, after each part.
func (r *receiver) write(b []byte, progress func(n int)) error {
	for {
		part := b[:min(len(b), partSize)]
		if err := r.begin(); err != nil {
			return err
		}
		if len(part) > 0 {
			if _, err := r.w.Write(part); err != nil {
				return err
			}
			if progress != nil {
				progress(len(part))
			}
		}
		if b = b[len(part):]; len(b) == 0 {
			err := r.control.Flush()
			r.end()
			return err
		}
	}
}
