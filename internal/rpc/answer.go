package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/acpkit/go-sdk/internal/validate"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// answer encodes what a handler returned and queues it. Its failure is the
// request's failure: the answer then says -32603.
func (c *Conn) answer(r *request, res any, err error) {
	in := &c.in
	in.mu.Lock()
	cancelled, groupEnded := r.cancelled, r.groupEnded
	in.unregisterLocked(r)
	in.mu.Unlock()

	f := newFrame()
	encode := func() error {
		return c.safely(func() (err error) { f.b, err = c.appendResult(f.b[:0], r, res); return err })
	}
	if err == nil {
		err = encode()
	}
	if err != nil && groupEnded && r.entry != nil && r.entry.Ended != nil {
		c.log.Info("acp: handler of a cancelled turn failed", "method", r.method, errorAttr(err))
		res = r.entry.Ended()
		err = encode()
	}
	if err != nil {
		fault := c.safeFault(r, err, cancelled)
		if c.safely(func() error { f.b = appendFault(f.b[:0], []byte(r.id), fault); return nil }) != nil {
			f.b = appendFault(f.b[:0], []byte(r.id), fault.WithData(nil))
		}
	}
	size := f.cost()
	sendErr := c.out.reserve(context.Background(), size) // ends with the connection
	if sendErr == nil {
		f.claim = &r.writes
		if sendErr = c.objects.respond(c.lib, f); sendErr != nil {
			c.out.unreserve(size, false)
		}
	}
	if sendErr != nil {
		c.log.Debug("acp: an answer came too late", "method", shown(r.method))
	}
	if r.handshake {
		c.handshakeAnswered(err == nil)
	}
}

// appendResult encodes a successful answer.
func (c *Conn) appendResult(b []byte, r *request, res any) ([]byte, error) {
	b = append(appendAnswer(b, []byte(r.id)), `,"result":`...)
	if r.entry == nil {
		raw, err := encodeRaw(res)
		if err != nil {
			return b, encodingError(r.method+" result", err)
		}
		if raw == nil {
			raw = json.RawMessage("null")
		}
		return append(append(b, raw...), '}'), nil
	}
	codec := r.entry.Result
	if !codec.Is(res) {
		if res != nil {
			return b, fmt.Errorf("acp: %s: the result is a %T", r.method, res)
		}
		var err error
		if res, err = codec.Decode(emptyObject); err != nil {
			return b, fmt.Errorf("acp: %s: the handler returned no result", r.method)
		}
	}
	if strict := !r.forwards.Load(); !codec.Valid(res, strict) {
		return b, c.invalid(r.method+" result", validate.Struct(res, strict))
	}
	b, err := codec.Append(b, res)
	if err != nil {
		return b, c.unencodable(r.method+" result", err)
	}
	return append(b, '}'), nil
}

// safeFault is fault for errors whose methods may panic, as those of a nil pointer do
// that somebody took for no error.
func (c *Conn) safeFault(r *request, err error, cancelled bool) (e *rpcerr.RequestError) {
	panicked := c.safely(func() error { e = c.fault(r, err, cancelled); return nil })
	if panicked != nil {
		c.log.Error("acp: handling a request", "method", shown(r.method), "returned", fmt.Sprintf("%T", err), errorAttr(panicked))
		e = rpcerr.InternalError(nil)
	}
	return e
}

// fault decides how an error leaves, and logs what the peer must not see.
func (c *Conn) fault(r *request, err error, cancelled bool) *rpcerr.RequestError {
	meant := isMeant(err)
	e := rpcerr.From(err)
	switch {
	case e.Code == rpcerr.CodeRequestCancelled && cancelled && e.Data == nil:
		return cancelledAnswer(r)
	case e.Code == rpcerr.CodeRequestCancelled && !meant && !cancelled:
		// Some other ctx ended: nobody asked for that.
		e = rpcerr.InternalError(nil).WithCause(err)
	}
	logFailure(c.log, err, e, "acp: handling a request", "method", shown(r.method))
	if !meant && e.Code == rpcerr.CodeInternalError && c.cfg.ExposeErrors {
		e = e.WithData(map[string]string{"details": fmt.Sprint(err)})
	}
	return e
}

// appendFault encodes an error answer. Data that cannot be encoded is left out.
func appendFault(b []byte, id []byte, e *rpcerr.RequestError) []byte {
	out := e.ToErrorResponse()
	b = append(appendAnswer(b, id), `,"error":{"code":`...)
	b = fmt.Appendf(b, "%d", out.Code)
	b = append(b, `,"message":`...)
	b = wire.AppendString(b, out.Message)
	if out.Data != nil {
		if raw, err := encodeRaw(out.Data); err == nil && raw != nil {
			b = append(append(b, `,"data":`...), raw...)
		}
	}
	return append(b, "}}"...)
}

// answerOwn queues an answer of the connection itself. It never waits: the reader
// calls it.
func (c *Conn) answerOwn(id []byte, e *rpcerr.RequestError) {
	f := newFrame()
	f.b = appendFault(f.b[:0], id, e)
	f.own = true
	size := f.cost()
	if !c.out.reserveOwn(size) {
		return
	}
	if err := c.objects.respond(c.lib, f); err != nil {
		c.out.unreserve(size, true)
	}
}

var errNoAnswer = errors.New("answer cannot be used")

// answerError is what a call gets whose answer was refused as a whole.
func answerError(k *call, why error) error {
	return fmt.Errorf("acp: %s: %w: %w", k.method, errNoAnswer, why)
}
