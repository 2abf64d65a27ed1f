package streamhttp

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// comment is an event that clients ignore.
const comment = ":\n\n"

const (
	// partSize is how many bytes are written at once. A client that takes longer than
	// writeTimeout for them is gone.
	partSize     = 64 << 10
	writeTimeout = 30 * time.Second
)

// buffers are used while events are written, so that an idle event stream holds none.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// get serves an event stream.
func (h *Handler) get(w http.ResponseWriter, r *http.Request) {
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		w.Header().Set("Upgrade", "websocket")
		refuse(w, http.StatusUpgradeRequired, "WebSocket is not served here")
		return
	}
	if !strings.Contains(strings.ToLower(r.Header.Get("Accept")), "text/event-stream") {
		refuse(w, http.StatusNotAcceptable, "Accept must hold text/event-stream")
		return
	}
	c := h.find(w, r)
	if c == nil {
		return
	}
	if !skipBody(w, r) {
		refuse(w, http.StatusBadRequest, "GET takes no body")
		return
	}
	session := r.Header.Get(sessionHeader)
	me := &receiver{replaced: make(chan struct{})}
	e, status := c.attach(session, r.Header.Get(resumeHeader), me)
	if status != 0 {
		refuse(w, status, http.StatusText(status))
		return
	}
	defer c.detach(e, me)
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-cache")
	header.Set("X-Accel-Buffering", "no") // proxies would wait for more
	header.Set(connectionHeader, c.id)
	if session != "" {
		header.Set(sessionHeader, session)
	}
	w.WriteHeader(http.StatusOK)
	out := &eventWriter{w: w, control: http.NewResponseController(w), progress: c.progressed}
	if out.write(c.greeting(e), nil) == nil {
		h.send(c, e, me, out, r)
	}
}

// skipBody reads the body that a GET may have but has no use for: net/http reads it before it
// sends anything. It reports whether the body was short and arrived in time.
func skipBody(w http.ResponseWriter, r *http.Request) bool {
	if r.ContentLength == 0 {
		return true
	}
	if _, err := io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, freeBody)); err != nil {
		return false
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // the event stream lasts
	return true
}

// send writes events until either end closes the event stream.
func (h *Handler) send(c *Conn, e *events, me *receiver, out *eventWriter, r *http.Request) {
	keepAlive := time.NewTicker(h.opts.KeepAlive)
	defer keepAlive.Stop()
	epoch := ""
	if h.opts.Resume {
		epoch = e.epoch
	}
	for {
		next, ok := c.batch(e, me)
		if !ok {
			return
		}
		if len(next) > 0 {
			if out.writeEvents(next, epoch) != nil {
				return
			}
			c.markSent(e, me, len(next))
			continue
		}
		select {
		case <-e.wake:
		case <-me.replaced:
			return
		case <-r.Context().Done():
			return
		case <-keepAlive.C:
			if out.write([]byte(comment), nil) != nil { // which is no progress
				return
			}
		case <-c.closing:
			if next, _ := c.batch(e, me); len(next) == 0 {
				return
			}
		}
	}
}

// eventWriter writes to one event stream.
type eventWriter struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	progress func(n int) // called while events are written, after each n bytes
}

// writeEvents writes several events at once. Only events with an epoch are numbered.
func (o *eventWriter) writeEvents(all []event, epoch string) error {
	b := buffers.Get().(*bytes.Buffer)
	defer func() {
		if b.Cap() <= 2*batchBytes {
			buffers.Put(b)
		}
	}()
	b.Reset()
	for _, ev := range all {
		if epoch != "" {
			b.WriteString("id: ")
			b.WriteString(epoch)
			b.WriteByte('-')
			b.WriteString(strconv.FormatUint(ev.n, 10))
			b.WriteByte('\n')
		}
		for data := ev.data; ; {
			// A line ends with LF, CR or both: each begins a new line of data.
			i := bytes.IndexByte(data, '\n')
			if cr := bytes.IndexByte(data[:max(i, 0)], '\r'); i < 0 {
				i = bytes.IndexByte(data, '\r')
			} else if cr >= 0 {
				i = cr
			}
			line := data
			if i >= 0 {
				line = data[:i]
			}
			b.WriteString("data: ")
			b.Write(line)
			b.WriteByte('\n')
			if i < 0 {
				break
			}
			data = data[i+1:]
		}
		b.WriteByte('\n')
	}
	return o.write(b.Bytes(), o.progress)
}

// write writes and flushes. It calls progress, if not nil, after each part.
func (o *eventWriter) write(b []byte, progress func(n int)) error {
	for {
		part := b[:min(len(b), partSize)]
		_ = o.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // not every server has deadlines
		if len(part) > 0 {
			if _, err := o.w.Write(part); err != nil {
				return err
			}
			if progress != nil {
				progress(len(part))
			}
		}
		if b = b[len(part):]; len(b) == 0 {
			err := o.control.Flush()
			_ = o.control.SetWriteDeadline(time.Time{})
			return err
		}
	}
}
