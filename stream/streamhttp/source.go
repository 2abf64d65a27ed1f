package streamhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/internal/envelope"
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
	reopenFirst  = 50 * time.Millisecond // the first pause before that
)

// source is one event stream of a client: that of the connection if session is empty.
type source struct {
	session string
	fresh   bool // no event stream of the session was open before
	life    context.Context
	cancel  context.CancelFunc

	// The book guards these fields.
	open   bool // its headers have arrived
	events int  // how many have arrived
	closed bool // the session was closed or deleted

	// These are used only by the goroutine that reads the event stream.
	heard time.Time // when something arrived
	until time.Time // when it gives up; zero while events can arrive
}

// receive reads an event stream to its end and tells the book.
func (c *Client) receive(s *source) {
	defer c.book.left()
	defer s.cancel()
	err, clean := c.open(s)
	end := err
	if s.session == "" && clean && err != stream.ErrShutdown {
		end = io.EOF
	}
	c.run(c.book.ended(s, end, clean))
	if s.session == "" { // the other event streams may end as well
		select {
		case <-time.After(endGrace):
			c.book.fail(err) // they have not, so messages may be missing
		case <-c.book.life.Done():
		}
	}
}

// open opens an event stream and reads it to its end. clean reports that the server has
// ended it; then err is stream.ErrShutdown if the server has said that it shuts down.
func (c *Client) open(s *source) (err error, clean bool) {
	last, opened, began := "", false, time.Now()
	from := "" // the event after which it is to begin
	for wait := reopenFirst; ; wait = min(2*wait, retryLongest) {
		ctx, cancel := context.WithCancel(s.life)
		var resp *http.Response
		var got string
		resp, err = c.get(ctx, s, from, last == "")
		if err == nil {
			if !opened {
				opened = true
				c.run(c.book.opened(s))
			}
			got, err = c.read(s, resp, cancel)
			if got != "" && got != last {
				last, from, wait = got, got, reopenFirst
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
			if time.Since(began)+wait >= openPatience || !cutOpening(err) || !pause(s.life, wait) {
				return err, false
			}
			if s.fresh {
				from = beforeFirst // the server may have sent events that did not arrive
			}
			continue
		}
		if s.until.IsZero() {
			s.until = time.Now().Add(max(retryAtLeast, resumePatience-time.Since(s.heard)))
		}
		refused := isStatus(err, 400, 401, 403, 404, 405, 406, 409, 410)
		if last == "" || refused || time.Until(s.until) < wait || !pause(s.life, wait) {
			return err, clean
		}
	}
}

// cutOpening reports whether opening an event stream failed for a reason that may be over soon:
// it was cut, or the server has not noticed yet that the previous one was cut.
func cutOpening(err error) bool {
	_, answered := errors.AsType[*stream.StatusError](err)
	_, unsent := errors.AsType[*notConnected](err)
	return !answered && !unsent || isStatus(err, http.StatusConflict)
}

// get requests the events after the one with the id from, or those to come if from is "". With
// again, a request that the server does not accept is repeated. The loop that continues an event
// stream has its own limit instead.
func (c *Client) get(ctx context.Context, s *source, from string, again bool) (*http.Response, error) {
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
func (c *Client) read(s *source, resp *http.Response, cancel context.CancelFunc) (last string, err error) {
	defer resp.Body.Close()
	s.heard = time.Now()
	var silent atomic.Bool
	body := &watched{r: resp.Body, s: s, watch: time.AfterFunc(silentLimit, func() { silent.Store(true); cancel() })}
	defer body.watch.Stop()
	body.events = newEventReader(body, c.opts.MaxMessage)
	for {
		data, err := body.events.next()
		long, _ := err.(*stream.TooLargeError)
		switch {
		case err == nil || long != nil: // it has arrived, even if the time is over now
		case silent.Load():
			c.http.CloseIdleConnections() // they are likely to be dead as well
			return body.events.id, fmt.Errorf("streamhttp: an event stream was silent for %v", silentLimit)
		case body.events.shutdown:
			return body.events.id, stream.ErrShutdown
		case err == io.EOF:
			return body.events.id, io.EOF
		default:
			return body.events.id, fmt.Errorf("streamhttp: an event stream was cut: %w", err)
		}
		s.until = time.Time{}
		_, _ = c.in.Wait(c.book.life, 1)
		if long != nil {
			c.book.skipped(s, long)
			continue
		}
		m, kind := stream.ParseMessage(data), envelope.KindBadRequest
		if m.Kind == stream.KindInvalid {
			kind = envelope.Parse(data).Kind
		}
		if kind == envelope.KindBadRequest || kind == envelope.KindBadResponse { // else it is not JSON
			c.run(c.book.arrived(s, m))
		}
	}
}

// limit returns d, or the time until the client gives up if that is shorter.
func (s *source) limit(d time.Duration) time.Duration {
	if s.until.IsZero() {
		return d
	}
	return min(d, time.Until(s.until))
}

// watched limits the time of each read.
type watched struct {
	r      io.Reader
	s      *source
	watch  *time.Timer
	events *eventReader // it has read all lines before it reads on
}

func (w *watched) Read(p []byte) (int, error) {
	if w.events.alive {
		w.s.until = time.Time{}
	}
	w.watch.Reset(w.s.limit(silentLimit))
	n, err := w.r.Read(p)
	w.watch.Stop()
	if n > 0 && err == nil { // bytes that come with an error were held back by net/http
		w.s.heard = time.Now()
	}
	return n, err
}
