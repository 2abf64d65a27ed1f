package streamhttp

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/internal/webguard"
)

// comment is an event that clients ignore.
const comment = ":\n\n"

// shutdownComment is the last line of the event streams of a server that shuts down. Clients
// that do not know it ignore it, as every comment.
const shutdownComment = ": the server shuts down"

var errManyStreams = errors.New("streamhttp: the connection has too many event streams")

// buffers are used while events are written, so that an idle event stream holds none.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// get serves an event stream.
func (h *Handler) get(w http.ResponseWriter, r *http.Request) {
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		w.Header().Set("Upgrade", "websocket")
		refuse(w, r, http.StatusUpgradeRequired, "WebSocket is not served here")
		return
	}
	if !strings.Contains(strings.ToLower(r.Header.Get("Accept")), "text/event-stream") {
		refuse(w, r, http.StatusNotAcceptable, "Accept must hold text/event-stream")
		return
	}
	c := h.find(w, r)
	if c == nil {
		return
	}
	if !skipBody(w, r) {
		refuse(w, r, http.StatusBadRequest, "GET takes no body")
		return
	}
	session := r.Header.Get(sessionHeader)
	// A client whose reader pauses reads nothing, so it gets as much time as a client without event
	// streams.
	me := newReceiver(w, h.idle, c.progressed)
	defer me.close()
	e, status := c.attach(session, r.Header.Get(resumeHeader), me)
	if status != 0 {
		if status == http.StatusTooManyRequests {
			h.refused(status, errManyStreams)
		}
		webguard.Refuse(w, r, status)
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
	if me.write(c.greeting(e), nil) != nil || h.send(c, e, me, r) != nil {
		panic(http.ErrAbortHandler) // a return would be a clean end
	}
}

// skipBody reads the body of a GET, which net/http would otherwise read before it sends anything.
// It reports whether the body was short and arrived in time.
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

// send writes events until either end closes the event stream. The error is that of writing.
func (h *Handler) send(c *Conn, e *events, me *receiver, r *http.Request) error {
	idle := time.NewTicker(keepAlive)
	defer idle.Stop()
	epoch := ""
	if h.opts.Resume {
		epoch = e.epoch
	}
	for {
		next, ok := c.batch(e, me)
		if !ok {
			return nil
		}
		if len(next) > 0 {
			if err := me.writeEvents(next, epoch); err != nil {
				return err
			}
			c.markSent(e, me, len(next))
			continue
		}
		select {
		case <-e.wake:
		case <-me.replaced:
			return nil
		case <-r.Context().Done():
			return nil
		case <-idle.C:
			if err := me.write([]byte(comment), nil); err != nil { // a comment is no progress
				return err
			}
		case <-c.closing:
			if next, _ := c.batch(e, me); len(next) == 0 {
				return c.farewell(me)
			}
		}
	}
}

// farewell ends an event stream with the reason, if the connection was asked to drain.
func (c *Conn) farewell(r *receiver) error {
	select {
	case <-c.drain:
		return r.write([]byte(shutdownComment+"\n\n"), nil)
	default:
		return nil
	}
}

// writeEvents writes several events at once. Only events with an epoch are numbered.
func (r *receiver) writeEvents(all []event, epoch string) error {
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
		b.WriteString("data: ")
		b.Write(ev.data)
		b.WriteString("\n\n")
	}
	return r.write(b.Bytes(), r.progress)
}
