package websocket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/coder/websocket"

	"github.com/acpkit/go-sdk/internal/webguard"
	"github.com/acpkit/go-sdk/stream"
)

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
