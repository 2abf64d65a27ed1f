package stream

import (
	"fmt"
	"io"
)

// ErrShutdown is the error of a clean end because the peer shuts down. It distinguishes this end
// from other clean ends; errors.Is(err, io.EOF) holds as well. Network streams return it, or an
// error for which errors.Is(err, ErrShutdown) holds.
var ErrShutdown error = shutdown{}

type shutdown struct{}

func (shutdown) Error() string        { return "stream: the peer shuts down" }
func (shutdown) Is(target error) bool { return target == io.EOF }

// ServerStats are the counters of a network server. Connections and Sessions are current values;
// all others count from the creation of the handler.
type ServerStats struct {
	// Connections is the number of open connections. Sessions is the number of sessions with an
	// open event stream over streamable HTTP. Sessions of WebSockets are not included, because only
	// the agent knows them.
	Connections, Sessions int64

	// ConnectionsTotal is the number of connections so far, including the open ones.
	ConnectionsTotal int64

	// BytesReceived and BytesSent are the bytes of bodies and events of streamable HTTP, and
	// all bytes of WebSockets.
	BytesReceived, BytesSent int64

	// Refused is the number of requests that were refused because of their sender, because of a
	// limit, or because the server is misconfigured. Some of the reasons are logged.
	Refused int64
}

// StatusError is an HTTP response that refuses a connection, a request or a message.
// Network streams return it, wrapped.
type StatusError struct {
	Code int    // the status, such as 401
	Body string // the beginning of the body
}

// StatusCode returns Code. Package rpcerr/classify determines the kind of the error by it.
func (e *StatusError) StatusCode() int { return e.Code }

func (e *StatusError) Error() string {
	return fmt.Sprintf("stream: the server answered with HTTP status %d", e.Code)
}
