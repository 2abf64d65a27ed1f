package stream

import "fmt"

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
