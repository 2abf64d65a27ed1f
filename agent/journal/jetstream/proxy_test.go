package jetstream_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A fate is what a proxy does with a published message.
type fate string

const (
	pass    fate = ""
	loseAck fate = "lose" // the server gets it, and the connection ends before the client has the answer
	// Other fates are the answer, which the client gets in place of the server's; the server gets nothing.
	busy fate = `{"error":{"code":400,"err_code":10164,"description":"wrong last sequence"}}`
)

// proxy stands between a client and a server.
type proxy struct {
	listener net.Listener
	server   string

	mu    sync.Mutex
	fates []fate // of the next messages to sessions
}

func newProxy(t *testing.T, server string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	p := &proxy{listener: l, server: strings.TrimPrefix(server, "nats://")}
	go p.serve() // ends with the listener
	return p
}

func (p *proxy) url() string { return "nats://" + p.listener.Addr().String() }

func (p *proxy) next(fates ...fate) { p.mu.Lock(); p.fates = fates; p.mu.Unlock() }

func (p *proxy) fate() (f fate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.fates) > 0 {
		f, p.fates = p.fates[0], p.fates[1:]
	}
	return f
}

func (p *proxy) serve() {
	for {
		down, err := p.listener.Accept()
		if err != nil {
			return
		}
		up, err := net.Dial("tcp", p.server)
		if err != nil {
			_ = down.Close()
			continue
		}
		c := &proxied{proxy: p, down: down, up: up}
		go c.fromServer() // ends with the connection
		go c.fromClient() // ends with the connection
	}
}

// proxied is one connection.
type proxied struct {
	*proxy
	down, up net.Conn
	mu       sync.Mutex
	sid      string // of the inbox of the client
	losing   bool   // the next bytes of the server do not arrive
}

func (c *proxied) fromServer() {
	defer c.down.Close()
	defer c.up.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := c.up.Read(buf)
		if err != nil {
			return
		}
		c.mu.Lock()
		if c.losing && bytes.Contains(buf[:n], []byte(`_sessions"`)) {
			c.mu.Unlock()
			return
		}
		if !c.losing {
			_, err = c.down.Write(buf[:n])
		}
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (c *proxied) fromClient() {
	defer c.up.Close()
	in := bufio.NewReader(c.down)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		words := strings.Fields(line)
		text := []byte(line)
		var f fate
		switch words[0] {
		case "PUB", "HPUB":
			size, _ := strconv.Atoi(words[len(words)-1])
			body := make([]byte, size+2)
			if _, err := io.ReadFull(in, body); err != nil {
				return
			}
			text = append(text, body...)
			if strings.Contains(words[1], ".session.") {
				f = c.fate()
			}
		case "SUB":
			if strings.HasPrefix(words[1], "_INBOX.") && strings.HasSuffix(words[1], ".*") {
				c.sid = words[len(words)-1]
			}
		}
		c.mu.Lock()
		switch f {
		case pass:
			_, err = c.up.Write(text)
		case loseAck:
			c.losing = true
			_, err = c.up.Write(text)
		default:
			_, err = fmt.Fprintf(c.down, "MSG %s %s %d\r\n%s\r\n", words[2], c.sid, len(f), f)
		}
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}
