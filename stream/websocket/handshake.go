package websocket

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/coder/websocket"

	"github.com/acpkit/go-sdk/internal/webguard"
	"github.com/acpkit/go-sdk/stream"
)

// AcceptOptions configure [Accept], which copies them. The zero value selects the
// defaults.
type AcceptOptions struct {
	// MaxMessage is the longest message in bytes that is read; 0 means
	// stream.DefaultMaxMessage. Writing is not limited.
	MaxMessage int

	// AllowedOrigins are the origins whose pages may connect, each as scheme://host or
	// scheme://host:port. Requests without Origin, and those of the same host, are
	// always allowed.
	AllowedOrigins []string

	// Instance identifies this server in the id of the connection: the id is Instance, a dot and a
	// random part. Instance has at most 253 letters, digits, '-', '_' and '.'. If it is invalid,
	// Accept refuses the request with status 500. Empty means no name.
	Instance string
}

// Accept upgrades a request to a WebSocket. If it returns an error, it has already
// written the response.
func Accept(w http.ResponseWriter, r *http.Request, opts *AcceptOptions) (*Conn, error) {
	o := *cmp.Or(opts, new(AcceptOptions))
	if err := webguard.CheckOrigin(r, o.AllowedOrigins, nil); err != nil {
		webguard.Refuse(w, r, http.StatusForbidden)
		return nil, fmt.Errorf("websocket: %w", err)
	}
	id, err := webguard.ConnectionID(o.Instance)
	if err != nil {
		webguard.Refuse(w, r, http.StatusInternalServerError)
		return nil, fmt.Errorf("websocket: %w", err)
	}
	if !webguard.CanHijack(w) {
		webguard.Refuse(w, r, http.StatusInternalServerError)
		return nil, fmt.Errorf("websocket: the network connection cannot be taken over from a %T: a middleware that wraps the ResponseWriter needs a method Unwrap, and http.TimeoutHandler cannot be used", w)
	}
	hijacker := &captureHijacker{ResponseWriter: w}
	c := new(Conn)
	w.Header().Set("Acp-Connection-Id", id)
	webguard.LimitResponse(w, r) // until Hijack, which ends all deadlines
	ws, err := websocket.Accept(hijacker, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // the origin was checked above
		CompressionMode:    websocket.CompressionDisabled,
		OnPingReceived:     c.onPing,
	})
	if err != nil {
		return nil, fmt.Errorf("websocket: accepting: %w", err)
	}
	return start(ws, hijacker.carrier, o.MaxMessage, c), nil
}

// captureHijacker puts a carrier between the WebSocket and its network connection.
type captureHijacker struct {
	http.ResponseWriter

	carrier *carrier
}

func (h *captureHijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if n := rw.Writer.Buffered(); n > 0 {
		return nil, nil, errors.New("the response was not sent")
	}
	h.carrier = newCarrier(conn)
	return carrierConn{conn, h.carrier}, bufio.NewReadWriter(rw.Reader, bufio.NewWriter(h.carrier)), nil
}

// carrierConn is a network connection whose bytes pass through a carrier.
type carrierConn struct {
	net.Conn

	carrier *carrier
}

func (c carrierConn) Read(p []byte) (int, error)  { return c.carrier.Read(p) }
func (c carrierConn) Write(p []byte) (int, error) { return c.carrier.Write(p) }
func (c carrierConn) Close() error                { return c.carrier.Close() }

// DialOptions configure [Dial], which copies them. The zero value selects the defaults.
type DialOptions struct {
	// MaxMessage is as in [AcceptOptions].
	MaxMessage int

	// Header returns the headers of the handshake, such as Authorization. Nil means
	// none. Put credentials here, not into the URL.
	Header func(context.Context) (http.Header, error)

	// Client sends the handshake. Its transport must be able to carry WebSockets, as
	// *http.Transport can. Nil means one of its own. Redirects are not followed.
	Client *http.Client

	// Jar keeps cookies. Nil means that of Client, or one of its own.
	Jar http.CookieJar
}

// Dial connects to a server. The URL has the scheme ws, wss, http or https. ctx is for
// the handshake alone. If the server refuses the connection, the error wraps
// *stream.StatusError.
func Dial(ctx context.Context, address string, opts *DialOptions) (*Conn, error) {
	o := *cmp.Or(opts, new(DialOptions))
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("websocket: the URL cannot be parsed") // it may hold a secret
	}
	if u.User != nil {
		return nil, errors.New("websocket: the URL holds credentials: use DialOptions.Header")
	}
	header := http.Header{}
	if o.Header != nil {
		h, err := o.Header(ctx)
		if err != nil {
			return nil, fmt.Errorf("websocket: making the headers: %w", err)
		}
		if h != nil {
			header = h.Clone()
		}
	}
	header.Set("Accept-Encoding", "identity") // net/http would ask for gzip
	var base http.Client
	if o.Client != nil {
		base = *o.Client
	}
	if base.Transport == nil {
		base.Transport = http.DefaultTransport
	}
	client := webguard.Client(base, o.Jar)
	capture := &captureTransport{base: client.Transport}
	client.Transport = capture
	c := &Conn{client: true}
	ws, resp, err := websocket.Dial(ctx, address, &websocket.DialOptions{
		HTTPClient: client, HTTPHeader: header, CompressionMode: websocket.CompressionDisabled,
		OnPingReceived: c.onPing,
	})
	if err != nil {
		if resp != nil && resp.StatusCode != http.StatusSwitchingProtocols {
			body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
			err = &stream.StatusError{Code: resp.StatusCode, Body: string(body)}
		}
		return nil, fmt.Errorf("websocket: connecting: %w", err)
	}
	return start(ws, capture.carrier, o.MaxMessage, c), nil
}

// captureTransport puts a carrier between the WebSocket and its network connection.
type captureTransport struct {
	base    http.RoundTripper
	carrier *carrier
}

func (t *captureTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if rwc, ok := resp.Body.(io.ReadWriteCloser); ok {
		t.carrier = newCarrier(rwc)
		t.carrier.frames = new(frameHeads)
		resp.Body = t.carrier
	}
	return resp, nil
}
