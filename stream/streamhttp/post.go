package streamhttp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/internal/webguard"
	"github.com/acpkit/go-sdk/stream"
)

var (
	errClientGone = errors.New("streamhttp: the client left before it was initialized")
	errIdle       = errors.New("streamhttp: the client has no event stream open")
	errStalled    = errors.New("streamhttp: the client does not take what was sent")
	errUnattended = errors.New("streamhttp: too many sessions have no event stream")
	errNotFirst   = errors.New("streamhttp: nothing may be sent before the response to initialize")
)

func (h *Handler) post(w http.ResponseWriter, r *http.Request) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		refuse(w, r, http.StatusUnsupportedMediaType, "Content-Type must be application/json")
		return
	}
	c := h.lookup(r)
	b := body{in: h.bodies, by: sender{conn: c}}
	if c == nil {
		b.by.owner = h.opts.Owner(r)
	}
	defer b.release()
	data, ok := h.read(w, r, &b)
	if !ok {
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	h.received.Add(int64(len(data)))
	m := stream.ParseMessage(data)
	if m.Kind == stream.KindInvalid && !acceptable(w, r, data) {
		return
	}
	if m.Kind == stream.KindRequest && m.Method == "initialize" {
		b.release() // the queue of the connection counts it
		h.initialize(w, r, m)
		return
	}
	if c == nil {
		refuse(w, r, http.StatusBadRequest, "Missing "+connectionHeader)
		return
	}
	if !c.beginPost() {
		refuse(w, r, http.StatusNotFound, "Unknown "+connectionHeader)
		return
	}
	defer c.endPost()
	awaited, reason := c.admit(&m, r.Header.Get(sessionHeader))
	if reason != "" {
		refuse(w, r, http.StatusBadRequest, reason)
		return
	}
	if !awaited && (b.late || b.isRequest() != nil) {
		c.withdraw(&m)
		h.crowded(w, r)
		return
	}
	// The sender learns that its message was not accepted before it gives up waiting.
	ctx, cancel := context.WithTimeout(r.Context(), stallLimit)
	defer cancel()
	if err := c.in.put(ctx, m, awaited); err == errCrowded || err == context.DeadlineExceeded {
		c.withdraw(&m)
		h.crowded(w, r)
		return
	} else if err != nil {
		c.withdraw(&m)
		refuse(w, r, http.StatusNotFound, "Unknown "+connectionHeader)
		return
	}
	accept(w, r)
}

// acceptable reports whether to pass a body that is not a message to the connection, which answers
// it. Otherwise it refuses the request.
func acceptable(w http.ResponseWriter, r *http.Request, body []byte) bool {
	e := envelope.Parse(body)
	first := strings.TrimLeft(string(body[:min(len(body), 64)]), " \t\r\n\ufeff")
	switch {
	case e.Kind == envelope.KindNotJSON || e.Kind == envelope.KindBlank:
		refuse(w, r, http.StatusBadRequest, "Invalid JSON")
	case strings.HasPrefix(first, "["):
		refuseJSON(w, r, http.StatusNotImplemented, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request: JSON-RPC batches are not supported"}}`)
	case !strings.HasPrefix(first, "{"):
		refuse(w, r, http.StatusBadRequest, "A message is a JSON object")
	default:
		return true
	}
	return false
}

const initializeFailed = `{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"Initialize failed"}}`

func (h *Handler) initialize(w http.ResponseWriter, r *http.Request, m stream.Message) {
	if r.Header.Get(connectionHeader) != "" {
		refuse(w, r, http.StatusBadRequest, "initialize takes no "+connectionHeader)
		return
	}
	if string(m.ID) == "null" {
		refuse(w, r, http.StatusBadRequest, "initialize needs an id")
		return
	}
	id, err := webguard.ConnectionID(h.opts.Instance)
	if err != nil {
		h.refusals.Log(h.log, slog.LevelError, "streamhttp: refused a request: HandlerOptions.Instance cannot be used", "reason", err)
		webguard.Refuse(w, r, http.StatusInternalServerError)
		return
	}
	ctx, done, err := h.opts.Connect(r)
	if err != nil {
		code := http.StatusServiceUnavailable
		if status, ok := errors.AsType[*stream.StatusError](err); ok {
			code = status.Code
		}
		h.refused(code, err)
		w.Header().Set("Retry-After", "1")
		webguard.Refuse(w, r, code)
		return
	}
	c := newConn(h, id, h.opts.Owner(r), m.ID)
	h.mu.Lock()
	h.conns[c.id] = c
	h.total++
	h.mu.Unlock()
	stop := context.AfterFunc(ctx, func() { c.end(context.Cause(ctx)) })
	served := make(chan struct{})
	go func() { // ends when serve returns, which it does when the stream or its ctx ends
		defer h.report()                                              // a panic ends this connection alone, as it would in a handler of net/http
		defer c.afterEnd(func() { defer h.report(); stop(); done() }) // what serve has written is sent
		defer close(served)
		defer func() { _ = c.Close() }()
		_ = h.serve(ctx, c) // serve itself reports its error
	}()
	_ = c.in.put(r.Context(), m, false) // the queue is empty
	select {
	case resp := <-c.first:
		h.initialized(w, r, c, resp)
		return
	case <-c.done:
	case <-served:
	case <-r.Context().Done():
		c.end(errClientGone)
		return
	}
	select {
	case resp := <-c.first: // it was written before the end
		h.initialized(w, r, c, resp)
	default:
		refuseJSON(w, r, http.StatusInternalServerError, initializeFailed)
	}
}

// initialized sends the response to initialize.
func (h *Handler) initialized(w http.ResponseWriter, r *http.Request, c *Conn, resp stream.Message) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set(connectionHeader, c.id)
	webguard.LimitResponse(w, r)
	_, _ = w.Write(resp.Data)
	h.sent.Add(int64(len(resp.Data)))
	if resp.Kind == stream.KindErrorResponse {
		c.end(io.EOF)
	}
	c.endPost()
}

// report logs a panic.
func (h *Handler) report() {
	p := recover()
	if p == nil || p == http.ErrAbortHandler {
		return
	}
	h.log.Error("streamhttp: panic in serve", "panic", panics.Text(p), "stack", string(debug.Stack()))
}

// read reads the body of a request, or answers the request.
func (h *Handler) read(w http.ResponseWriter, r *http.Request, b *body) (data []byte, ok bool) {
	end, ok := b.begin()
	if !ok {
		h.crowded(w, r)
		return nil, false
	}
	defer end()
	limit := bodyTimeout
	if b.late {
		limit = lateTimeout
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(limit)) // not every server has deadlines
	in := http.MaxBytesReader(w, r.Body, int64(h.opts.MaxMessage))
	unknown := b.by.conn == nil && r.Header.Get(connectionHeader) != ""
	var err error
	if !unknown {
		data, err = b.read(in, r.ContentLength)
	}
	full := err == errCrowded
	if unknown || full {
		b.release()
		_, err = io.Copy(io.Discard, in) // many clients read the response only after they have sent the body
	}
	switch {
	case err != nil:
		// The deadline stays, because the server reads the rest before it responds.
		w.Header().Set("Connection", "close")
		code := http.StatusBadRequest
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			code = http.StatusRequestEntityTooLarge
		} else if b.late {
			h.crowded(w, r)
			break
		}
		webguard.Refuse(w, r, code)
	case unknown:
		refuse(w, r, http.StatusNotFound, "Unknown "+connectionHeader)
	case full:
		h.crowded(w, r)
	default:
		return data, true
	}
	return nil, false
}

// crowded refuses a request while its sender has too many under way.
func (h *Handler) crowded(w http.ResponseWriter, r *http.Request) {
	h.refused(http.StatusTooManyRequests, errCrowded)
	w.Header().Set("Retry-After", "1")
	webguard.Refuse(w, r, http.StatusTooManyRequests)
}
