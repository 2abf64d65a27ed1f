package check

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"sync/atomic"
)

// Frames finds the frames of a WebSocket in the bytes that one end sends.
type Frames struct {
	head [14]byte // of the frame, of which n bytes were read
	n    int
	rest uint64 // bytes of the payload that follow
}

// Begin calls begins with the first byte of each frame that begins in b. It may be changed.
func (f *Frames) Begin(b []byte, begins func(first *byte)) {
	for len(b) > 0 {
		if f.rest > 0 {
			k := min(f.rest, uint64(len(b)))
			b, f.rest = b[k:], f.rest-k
			continue
		}
		if f.n == 0 {
			begins(&b[0])
		}
		f.head[f.n] = b[0]
		f.n++
		b = b[1:]
		if f.n < 2 {
			continue
		}
		size, length := 2, uint64(f.head[1]&0x7f)
		switch length {
		case 126:
			size = 4
		case 127:
			size = 10
		}
		mask := 4 * int(f.head[1]>>7)
		if f.n < size+mask {
			continue
		}
		switch size {
		case 4:
			length = uint64(binary.BigEndian.Uint16(f.head[2:]))
		case 10:
			length = binary.BigEndian.Uint64(f.head[2:])
		}
		f.n, f.rest = 0, length
	}
}

// opBinary is the opcode of a binary frame, in the lower half of its first byte.
const opBinary = 2

// wire is what the network shows of a peer besides its messages.
type wire struct {
	binary  atomic.Bool // it has sent a binary frame, which no end reads
	refused atomic.Pointer[refusedPost]
}

// refusedPost is the latest POST with a message that a server has refused.
type refusedPost struct {
	message Message
	session string // of the header
}

func (w *wire) read(f *Frames, b []byte) {
	f.Begin(b, func(first *byte) {
		if *first&0x0f == opBinary {
			w.binary.Store(true)
		}
	})
}

// wired is a [Link] of which the network is seen.
type wired interface{ seen() *wire }

// sentBinary reports whether the peer has sent a binary frame.
func (p *Peer) sentBinary() bool {
	l, ok := p.link.(wired)
	return ok && l.seen().binary.Load()
}

// watchedTransport shows a wire what a server sends.
type watchedTransport struct {
	base http.RoundTripper
	wire *wire
}

// watched returns a copy of a client whose responses a wire sees.
func watched(client *http.Client, w *wire) *http.Client {
	c := *cmp.Or(client, new(http.Client))
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	c.Transport = &watchedTransport{c.Transport, w}
	return &c
}

// RoundTrip implements http.RoundTripper.
func (t *watchedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if r.Method == http.MethodPost && response.StatusCode/100 != 2 && r.GetBody != nil {
		if body, err := r.GetBody(); err == nil {
			raw, _ := io.ReadAll(body) // it is in memory
			t.wire.refused.Store(&refusedPost{Parse(raw), r.Header.Get("Acp-Session-Id")})
		}
	}
	if socket, ok := response.Body.(io.ReadWriteCloser); ok {
		response.Body = &watchedSocket{socket, t.wire, Frames{}}
	}
	return response, nil
}

type watchedSocket struct {
	io.ReadWriteCloser

	wire   *wire
	frames Frames
}

func (s *watchedSocket) Read(p []byte) (int, error) {
	n, err := s.ReadWriteCloser.Read(p)
	s.wire.read(&s.frames, p[:n])
	return n, err
}

// watchedListener shows a wire what the clients send who connect.
type watchedListener struct {
	net.Listener

	wire *wire
}

func (l *watchedListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &watchedConn{Conn: conn, wire: l.wire}, nil
}

// watchedConn is a network connection at which a WebSocket may begin.
type watchedConn struct {
	net.Conn

	wire   *wire
	head   []byte // of the first request
	past   bool   // the head has ended
	frames *Frames
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	b := p[:n]
	if !c.past {
		c.head = append(c.head, b...)
		head, rest, ended := bytes.Cut(c.head, []byte("\r\n\r\n"))
		if !ended {
			return n, err
		}
		if bytes.Contains(bytes.ToLower(head), []byte("\r\nupgrade: websocket")) {
			c.frames = new(Frames)
		}
		b, c.head, c.past = rest, nil, true
	}
	if c.frames != nil {
		c.wire.read(c.frames, b)
	}
	return n, err
}
