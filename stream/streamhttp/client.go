package streamhttp

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/internal/inbox"
	"github.com/acpkit/go-sdk/internal/webguard"
	"github.com/acpkit/go-sdk/stream"
)

const (
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
	book    *book
	written atomic.Int64
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
	c := &Client{url: address, opts: o, in: inbox.New(readAhead, func(m stream.Message) int { return arrivalCost + len(m.Data) })}
	c.book = newBook(func(m stream.Message, err error) { _ = c.in.Put(m, err) }, c.in.End)
	c.setClient()
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

// run begins what the book says.
func (c *Client) run(t todo) {
	for _, s := range t.open {
		go c.receive(s) // ends with the event stream, or with the connection
	}
	for _, o := range t.post {
		go c.post(o) // ends with the POST, or with the connection
	}
}

// Close ends the connection. It waits up to 2 s until the accepted messages are posted,
// closes the event streams and sends a DELETE. It never fails.
func (c *Client) Close() error {
	if c.book.close() {
		c.in.Close()
		c.flush()
		if c.book.connection() != "" && c.book.life.Err() == nil {
			if resp, err := c.do(c.book.life, deleteTimeout, http.MethodDelete, "", nil); err == nil {
				_ = resp.Body.Close()
			}
		}
		c.book.fail(stream.ErrClosed)
	}
	<-c.book.quiet
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
	return nil
}

// flush waits until what was accepted is posted.
func (c *Client) flush() {
	for grace := time.After(flushGrace); ; {
		busy, changed := c.book.busy()
		if !busy {
			return
		}
		select {
		case <-changed:
		case <-grace:
			return
		}
	}
}
