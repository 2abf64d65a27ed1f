package streamhttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/retryafter"
	"github.com/acpkit/go-sdk/stream"
)

const (
	retryPatience = 30 * time.Second // how long a message that the server has not accepted is sent again
	retryFirst    = 250 * time.Millisecond
	retryLongest  = 5 * time.Second

	barrierLimit = 30 * time.Second // how often a barrier that is not answered is looked at
)

// ErrNotAccepted is wrapped by the error of a message that the agent has not received: the
// server refused it with status 429 or 503 and a Retry-After header, or could not be reached,
// or DialOptions.Header failed. Package rpcerr/retry repeats the call.
var ErrNotAccepted error = &failure{"streamhttp: the message was not accepted", true}

// failure is an error that tells package rpcerr/classify what it is.
type failure struct {
	text      string
	retryable bool
}

func (f *failure) Error() string                          { return f.text }
func (f *failure) Failure() (kind string, retryable bool) { return "service_unavailable", f.retryable }

const accepted = "application/json, text/event-stream"

// writeMessage accepts the message and posts it later.
func (c *Client) writeMessage(m stream.Message) error {
	if len(m.Data) == 0 {
		return &stream.MessageError{Reason: "it is empty"}
	}
	m.Data = bytes.Clone(envelope.OneLine(m.Data)) // the caller keeps its own
	m.ID = bytes.Clone(m.ID)
	for {
		t, room, err := c.book.write(m)
		if room == nil {
			c.run(t)
			return err
		}
		<-room // each POST makes room, and Close does
	}
}

// post posts a message and tells the book.
func (c *Client) post(o *outgoing) {
	defer c.book.left()
	if o.m.Method == "initialize" && c.book.connection() == "" {
		c.initialize(o)
		return
	}
	// A request is not posted again, because its caller decides whether to repeat the call.
	resp, err := c.insist(o.m.Kind != stream.KindRequest || o.beside(), func() (*http.Response, error) {
		return c.do(c.book.life, postLimit, http.MethodPost, o.session, o.m.Data, "Content-Type", "application/json", "Accept", accepted)
	})
	switch {
	case err == nil && resp.StatusCode/100 == 2:
		discard(resp)
	case err == nil:
		err = fmt.Errorf("streamhttp: posting: %w", refusal(resp))
	case o.m.Kind != stream.KindRequest || errors.Is(err, ErrNotAccepted):
	case notDialed(err):
		err = fmt.Errorf("%w: %w", ErrNotAccepted, err)
	default:
		err = fmt.Errorf("%w: %w", ErrUncertain, err)
	}
	c.run(c.book.posted(o, err))
	switch {
	case o.probe && gone(err):
		time.AfterFunc(endGrace, func() { c.book.fail(err) }) // it does nothing if the event stream of the connection has ended
	case o.beside() && err == nil:
		c.watch(o)
	}
}

// watch tells the book that a barrier or a probe is not answered.
func (c *Client) watch(o *outgoing) {
	time.AfterFunc(barrierLimit, func() { // it does nothing if the message was answered
		if o.probe {
			c.run(c.book.unanswered(o))
		} else if c.book.expired(o, c.in.Idle()) {
			c.watch(o)
		}
	})
}

// initialize posts the first message. Its response is that of the POST.
func (c *Client) initialize(o *outgoing) {
	ctx, cancel := context.WithCancelCause(c.book.life)
	defer cancel(nil)
	defer time.AfterFunc(postLimit, func() { cancel(errUnanswered) }).Stop() // it holds for the whole response
	resp, err := c.do(ctx, postLimit, http.MethodPost, "", o.m.Data, "Content-Type", "application/json", "Accept", accepted)
	if err != nil {
		c.book.fail(err)
		return
	}
	if resp.StatusCode != http.StatusOK {
		c.book.fail(fmt.Errorf("streamhttp: initializing: %w", refusal(resp)))
		return
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, int64(c.opts.MaxMessage)+1))
	if context.Cause(ctx) == errUnanswered {
		err = errUnanswered
	}
	if err != nil {
		c.book.fail(fmt.Errorf("streamhttp: initializing: %w", err))
		return
	}
	m := stream.ParseMessage(data)
	id := resp.Header.Get(connectionHeader)
	if !m.IsResponse() || !bytes.Equal(m.ID, o.m.ID) || id == "" || len(data) > c.opts.MaxMessage {
		c.book.fail(errors.New("streamhttp: the response to initialize is not one of this protocol"))
		return
	}
	c.run(c.book.initialized(id, m))
}

// insist sends a request. With again it repeats the request for up to 30 s while the server does not
// accept it or cannot be reached. Later messages wait meanwhile.
func (c *Client) insist(again bool, send func() (*http.Response, error)) (*http.Response, error) {
	began := time.Now()
	for wait := retryFirst; ; wait = min(2*wait, retryLongest) {
		resp, err := send()
		after, refused := time.Duration(0), notDialed(err)
		if err == nil {
			after, refused = notAccepted(resp)
		}
		after = max(after, wait)
		if !refused || !again || time.Since(began)+after > retryPatience {
			return resp, err
		}
		if err == nil {
			discard(resp)
		}
		if !pause(c.book.life, after) {
			return nil, stream.ErrClosed
		}
	}
}

// pause waits. It reports whether ctx is not done.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

func isStatus(err error, codes ...int) bool {
	status, ok := errors.AsType[*stream.StatusError](err)
	return ok && slices.Contains(codes, status.Code)
}

// notDialed reports whether a request failed because there was no network connection to send
// it on.
func notDialed(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

// notAccepted reports whether the server has not accepted a message now but may later, and
// after how long. Without Retry-After these statuses do not say so: a proxy also sends 503
// when it has passed the message on.
func notAccepted(resp *http.Response) (after time.Duration, ok bool) {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable {
		return 0, false
	}
	return retryafter.In(resp.Header)
}
