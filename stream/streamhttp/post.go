package streamhttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/acpkit/go-sdk/stream"
)

// responsePatience is how long a response waits for a notification that is queued
// after the POST of a request.
const responsePatience = time.Second

// writeMessage accepts the message and posts it later.
func (c *Client) writeMessage(m stream.Message) error {
	if len(m.Data) == 0 {
		return &stream.MessageError{Reason: "it is empty"}
	}
	m.Data = bytes.Clone(m.Data) // the caller keeps its own
	m.ID = bytes.Clone(m.ID)
	for {
		c.mu.Lock()
		room, err := c.acceptLocked(m)
		c.mu.Unlock()
		if room == nil {
			return err
		}
		<-room // each POST makes room, and Close does
	}
}

// acceptLocked takes a message, or returns a channel that is closed when there may be
// room for it.
func (c *Client) acceptLocked(m stream.Message) (room <-chan struct{}, err error) {
	switch {
	case c.closed:
		return nil, stream.ErrClosed
	case c.over:
		return nil, io.ErrClosedPipe
	case !c.begun && m.Method != "initialize":
		return nil, &stream.MessageError{Reason: "the first message must be initialize"}
	case !m.IsResponse() && c.queued > 0 && c.queued+len(m.Data) > outgoingBytes:
		return c.room, nil
	case m.IsResponse() && c.flying > 0 && (c.flying >= maxFlying || c.flown+len(m.Data) > maxBuffered):
		return c.room, nil // the server does not take what it asked for
	}
	c.begun = true
	o := &outgoing{m: m, session: m.SessionID, done: make(chan struct{})}
	if m.IsResponse() {
		o.session = c.asked[string(m.ID)]
		delete(c.asked, string(m.ID))
		after := c.lastNote
		c.flying++
		c.flown += len(m.Data)
		c.running.Go(func() { c.postResponse(o, after) }) // ends with its POST, or with life
		return nil, nil
	}
	if m.Kind == stream.KindRequest {
		c.calls[string(m.ID)] = call{m.Method, m.SessionID}
	} else {
		c.lastNote = o
	}
	c.lane = append(c.lane, o)
	c.queued += len(m.Data)
	if !c.posting {
		c.posting = true
		c.running.Go(c.runLane) // ends when the lane is empty
	}
	return nil, nil
}

// runLane posts requests and notifications, one after the other.
func (c *Client) runLane() {
	for {
		c.mu.Lock()
		if len(c.lane) == 0 || c.over {
			for _, o := range c.lane {
				close(o.done)
			}
			c.lane, c.queued, c.posting = nil, 0, false
			c.makeRoomLocked()
			c.mu.Unlock()
			return
		}
		o := c.lane[0]
		initialize := o.m.Method == "initialize" && c.id == ""
		c.mu.Unlock()
		if initialize {
			c.initialize(o)
		} else {
			c.post(o)
		}
		c.mu.Lock()
		c.lane = c.lane[1:]
		c.queued -= len(o.m.Data)
		if c.lastNote == o {
			c.lastNote = nil
		}
		c.makeRoomLocked()
		c.mu.Unlock()
		close(o.done)
	}
}

// postResponse posts a response when the notifications before it are posted. It does
// not wait for a request, which may itself wait for the response.
func (c *Client) postResponse(o, after *outgoing) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.flying--
		c.flown -= len(o.m.Data)
		c.makeRoomLocked()
	}()
	if after != nil {
		timer := time.NewTicker(responsePatience)
		defer timer.Stop()
	waiting:
		for {
			select {
			case <-after.done:
				break waiting
			case <-c.life.Done():
				return
			case <-timer.C:
				if c.postsRequest() {
					break waiting
				}
			}
		}
	}
	c.post(o)
}

// postsRequest reports whether the POST under way is that of a request.
func (c *Client) postsRequest() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.lane) > 0 && c.lane[0].m.Kind == stream.KindRequest
}

// initialize posts the first message. Its response is that of the POST.
func (c *Client) initialize(o *outgoing) {
	ctx, cancel := context.WithCancelCause(c.life)
	defer cancel(nil)
	defer time.AfterFunc(postLimit, func() { cancel(errUnanswered) }).Stop() // it holds for the whole response
	resp, err := c.do(ctx, postLimit, http.MethodPost, "", o.m.Data, "Content-Type", "application/json", "Accept", accepted)
	if err != nil {
		c.fail(err)
		return
	}
	if resp.StatusCode != http.StatusOK {
		c.fail(fmt.Errorf("streamhttp: initializing: %w", refusal(resp)))
		return
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, int64(c.opts.MaxMessage)+1))
	if context.Cause(ctx) == errUnanswered {
		err = errUnanswered
	}
	if err != nil {
		c.fail(fmt.Errorf("streamhttp: initializing: %w", noEOF(err)))
		return
	}
	m := stream.ParseMessage(data)
	id := resp.Header.Get(connectionHeader)
	if !m.IsResponse() || !bytes.Equal(m.ID, o.m.ID) || id == "" || len(data) > c.opts.MaxMessage {
		c.fail(errors.New("streamhttp: the response to initialize is not one of this protocol"))
		return
	}
	c.mu.Lock()
	delete(c.calls, string(o.m.ID))
	c.id = id
	c.mu.Unlock()
	if m.Kind == stream.KindErrorResponse {
		c.put(m)
		c.fail(io.EOF) // the server has forgotten the connection
		return
	}
	c.initialized = m
	select {
	case <-c.stream("").ready:
	case <-c.life.Done():
	}
}

const accepted = "application/json, text/event-stream"

// post posts a message, after the event stream of its session is open.
func (c *Client) post(o *outgoing) {
	if o.session != "" && !o.m.IsResponse() {
		s := c.stream(o.session)
		select {
		case <-s.ready:
		case <-c.life.Done():
			return
		}
		// Some servers know a session only after it was loaded.
		if s.err != nil && !(effectOf(o.m.Method) == opens && isStatus(s.err, http.StatusForbidden, http.StatusNotFound)) {
			c.lost(o, s.err)
			return
		}
	}
	// A request is not posted again, because its caller decides whether to repeat the call.
	resp, err := c.submit(o.session, o.m.Data, o.m.Kind != stream.KindRequest)
	if err != nil {
		if o.m.Kind == stream.KindRequest {
			c.lost(o, unanswered(err))
			if errors.Is(err, errUnanswered) {
				c.dropRequests()
			}
			return
		}
		c.fail(err)
		return
	}
	if resp.StatusCode/100 == 2 {
		discard(resp)
		return
	}
	err = fmt.Errorf("streamhttp: posting: %w", refusal(resp))
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusNotFound, code == http.StatusGone:
		c.fail(err)
	case code == http.StatusConflict && o.session != "":
		c.report(&stream.LostError{SessionID: o.session, Err: err})
	case o.m.Kind == stream.KindRequest:
		c.lost(o, err)
	default:
		c.fail(err)
	}
}

// dropRequests gives up the requests that wait behind one that the server has not answered. Each of
// them could wait as long again.
func (c *Client) dropRequests() {
	var dropped []*outgoing
	c.mu.Lock()
	kept := c.lane[:1:1]
	for _, o := range c.lane[1:] {
		if o.m.Kind == stream.KindRequest {
			dropped = append(dropped, o)
			c.queued -= len(o.m.Data)
		} else {
			kept = append(kept, o)
		}
	}
	c.lane = kept
	c.mu.Unlock()
	for _, o := range dropped {
		c.lost(o, fmt.Errorf("%w: %w, which the request before it has shown", ErrNotAccepted, errUnanswered))
		close(o.done)
	}
}

// unanswered returns the error of a call whose POST failed: it wraps ErrUncertain if the agent may
// have received the request, else ErrNotAccepted.
func unanswered(err error) error {
	switch {
	case errors.Is(err, ErrNotAccepted):
		return err
	case notDialed(err):
		return fmt.Errorf("%w: %w", ErrNotAccepted, err)
	}
	return fmt.Errorf("%w: %w", ErrUncertain, err)
}

func isStatus(err error, codes ...int) bool {
	status, ok := errors.AsType[*stream.StatusError](err)
	return ok && slices.Contains(codes, status.Code)
}

// lost reports that a request will get no response. A notification needs no report, because the
// report for its session covers it.
func (c *Client) lost(o *outgoing, err error) {
	if o.m.Kind != stream.KindRequest {
		return
	}
	c.mu.Lock()
	_, waits := c.calls[string(o.m.ID)]
	delete(c.calls, string(o.m.ID))
	c.mu.Unlock()
	if waits { // otherwise its response has arrived before the error
		c.report(&stream.LostError{ID: o.m.ID, Err: err})
	}
}

// lostCalls reports that no call of a session will get a response.
func (c *Client) lostCalls(session string, err error) {
	c.mu.Lock()
	var ids []string
	for id, k := range c.calls {
		if k.session == session {
			ids = append(ids, id)
			delete(c.calls, id)
		}
	}
	c.mu.Unlock()
	for _, id := range ids {
		c.report(&stream.LostError{ID: json.RawMessage(id), Err: err})
	}
}

// noEOF turns io.EOF, which means a clean end, into io.ErrUnexpectedEOF.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
