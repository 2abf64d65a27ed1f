package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/streamhttp"
	"github.com/acpkit/go-sdk/stream/websocket"
)

// DialOptions configure [Dial], which copies them. The zero value selects the defaults.
type DialOptions struct {
	// Header returns the headers of a request, such as Authorization. It is called for
	// each request. Nil means none.
	Header func(context.Context) (http.Header, error)

	// Client sends the requests. Nil means one of its own.
	Client *http.Client

	// Jar keeps cookies, which load balancers use to find a server again. Give the same
	// one to the next Dial after a loss. Nil means that of Client, or one of its own.
	Jar http.CookieJar

	// MaxMessage is the longest message in bytes that is read; 0 means
	// stream.DefaultMaxMessage.
	MaxMessage int
}

// Dial returns a stream to the agent at a URL: over WebSocket for ws and wss, over
// streamable HTTP for http and https. An address unix:PATH is that of a Unix socket, over which a
// WebSocket is used. ctx is for the handshake of a WebSocket; over HTTP nothing is sent before the
// first message.
func Dial(ctx context.Context, address string, opts *DialOptions) (stream.Stream, error) {
	o := *cmp.Or(opts, new(DialOptions))
	if path, ok := strings.CutPrefix(address, unixScheme); ok {
		address, o.Client = "ws://localhost", overUnix(o.Client, path)
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("remote: the URL cannot be parsed") // the URL may contain a secret
	}
	switch u.Scheme {
	case "ws", "wss":
		conn, err := websocket.Dial(ctx, address, &websocket.DialOptions{
			MaxMessage: o.MaxMessage, Header: o.Header, Client: o.Client, Jar: o.Jar,
		})
		if err != nil {
			return nil, err
		}
		return conn, nil
	case "http", "https":
		conn, err := streamhttp.Dial(address, &streamhttp.DialOptions{
			Header: o.Header, Client: o.Client, Jar: o.Jar, MaxMessage: o.MaxMessage,
		})
		if err != nil {
			return nil, err
		}
		return conn, nil
	}
	return nil, fmt.Errorf("remote: the URL %q must begin with one of the schemes unix, ws, wss, http and https", shown(address))
}

// shown returns what may be shown of a URL: not its credentials, nor its query, which may hold a secret.
func shown(address string) string {
	address, _, _ = strings.Cut(address, "?")
	address, _, _ = strings.Cut(address, "#")
	return address[strings.LastIndexByte(address, '@')+1:]
}

// overUnix returns a copy of a client that connects to a Unix socket.
func overUnix(base *http.Client, path string) *http.Client {
	c := *cmp.Or(base, new(http.Client))
	c.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
	return &c
}
