package websocket

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/coder/websocket"

	"github.com/acpkit/go-sdk/internal/webguard"
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
	if err := webguard.CheckOrigin(r, o.AllowedOrigins); err != nil {
		http.Error(w, "Forbidden", http.StatusForbidden)
		return nil, fmt.Errorf("websocket: %w", err)
	}
	id, err := webguard.ConnectionID(o.Instance)
	if err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return nil, fmt.Errorf("websocket: %w", err)
	}
	if !webguard.CanHijack(w) {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return nil, fmt.Errorf("websocket: the network connection cannot be taken over from a %T: a middleware that wraps the ResponseWriter needs a method Unwrap, and http.TimeoutHandler cannot be used", w)
	}
	hijacker := &captureHijacker{ResponseWriter: w}
	c := new(Conn)
	w.Header().Set("Acp-Connection-Id", id)
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
