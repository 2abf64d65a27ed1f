package stream

import (
	"fmt"
	"io"
)

// ErrShutdown is the clean end of a connection whose peer shuts down, so that it can be told
// from other clean ends: errors.Is(err, io.EOF) holds as well. Network streams return it, or
// an error for which errors.Is(err, ErrShutdown) holds.
var ErrShutdown error = shutdown{}

type shutdown struct{}

func (shutdown) Error() string        { return "stream: the peer shuts down" }
func (shutdown) Is(target error) bool { return target == io.EOF }

// ServerStats are numbers of a network server. Those of connections and sessions are of the
// moment; all others count since the handler was made.
type ServerStats struct {
	// Connections is how many connections exist. Sessions is how many sessions have an event
	// stream open over streamable HTTP; those of a WebSocket are known to its agent alone.
	Connections, Sessions int64

	// ConnectionsTotal is how many connections there have been, with those that exist.
	ConnectionsTotal int64

	// BytesReceived and BytesSent are the bytes of bodies and events of streamable HTTP, and
	// all bytes of WebSockets.
	BytesReceived, BytesSent int64

	// Refused is how many requests were refused because of their sender, of a limit, or because
	// the server is set up wrongly. The log has the reasons of some.
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
