package streamhttp

import (
	"io"
	"testing"
	"time"
)

// ShortenFlush makes Close wait less than a client does for messages that the server does not take.
func ShortenFlush(t testing.TB) {
	before := flushGrace
	flushGrace = 500 * time.Millisecond
	t.Cleanup(func() { flushGrace = before })
}

// ReadEvents returns the data and the last id of all events.
func ReadEvents(r io.Reader, max int) (all [][]byte, id string, err error) {
	e := newEventReader(r, max)
	for {
		data, err := e.next()
		if err != nil {
			return all, e.id, err
		}
		all = append(all, data)
	}
}

// Routes returns how many requests of the client have no response.
func (c *Conn) Routes() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.routes.pending)
}

// Streams returns how many event streams there are, and how many of them have a receiver.
func (c *Conn) Streams() (all, attached int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.streams), c.attached
}

// Streams returns how many event streams are open.
func (c *Client) Streams() int {
	c.book.mu.Lock()
	defer c.book.mu.Unlock()
	return len(c.book.sources)
}

// Asked returns how many requests of the agent are remembered.
func (c *Conn) Asked() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.routes.asked.recent) + len(c.routes.asked.older)
}

// Buffering returns options with another limit for the bytes that wait in each direction of a
// connection.
func (o HandlerOptions) Buffering(n int64) *HandlerOptions {
	o.buffered = n
	return &o
}

// ConnectionID returns the id of the connection.
func (c *Conn) ConnectionID() string { return c.id }

// ConnectionID returns the id of the connection.
func (c *Client) ConnectionID() string { return c.book.connection() }
