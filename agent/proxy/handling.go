package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/errs"
	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// handling is one message while middleware handles it.
type handling struct {
	proxy    *Proxy
	from, to *end
	m        stream.Message
	request  *request // nil for a notification

	end       context.CancelFunc // ends the handler's ctx
	passed    chan struct{}      // closed when the message was passed on
	done      chan struct{}      // closed when the handler has returned and the response was written
	released  chan struct{}      // closed when later messages no longer wait for this one
	passOnce  sync.Once
	freedOnce sync.Once

	mu        sync.Mutex      // guards the fields below; held while the request is written
	over      bool            // the sender has cancelled the request
	hop       json.RawMessage // the id of the request at the other end; nil before it was passed on
	responded bool            // the other end has responded

	// The fields below are used only by the goroutine of the handler.
	attempts int
	response stream.Message // the last response of the other end
}

type handlingKey struct{}

// Release lets messages that were read after the handled message continue without waiting
// for it. ctx must be the ctx of a [Handler] or one derived from it. A middleware must call
// Release before it waits for anything other than the next handler; otherwise the wait may
// be a deadlock.
func Release(ctx context.Context) {
	if h, ok := ctx.Value(handlingKey{}).(*handling); ok {
		h.freedOnce.Do(func() { close(h.released) })
	}
}

// start runs the middleware for a message. It returns when later messages may continue.
func (p *Proxy) start(h *handling, handle Handler) {
	h.passed, h.done, h.released = make(chan struct{}), make(chan struct{}), make(chan struct{})
	ctx := context.WithValue(p.life, handlingKey{}, h)
	ctx, h.end = context.WithCancel(ctx)
	p.handlers.add(h)
	go p.handle(ctx, h, handle) // ends with the handler
	if h.request != nil {
		h.await(h.passed)
	} else {
		h.await(h.done)
	}
}

// await waits for step, or until later messages no longer wait for this one.
func (h *handling) await(step <-chan struct{}) {
	select {
	case <-step:
	case <-h.done:
	case <-h.released:
	case <-h.proxy.life.Done():
	}
}

// handle runs the middleware and writes the response.
func (p *Proxy) handle(ctx context.Context, h *handling, handle Handler) {
	result, err := json.RawMessage(nil), errExited
	defer func() { // runs even if the handler calls runtime.Goexit
		defer p.handlers.remove(h)
		defer close(h.done)
		defer h.end()
		if v := recover(); v != nil {
			p.log.Error("proxy: panic in a middleware", "method", shown(h.m.Method), "panic", panics.Text(v), "stack", string(debug.Stack()))
			err = errPanicked
		}
		h.finish(ctx, result, err)
	}()
	m := &Message{Method: h.m.Method, Params: envelope.Parse(h.m.Data).Params}
	if h.request != nil {
		m.ID = h.m.ID
	}
	result, err = handle(ctx, m)
}

var (
	errExited   = errors.New("proxy: a middleware ended its goroutine: it must return")
	errPanicked = errors.New("proxy: a middleware panicked")
)

// finish writes the response to the sender.
func (h *handling) finish(ctx context.Context, result json.RawMessage, err error) {
	p := h.proxy
	if h.request != nil && h.attempts == 0 { // the middleware answers without the other end
		h.to.take(h.m.ID)
	}
	var m stream.Message
	if failed := panics.Contained(func() { m = h.outcome(ctx, result, err) }); failed != nil { // err is of a type of the user, whose methods may panic
		m = h.internal(fmt.Errorf("proxy: an error of type %T whose methods fail: %w", err, failed))
	}
	if h.request != nil {
		p.handlers.forget(h) // before the sender can read the response and use the id again
		p.broke(p.returned(h.from.write(m), h.from, m))
	}
}

// outcome returns the response to a request. It logs an error that the response does not contain.
func (h *handling) outcome(ctx context.Context, result json.RawMessage, err error) stream.Message {
	if h.request != nil {
		var m stream.Message
		if m, err = h.responseTo(result, err); err == nil {
			return m
		}
	}
	if err == nil {
		return stream.Message{}
	}
	var said *Error
	if _, meant := rpcerr.CodeOf(err); ctx.Err() == nil && (h.request == nil || !meant && !errors.As(err, &said)) {
		return h.internal(err)
	}
	return errorResponse(h.m.ID, err)
}

// internal logs an error and returns an internal error as the response.
func (h *handling) internal(err error) stream.Message {
	what := "request"
	if h.request == nil {
		what = "notification"
	}
	id := errs.NewErrorID()
	h.proxy.log.Error("proxy: a "+what+" could not be passed on", "method", shown(h.m.Method), "error", errs.LogText(err), "errorId", id)
	return errorResponse(h.m.ID, rpc.InternalError(id))
}

// responseTo returns the response for the middleware's result or error. If the middleware changed
// nothing, this is the response of the other end.
func (h *handling) responseTo(result json.RawMessage, err error) (stream.Message, error) {
	if h.response.Data != nil && idKey(h.response.ID) == idKey(h.m.ID) {
		came, said := payload(h.response)
		var now *Error
		switch {
		case err == nil && said == nil && bytes.Equal(came, result):
			return h.response, nil
		case errors.As(err, &now) && said != nil && bytes.Equal(now.Raw, said.(*Error).Raw):
			return h.response, nil
		}
	}
	if err != nil {
		return stream.Message{}, err
	}
	if result == nil {
		result = json.RawMessage("null")
	}
	if err := wellFormed(result); err != nil {
		return stream.Message{}, fmt.Errorf("proxy: a middleware returned a result that is not JSON: %w", err)
	}
	b := append([]byte(`{"jsonrpc":"2.0","id":`), h.m.ID...)
	b = append(append(append(b, `,"result":`...), result...), '}')
	return stream.ParseMessage(b), nil
}

// next passes a message on. It is the innermost handler.
func (p *Proxy) next(ctx context.Context, m *Message) (json.RawMessage, error) {
	h, ok := ctx.Value(handlingKey{}).(*handling)
	if !ok {
		return nil, errors.New("proxy: a middleware called the next handler with a foreign ctx: pass its own ctx or one derived from it")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if h.request == nil {
		out, err := h.rewritten(m, nil)
		if err == nil {
			err = h.to.write(out)
			p.broke(err)
		}
		return nil, err
	}
	h.attempts++
	r, id := h.request, h.m.ID
	if h.attempts > 1 { // the other end has answered the first attempt
		Release(ctx) // otherwise its second response could not be read
		id = p.ownID()
		r = (&request{from: h.from, id: id, session: h.m.SessionID, handling: h}).waiting()
		if err := h.to.add(id, r); err != nil {
			return nil, err
		}
	}
	out, err := h.rewritten(m, id)
	if err == nil {
		err = h.ask(r, id, out)
	}
	h.passOnce.Do(func() { close(h.passed) })
	if err != nil {
		h.to.take(id)
		return nil, err
	}
	res, ok := <-r.response
	h.answered()
	if !ok {
		return nil, wire.ErrClosed
	}
	h.response = res
	return payload(res)
}

// ask writes the request to the other end, unless it was cancelled or the end takes no more.
func (h *handling) ask(r *request, id json.RawMessage, m stream.Message) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return context.Canceled
	}
	if err := h.proxy.ask(h.to, r, id, m); err != nil {
		return err
	}
	h.hop, h.responded = id, false
	return nil
}

// answered records that the other end has responded.
func (h *handling) answered() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.responded = true
}

// cancelled ends the handler's ctx. It passes the cancel m on if the request was passed on.
func (h *handling) cancelled(m stream.Message) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	h.end()
	switch {
	case h.hop == nil:
		return nil
	case h.responded, bytes.Equal(h.hop, m.CancelID):
		return h.to.write(m)
	}
	return h.to.write(cancelOf(h.hop))
}

// cancelOf returns the message that cancels the request with that id.
func cancelOf(id json.RawMessage) stream.Message {
	return stream.ParseMessage([]byte(`{"jsonrpc":"2.0","method":"` + methodCancel + `","params":{"requestId":` + string(id) + `}}`))
}

// ask writes a request that was added to its end. The caller waits for the response.
func (p *Proxy) ask(to *end, r *request, id json.RawMessage, m stream.Message) error {
	if open, gone := to.holds(id, r); !open { // the end has left since the request was added
		return gone
	}
	err := to.write(m)
	if err == nil {
		return nil
	}
	p.broke(err)
	return passError(err)
}

// broke ends the proxy if err is the error of a broken stream.
func (p *Proxy) broke(err error) {
	if _, ok := errors.AsType[*outputError](err); ok {
		select {
		case p.failed <- err:
		default:
		}
	}
}

// rewritten returns the message as the middleware passes it on. If the middleware changed nothing,
// this is the original message.
func (h *handling) rewritten(m *Message, id json.RawMessage) (stream.Message, error) {
	e := envelope.Parse(h.m.Data)
	if m.Method == h.m.Method && bytes.Equal(m.Params, e.Params) && (m.Params == nil) == (e.Params == nil) && bytes.Equal(id, e.ID) {
		return h.m, nil
	}
	return encode(m.Method, id, m.Params)
}

// encode builds a message. id is nil for a notification.
func encode(method string, id, params json.RawMessage) (stream.Message, error) {
	name, err := json.Marshal(method)
	if err != nil {
		return stream.Message{}, err
	}
	b := []byte(`{"jsonrpc":"2.0"`)
	if id != nil {
		b = append(append(b, `,"id":`...), id...)
	}
	b = append(append(b, `,"method":`...), name...)
	if params != nil {
		if err := wellFormed(params); err != nil {
			return stream.Message{}, fmt.Errorf("proxy: params of %s are not JSON: %w", shown(method), err)
		}
		b = append(append(b, `,"params":`...), params...)
	}
	return stream.ParseMessage(append(b, '}')), nil
}

// wellFormed returns an error unless raw is one JSON value on one line.
func wellFormed(raw json.RawMessage) error {
	end, err := envelope.Skip(raw, envelope.SkipSpace(raw, 0), envelope.MaxDepth-1)
	switch {
	case err != nil:
		return err
	case envelope.SkipSpace(raw, end) != len(raw):
		return errors.New("there is data after the value")
	case bytes.ContainsAny(raw, "\n\r"):
		return errors.New("the value has more than one line")
	}
	return nil
}
