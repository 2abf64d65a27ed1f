package streamhttp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/internal/inbox"
	"github.com/acpkit/go-sdk/internal/webguard"
	"github.com/acpkit/go-sdk/stream"
)

const (
	outgoingBytes = 1 << 20 // accepted and not posted before a writer waits
	maxFlying     = 1024    // POSTs of responses that are under way before a writer waits
	deleteTimeout = 2 * time.Second
	endGrace      = 5 * time.Second  // how long the other streams may take to end as well
	silentLimit   = 60 * time.Second // servers send a comment every 15 s

	// readAhead is how many bytes are read before the reader asks for them, unless it is one
	// message a stream. arrivalCost is added to the length of each.
	readAhead   = 1 << 20
	arrivalCost = 512

	// getLimit is how long the headers of an event stream may take. A call may wait for them
	// and then for its POST: together less than 90 s.
	getLimit = 25 * time.Second
	// postLimit is how long a POST may take in which no byte of the body leaves: longer than
	// a server of this package lets it wait for room.
	postLimit = stallLimit + 4*time.Second
	// pingAfter is how long a network connection of HTTP/2 is silent before a ping is sent, and
	// how long the answer may take.
	pingAfter = 15 * time.Second
)

// flushGrace is how long Close waits for what was accepted. Tests shorten it.
var flushGrace = 2 * time.Second

// errUnanswered is the error of a request whose response has not begun in time.
var errUnanswered = errors.New("the server does not answer")

// ErrUncertain is wrapped by the error of a request whose POST was interrupted before it
// was accepted. The agent may have processed it, so package rpcerr/retry does not repeat it.
var ErrUncertain error = &failure{"streamhttp: the request may have been processed", false}

// DialOptions configure [Dial], which copies them. The zero value selects the defaults.
type DialOptions struct {
	// Header returns the headers of a request, such as Authorization. It is called for
	// each request. Nil means none. Put credentials here, not into the URL.
	Header func(context.Context) (http.Header, error)

	// Client sends the requests. Nil means one of its own. Its Timeout is not used, and
	// redirects are not followed. If a network goes silent, its idle network connections are
	// closed. Over HTTP/2 one that is in use is replaced only if Transport.HTTP2 sends pings;
	// those of the default Client do, every 15 s of silence.
	Client *http.Client

	// Jar keeps cookies. Nil means that of Client, or one of its own.
	Jar http.CookieJar

	// MaxMessage is the longest message in bytes that is read; 0 means
	// stream.DefaultMaxMessage.
	MaxMessage int
}

// Client is the client's end of a connection, a stream.Stream.
type Client struct {
	url     string
	http    *http.Client
	own     *http.Transport // nil if the caller gave a Client
	opts    DialOptions
	in      *inbox.Inbox[stream.Message]
	life    context.Context // ends with the connection
	cancel  context.CancelFunc
	ending  chan struct{} // closed when reading is about to end
	running sync.WaitGroup
	written atomic.Int64

	initialized stream.Message // the response to initialize, set before the first event stream

	mu       sync.Mutex // guards all below
	id       string     // empty before initialize was answered
	begun    bool       // initialize was written
	closed   bool
	over     bool // reading has ended
	lane     []*outgoing
	posting  bool          // the goroutine that empties lane runs
	flying   int           // POSTs of responses that are under way
	flown    int           // bytes of these responses
	queued   int           // bytes of lane
	room     chan struct{} // closed and replaced when room is made
	lastNote *outgoing     // the last notification
	streams  map[string]*eventStream
	known    map[string]bool // sessions whose event stream was open
	calls    map[string]call
	asked    map[string]string // the server's requests by id, and their sessions
	cancels  map[string]stream.Message
	barriers map[string]chan struct{}
	barrier  int
	holding  sync.WaitGroup // responses that are held back
}

// call is a request of ours that waits for its response.
type call struct{ method, session string }

// outgoing is an accepted message.
type outgoing struct {
	m       stream.Message
	session string
	done    chan struct{} // closed when it was posted or given up
}

// Dial returns a stream to the server at a URL with the scheme http or https. It sends
// nothing: the first message that is written must be initialize.
func Dial(address string, opts *DialOptions) (*Client, error) {
	o := *cmp.Or(opts, new(DialOptions))
	if o.MaxMessage <= 0 {
		o.MaxMessage = stream.DefaultMaxMessage
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("streamhttp: the URL cannot be parsed") // it may hold a secret
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("streamhttp: the scheme of the URL must be http or https")
	case u.User != nil:
		return nil, errors.New("streamhttp: the URL holds credentials: use DialOptions.Header")
	}
	c := &Client{
		url: address, opts: o, in: inbox.New(readAhead, func(m stream.Message) int { return arrivalCost + len(m.Data) }), ending: make(chan struct{}), room: make(chan struct{}),
		streams: map[string]*eventStream{}, known: map[string]bool{}, calls: map[string]call{}, asked: map[string]string{},
		cancels: map[string]stream.Message{}, barriers: map[string]chan struct{}{},
	}
	c.setClient()
	c.life, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

func (c *Client) setClient() {
	client := http.Client{}
	if c.opts.Client != nil {
		client = *c.opts.Client
	} else if base, ok := http.DefaultTransport.(*http.Transport); ok {
		c.own = base.Clone()
		c.own.DisableCompression = true
		if c.own.HTTP2 == nil {
			c.own.HTTP2 = &http.HTTP2Config{SendPingTimeout: pingAfter, PingTimeout: pingAfter}
		}
		client.Transport = c.own
	}
	c.http = webguard.Client(client, c.opts.Jar)
	c.http.Timeout = 0 // event streams last
}

// Read implements stream.Stream.
func (c *Client) Read() ([]byte, error) {
	m, err := c.in.Take()
	return m.Data, err
}

// Write implements stream.Stream.
func (c *Client) Write(msg []byte) error { return c.writeMessage(stream.ParseMessage(msg)) }

// Features returns what the client's end can do. A server takes initialize as the beginning
// of a connection and at no other time.
func (c *Client) Features() *stream.Features {
	return &stream.Features{ReadMessage: c.in.Take, WriteMessage: c.writeMessage, Written: c.written.Load, SingleInitialize: true}
}

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
	c.mu.Lock()
	id := c.id
	c.mu.Unlock()
	if id != "" {
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

// put gives a message to the reader.
func (c *Client) put(m stream.Message) { _ = c.in.Put(m, nil) }

// report gives an error to the reader, after which reading goes on.
func (c *Client) report(err error) { _ = c.in.Put(stream.Message{}, err) }

// fail ends the connection.
func (c *Client) fail(err error) {
	c.mu.Lock()
	over := c.over
	c.over = true
	c.mu.Unlock()
	if over {
		return
	}
	close(c.ending)
	c.running.Go(func() { // ends when no response is held back
		c.holding.Wait()
		c.in.End(err)
		c.cancel()
	})
}

// Close ends the connection. It waits up to 2 s until the accepted messages are posted,
// closes the event streams and sends a DELETE. It never fails.
func (c *Client) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		c.running.Wait()
		return nil
	}
	c.closed = true
	c.in.Close()
	c.makeRoomLocked()
	c.mu.Unlock()
	c.flush()
	c.mu.Lock()
	id, over := c.id, c.over
	c.mu.Unlock()
	if id != "" && !over {
		ctx, cancel := context.WithTimeout(context.Background(), deleteTimeout)
		if resp, err := c.do(ctx, deleteTimeout, http.MethodDelete, "", nil); err == nil {
			_ = resp.Body.Close()
		}
		cancel()
	}
	c.fail(stream.ErrClosed)
	c.cancel()
	c.running.Wait()
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
	return nil
}

// flush waits until what was accepted is posted.
func (c *Client) flush() {
	grace := time.After(flushGrace)
	for {
		c.mu.Lock()
		idle, room := !c.posting && c.flying == 0, c.room
		c.mu.Unlock()
		if idle {
			return
		}
		select {
		case <-room:
		case <-c.life.Done():
			return
		case <-grace:
			return
		}
	}
}

// makeRoomLocked wakes those who wait for lane.
func (c *Client) makeRoomLocked() {
	close(c.room)
	c.room = make(chan struct{})
}
