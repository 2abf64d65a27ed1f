package streamhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/stream"
)

const (
	// resumePatience is how long the client tries to continue an event stream after the last
	// byte of it, and retryAtLeast after it has found out that it is interrupted.
	resumePatience = 60 * time.Second
	retryAtLeast   = 25 * time.Second
	// openPatience is how long the client opens an event stream again that is cut before its
	// headers, or whose cut the server has not noticed yet.
	openPatience = 5 * time.Second
	// Bytes that arrive within greetingTime after the headers may be only the greeting of the event
	// stream. They do not prove that events arrive.
	greetingTime = time.Second
)

// eventStream is one event stream of a client: that of the connection if session is
// empty.
type eventStream struct {
	session string
	ready   chan struct{} // closed when the headers have arrived, or err is set
	err     error         // why it could not be opened
	done    chan struct{} // closed when it has ended
	last    atomic.Int64  // when an event arrived, in nanoseconds since 1970
	events  atomic.Int64  // how many have arrived
	life    context.Context
	cancel  context.CancelFunc
	closed  bool // the session was closed or deleted; the mutex of the client guards it

	// The fields below are used only by the goroutine that reads the event stream.
	heard time.Time // when something arrived
	until time.Time // when it gives up; zero while events can arrive
}

// stream returns the event stream of a session and opens it if it is not open.
func (c *Client) stream(session string) *eventStream {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.streams[session]
	if s == nil {
		s = &eventStream{session: session, ready: make(chan struct{}), done: make(chan struct{})}
		s.life, s.cancel = context.WithCancel(c.life)
		c.streams[session] = s
		if c.over {
			s.err = stream.ErrClosed
			close(s.ready)
			close(s.done)
			s.cancel()
			return s
		}
		c.running.Go(func() { c.receive(s) }) // ends with the stream, or with life
	}
	return s
}

// receive reads an event stream until it ends, and continues it where the server allows
// that.
func (c *Client) receive(s *eventStream) {
	err, clean := c.open(s)
	c.mu.Lock()
	ours := c.streams[s.session] == s
	if ours {
		delete(c.streams, s.session) // the next message opens it again
	}
	loading := c.opens(s.session)
	c.mu.Unlock()
	if s.err != nil {
		close(s.ready) // once it is deleted: the response to what is posted now opens it again
	}
	close(s.done)
	s.cancel()
	switch {
	case c.life.Err() != nil, !ours:
	case s.session == "" && clean:
		c.awaitStreams()
		if err != stream.ErrShutdown {
			err = io.EOF
		}
		c.fail(err)
	case s.session == "" || isStatus(err, http.StatusUnauthorized):
		c.fail(err)
	case s.err == nil && !isStatus(err, http.StatusGone, http.StatusForbidden, http.StatusConflict):
		c.lostCalls(s.session, err)
	case s.err == nil || !loading:
		c.report(&stream.LostError{SessionID: s.session, Err: err})
	}
}

// opens reports whether a call in flight makes the session known. The caller holds c.mu.
func (c *Client) opens(session string) bool {
	for _, k := range c.calls {
		if k.session == session && effectOf(k.method) == opens {
			return true
		}
	}
	return false
}

// settle is called after a response was delivered. If no other call of the session waits, it ends
// the event stream of a session that is closed or could not be opened.
func (c *Client) settle(k call, success bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, does := c.streams[k.session], effectOf(k.method)
	if s == nil || k.session == "" {
		return
	}
	switch {
	case does == noEffect:
	case success:
		s.closed = does == closes
	case s.events.Load() <= 1: // it has carried this response alone
		s.closed = s.closed || does == opens || k.method == "session/delete"
	}
	if !s.closed {
		return
	}
	for _, other := range c.calls {
		if other.session == k.session {
			return
		}
	}
	delete(c.streams, k.session)
	delete(c.known, k.session)
	s.cancel()
}

// awaitStreams waits for the end of the other event streams, after the server has ended
// that of the connection.
func (c *Client) awaitStreams() {
	grace := time.After(endGrace)
	c.mu.Lock()
	others := slices.Collect(maps.Values(c.streams))
	c.mu.Unlock()
	for _, s := range others {
		select {
		case <-s.done:
		case <-grace:
			return
		case <-c.life.Done():
			return
		}
	}
}

// open opens an event stream and reads it to its end. clean reports that the server has
// ended it; then err is stream.ErrShutdown if the server has said that it shuts down.
func (c *Client) open(s *eventStream) (err error, clean bool) {
	last, opened, began := "", false, time.Now()
	from := "" // the event after which it is to begin
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		ctx, cancel := context.WithCancel(s.life)
		var resp *http.Response
		var got string
		resp, err = c.get(ctx, s, from, last == "")
		if err == nil {
			if !opened {
				opened = true
				c.mu.Lock()
				c.known[s.session] = true
				c.mu.Unlock()
				if s.session == "" {
					c.put(c.initialized) // no event may overtake it
				}
				close(s.ready)
			}
			got, err = c.read(s, resp, cancel)
			if got != "" {
				last, from = got, got
			}
		}
		cancel()
		if err == stream.ErrShutdown {
			return err, true
		}
		clean = err == io.EOF || clean && isStatus(err, http.StatusNotFound)
		if err == io.EOF {
			err = fmt.Errorf("streamhttp: the server has ended an event stream: %w", io.ErrUnexpectedEOF)
		}
		if !opened {
			if time.Since(began)+wait < openPatience && cutOpening(err) && s.life.Err() == nil {
				c.mu.Lock()
				if !c.known[s.session] {
					from = beforeFirst // the server may have sent events that did not arrive
				}
				c.mu.Unlock()
				c.pause(s, wait)
				continue
			}
			s.err = err
			return err, false
		}
		if s.until.IsZero() {
			wait = 50 * time.Millisecond
			s.until = time.Now().Add(max(retryAtLeast, resumePatience-time.Since(s.heard)))
		}
		if last == "" || refused(err) || time.Until(s.until) < wait || s.life.Err() != nil {
			return err, clean
		}
		if !c.pause(s, wait) {
			return err, false
		}
	}
}

// pause waits. It reports whether the event stream is still wanted.
func (c *Client) pause(s *eventStream, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-s.life.Done():
		return false
	}
}

// cutOpening reports whether opening an event stream failed for a reason that may be over soon:
// it was cut, or the server has not noticed yet that the previous one was cut.
func cutOpening(err error) bool {
	_, answered := errors.AsType[*stream.StatusError](err)
	_, unsent := errors.AsType[*notConnected](err)
	return !answered && !unsent || isStatus(err, http.StatusConflict)
}

// refused reports whether the server has said that a stream cannot be opened.
func refused(err error) bool {
	return isStatus(err, 400, 401, 403, 404, 405, 406, 409, 410)
}

// get requests the events after the one with the id from, or those to come if from is "". With
// again, a request that the server does not accept is repeated. The loop that continues an event
// stream has its own limit instead.
func (c *Client) get(ctx context.Context, s *eventStream, from string, again bool) (*http.Response, error) {
	header := []string{"Accept", "text/event-stream"}
	if from != "" {
		header = append(header, resumeHeader, from)
	}
	resp, err := c.insist(again, func() (*http.Response, error) {
		return c.do(ctx, s.limit(getLimit), http.MethodGet, s.session, nil, header...)
	})
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("streamhttp: opening an event stream: %w", refusal(resp))
	}
	return resp, nil
}

// read reads the events of one response. It returns the id of the last one, and io.EOF
// when the server has ended it.
func (c *Client) read(s *eventStream, resp *http.Response, cancel context.CancelFunc) (last string, err error) {
	defer resp.Body.Close()
	s.heard = time.Now()
	var silent atomic.Bool
	watch := time.AfterFunc(s.limit(silentLimit), func() { silent.Store(true); cancel() })
	defer watch.Stop()
	body := &watched{r: resp.Body, s: s, watch: watch, limit: silentLimit, opened: s.heard}
	events := newEventReader(body, c.opts.MaxMessage)
	for {
		watch.Reset(s.limit(silentLimit))
		data, err := events.next()
		watch.Stop() // the wait for the reader does not count
		if long, ok := err.(*stream.TooLargeError); ok {
			_, _ = c.in.Wait(c.life, 1)
			c.answered(string(long.ID))
			c.report(long)
			continue
		}
		switch {
		case err == nil: // it has arrived, even if the time is over now
		case silent.Load():
			c.http.CloseIdleConnections() // they are likely to be dead as well
			return events.id, fmt.Errorf("streamhttp: an event stream was silent for %v", silentLimit)
		case events.shutdown:
			return events.id, stream.ErrShutdown
		case err == io.EOF:
			return events.id, io.EOF
		default:
			return events.id, fmt.Errorf("streamhttp: an event stream was cut: %w", err)
		}
		s.until = time.Time{}
		s.events.Add(1)
		s.last.Store(time.Now().UnixNano())
		_, _ = c.in.Wait(c.life, 1)
		c.deliver(s, data)
	}
}

// limit returns d, or the time until the client gives up if that is shorter.
func (s *eventStream) limit(d time.Duration) time.Duration {
	if s.until.IsZero() {
		return d
	}
	return min(d, time.Until(s.until))
}

// watched resets a timer with each read.
type watched struct {
	r      io.Reader
	s      *eventStream
	watch  *time.Timer
	limit  time.Duration
	opened time.Time
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if n > 0 && err == nil { // bytes that come with an error were held back by net/http
		if w.s.heard = time.Now(); w.s.heard.Sub(w.opened) >= greetingTime {
			w.s.until = time.Time{}
		}
		w.watch.Reset(w.s.limit(w.limit))
	}
	return n, err
}
