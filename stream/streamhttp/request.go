package streamhttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/stream"
)

// errUnanswered is the error of a request whose response has not begun in time.
var errUnanswered = errors.New("the server does not answer")

// do sends a request and returns its response when the headers have arrived. It fails if neither
// they arrive nor a byte of the body leaves within limit. The caller closes the response.
func (c *Client) do(ctx context.Context, limit time.Duration, method, session string, body []byte, header ...string) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	watch := time.AfterFunc(limit, func() { cancel(errUnanswered) })
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	resp, err := c.send(ctx, &meter{n: &c.written, watch: watch, limit: limit}, method, session, body, header)
	if !watch.Stop() && err == nil {
		_ = resp.Body.Close()
		err = errUnanswered
	}
	if err == nil {
		resp.Body = &responseBody{resp.Body, cancel}
		return resp, nil
	}
	if context.Cause(ctx) == errUnanswered {
		c.http.CloseIdleConnections() // they are likely to be dead as well
		if !errors.Is(err, ErrNotAccepted) {
			err = fmt.Errorf("streamhttp: %s: %w within %v", method, errUnanswered, limit)
		}
	}
	cancel(nil)
	if !connected.Load() {
		err = &notConnected{err}
	}
	return nil, err
}

// notConnected is the error of a request for which there was no network connection.
type notConnected struct{ error }

func (e *notConnected) Unwrap() error { return e.error }

func (c *Client) send(ctx context.Context, m *meter, method, session string, body []byte, header []string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.url, http.NoBody)
	if err != nil {
		return nil, errors.New("streamhttp: the request cannot be made")
	}
	if len(body) > 0 {
		// net/http calls this function to repeat a request that the server has not seen.
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(&metered{bytes.NewReader(body), m}), nil }
		req.Body, _ = req.GetBody()
		req.ContentLength = int64(len(body))
	}
	if c.opts.Header != nil {
		h, err := c.opts.Header(ctx)
		if err != nil {
			return nil, fmt.Errorf("%w: making the headers: %w", ErrNotAccepted, err)
		}
		if h != nil {
			req.Header = h.Clone()
		}
	}
	if id := c.book.connection(); id != "" {
		req.Header.Set(connectionHeader, id)
	}
	if session != "" {
		req.Header.Set(sessionHeader, session)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	if req.Header.Del("Accept-Encoding"); c.own == nil {
		req.Header.Set("Accept-Encoding", "identity") // net/http would ask for gzip
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // the URL is left out: logs see the error
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // io.EOF would be a clean end
		}
		return nil, fmt.Errorf("streamhttp: %s: %w", method, err)
	}
	return resp, nil
}

// meter counts the bytes of a body when they leave, and gives the request more time.
type meter struct {
	n     *atomic.Int64
	watch *time.Timer
	limit time.Duration
}

type metered struct {
	r *bytes.Reader
	m *meter
}

func (b *metered) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if n > 0 && b.m.watch.Stop() {
		b.m.watch.Reset(b.m.limit)
	}
	b.m.n.Add(int64(n))
	return n, err
}

// responseBody ends the ctx of its request.
type responseBody struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
}

func (b *responseBody) Close() error {
	defer b.cancel(nil)
	return b.ReadCloser.Close()
}

// responseRest is how long the rest of a response may take once its status is known.
const responseRest = time.Second

// rest reads the rest of a response and closes it, so that its network connection is used again. It
// waits for responseRest at most.
func rest(resp *http.Response, max int64) []byte {
	if resp.ContentLength == 0 {
		_ = resp.Body.Close()
		return nil
	}
	enough := time.AfterFunc(responseRest, func() { _ = resp.Body.Close() })
	body, _ := io.ReadAll(io.LimitReader(resp.Body, max))
	enough.Stop()
	_ = resp.Body.Close()
	return body
}

func discard(resp *http.Response) { rest(resp, 64<<10) }

// refusal reads the response that refuses something.
func refusal(resp *http.Response) error {
	body := rest(resp, 1<<10)
	var err error = &stream.StatusError{Code: resp.StatusCode, Body: string(body)}
	if _, ok := notAccepted(resp); ok {
		err = fmt.Errorf("%w: %w", ErrNotAccepted, err)
	}
	return err
}
