package proxy

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// inputEnd is the error of a direction whose sender has closed its output. err is nil after a clean
// end.
type inputEnd struct {
	of  *end
	err error
}

func (e *inputEnd) Error() string { return "proxy: the " + e.of.name + " has left" }
func (e *inputEnd) Unwrap() error { return e.err }

// pass reads messages from one end and passes them on to the other, until one of them fails. It is
// the only reader of from, so messages keep their order.
func (p *Proxy) pass(from, to *end, handle Handler) error {
	for {
		m, err := from.read()
		if err == nil {
			err = p.passOn(m, from, to, handle)
		} else if long, ok := errors.AsType[*stream.TooLargeError](err); ok {
			err = p.tooLarge(long, from, to)
		} else if lost, ok := errors.AsType[*stream.LostError](err); ok {
			err = p.lost(lost, from)
		} else {
			return readError(from, err)
		}
		if err != nil {
			return err
		}
	}
}

// readError returns the error of a direction after a read has failed with err.
func readError(from *end, err error) error {
	if exit, ok := errors.AsType[*stream.ExitError](err); ok && !isEOF(err) {
		return &inputEnd{from, exit}
	}
	if isEOF(err) {
		return &inputEnd{of: from}
	}
	return err
}

func (p *Proxy) passOn(m stream.Message, from, to *end, handle Handler) error {
	switch m.Kind {
	case stream.KindRequest:
		return p.request(m, from, to, handle)
	case stream.KindNotification:
		if m.Method == methodCancel && m.CancelID != nil {
			return p.cancel(m, from, to)
		}
		if handle != nil {
			p.start(&handling{proxy: p, from: from, to: to, m: m}, handle)
			return nil
		}
	case stream.KindResponse, stream.KindErrorResponse:
		return p.response(m, from, to)
	case stream.KindInvalid:
		switch kind := envelope.Parse(m.Data).Kind; {
		case kind == envelope.KindBadResponse:
			return p.response(m, from, to)
		case kind == envelope.KindNotJSON && from.noise != nil:
			return p.skip(m.Data, from)
		}
	}
	return p.refused(to.write(m), m)
}

// skip hands a line that is not one message back to the stream, which may find messages in it.
func (p *Proxy) skip(line []byte, from *end) error {
	return panics.Guard(func() error {
		if from.noise(line) && bytes.Contains(line, []byte(`"jsonrpc"`)) {
			p.log.Warn("proxy: skipped a line that looks like a message", "line", safetext.OneLine(string(line), 200))
		}
		return nil
	})
}

// refused drops a message that the other stream refuses. It returns any other error.
func (p *Proxy) refused(err error, m stream.Message) error {
	if bad, ok := errors.AsType[*stream.MessageError](err); ok {
		p.log.Warn("proxy: dropped a message that the stream refuses", "method", shown(m.Method), "error", bad.Reason)
		return nil
	}
	return err
}

func (p *Proxy) request(m stream.Message, from, to *end, handle Handler) error {
	r := &request{from: from, id: m.ID, session: m.SessionID}
	if handle != nil {
		r.waiting().handling = &handling{proxy: p, from: from, to: to, m: m, request: r}
	}
	err := to.add(m.ID, r)
	if handle == nil && errors.Is(err, errInUse) {
		err = nil // the end that handles the request reports this error
		r = nil
	}
	if err != nil {
		return p.fail(from, m.ID, err)
	}
	if handle != nil {
		p.start(r.handling, handle)
		return nil
	}
	if err := to.write(m); err != nil {
		if r != nil {
			to.take(m.ID)
		}
		return errors.Join(p.fail(from, m.ID, passError(err)), p.refused(err, m))
	}
	return nil
}

// passError returns the error for the sender of a request that could not be passed on.
func passError(err error) error {
	if bad, ok := errors.AsType[*stream.MessageError](err); ok {
		return rpcerr.InternalError(nil).WithDetail("the request cannot be passed on: " + bad.Reason) //errlint:ignore the reason is all of it
	}
	return rpcerr.InternalError(nil).WithDetail("the request could not be passed on").WithCause(err)
}

// response passes on a response.
func (p *Proxy) response(m stream.Message, from, to *end) error {
	defer from.settling()()
	var r *request
	if m.ID != nil {
		r = from.take(m.ID)
	}
	switch {
	case r == nil && p.isOwn(m.ID):
		return nil // the call was cancelled or its end has left
	case r == nil || r.response == nil:
		return p.returned(to.write(m), to, m)
	}
	r.response <- m
	if r.handling != nil {
		r.handling.await(r.handling.done)
	}
	return nil
}

// returned handles the error of writing a response. If the stream refuses the response, the
// receiver gets an error response in its place, so that it does not wait forever.
func (p *Proxy) returned(err error, to *end, m stream.Message) error {
	if bad, ok := errors.AsType[*stream.MessageError](err); ok && m.ID != nil {
		return p.fail(to, m.ID, rpcerr.InternalError(nil).WithDetail("the response cannot be passed on: "+bad.Reason))
	}
	return p.refused(err, m)
}

// cancel passes a cancel on after the request it cancels, and ends the ctx of the middleware that
// has the request.
func (p *Proxy) cancel(m stream.Message, from, to *end) error {
	if h := p.handlers.find(from, m.CancelID); h != nil {
		return p.refused(h.cancelled(m), m)
	}
	return p.refused(to.write(m), m)
}

// fail responds to a request of e with an error.
func (p *Proxy) fail(e *end, id json.RawMessage, err error) error {
	return p.refused(e.write(errorResponse(id, err)), stream.Message{})
}

// tooLarge handles a message that was too long to read. It fails the request that the message
// belongs to, or drops the message.
func (p *Proxy) tooLarge(long *stream.TooLargeError, from, to *end) error {
	switch {
	case long.HasResult:
		defer from.settling()()
		if r := from.take(long.ID); r != nil {
			return p.respond(r, rpcerr.InternalError(nil).WithDetail("the response is too long"))
		}
	case long.ID != nil && long.Method != "":
		return p.fail(from, long.ID, rpcerr.InvalidRequest(nil).WithDetail("message is too long"))
	}
	p.log.Warn("proxy: dropped a message that is too long", "method", shown(long.Method), "size", long.Size, "limit", long.Limit)
	return nil
}

// lost fails the requests whose responses the stream of an end has lost.
func (p *Proxy) lost(lost *stream.LostError, at *end) error {
	defer at.settling()()
	failed := at.takeAll(func(r *request) bool {
		if lost.ID != nil {
			return idKey(r.id) == idKey(lost.ID)
		}
		return r.session == lost.SessionID
	})
	for _, r := range failed {
		if err := p.respond(r, rpcerr.InternalError(nil).WithDetail("the request was lost").WithCause(lost)); err != nil {
			return err
		}
	}
	return nil
}

// respond answers a request with err because the other end will not respond.
func (p *Proxy) respond(r *request, err error) error {
	switch {
	case r.response != nil:
		r.response <- errorResponse(r.id, err)
	case r.from != nil:
		return p.fail(r.from, r.id, err)
	}
	return nil
}

// errorResponse returns an error response to the request with that id.
func errorResponse(id json.RawMessage, err error) stream.Message {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = append(b, `,"error":`...)
	var said *Error
	if errors.As(err, &said) && said.Raw != nil {
		b = append(b, said.Raw...)
	} else {
		fault, encErr := json.Marshal(rpcerr.From(err))
		if encErr != nil { // the data of err cannot be encoded
			fault, _ = json.Marshal(rpcerr.InternalError(nil))
		}
		b = append(b, fault...)
	}
	return stream.ParseMessage(append(b, '}'))
}

const methodCancel = "$/cancel_request"

// shown returns the name of a method, shortened for a log.
func shown(method string) string {
	return safetext.OneLine(method, 128)
}

// payload returns the result or the error of a response.
func payload(m stream.Message) (result json.RawMessage, err error) {
	e := envelope.Parse(m.Data)
	if e.Kind == envelope.KindResponse {
		return e.Result, nil
	}
	return nil, &Error{Raw: e.Error}
}
