package check

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// What stands in the command of a client for the path or the URL of its agent, and for the folder in
// which its sessions must work.
const (
	AgentWord = "{agent}"
	URLWord   = "{url}"
	CwdWord   = "{cwd}"
)

// meetingName is the file beside the copy of the launcher that says where the check listens, and the
// secret that it asks for.
const meetingName = "acptest-meeting"

// StartClient returns a target whose client is started by a command, once for each connection. Each
// [AgentWord] in the command becomes the path of a copy of the launcher, a program whose main calls
// [Launched], which the client starts as its agent. The client is started in the folder of the sessions.
func StartClient(c Command, launcher string) Target {
	return Target{Kind: Process, Open: func(ctx context.Context, cwd string) (Link, error) {
		return startClient(ctx, Command{Args: c.Args, Env: c.Env, Dir: cwd}, launcher)
	}}
}

// clientLink is a [Link] to a client that is a child process. It goes over a connection to the copy
// of the launcher that the client has started.
type clientLink struct {
	*processLink
	listener net.Listener
	dir      string
	conn     net.Conn
	lines    *bufio.Reader
}

func startClient(ctx context.Context, c Command, launcher string) (_ Link, err error) {
	l := &clientLink{}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	if l.dir, err = os.MkdirTemp("", "acptest-client-"); err != nil {
		return nil, err
	}
	agent := filepath.Join(l.dir, "agent")
	if runtime.GOOS == "windows" {
		agent += ".exe"
	}
	if err := copyOf(launcher, agent); err != nil {
		return nil, err
	}
	if l.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	secret := rand.Text()
	meeting := l.listener.Addr().String() + "\n" + secret + "\n"
	if err := os.WriteFile(filepath.Join(l.dir, meetingName), []byte(meeting), 0o600); err != nil {
		return nil, err
	}
	if l.processLink, err = startWith(c, AgentWord, agent); err != nil {
		return nil, err
	}
	return l, l.meet(ctx, secret)
}

// startWith starts a client, in whose command a word stands for what leads to the check.
func startWith(c Command, word, way string) (*processLink, error) {
	named := Command{Env: c.Env, Dir: c.Dir}
	words := strings.NewReplacer(word, way, CwdWord, c.Dir)
	for _, arg := range c.Args {
		named.Args = append(named.Args, words.Replace(arg))
	}
	l, err := start(named)
	if err == nil {
		go func() { _, _ = io.Copy(io.Discard, l.out) }() // ends with the standard output of the client
	}
	return l, err
}

// meet waits for the launcher.
func (l *clientLink) meet(ctx context.Context, secret string) error {
	stop := make(chan struct{})
	defer close(stop)
	go func() { // ends with meet
		select {
		case <-stop:
		case <-ctx.Done():
		case <-l.done:
		}
		_ = l.listener.Close()
	}()
	for {
		conn, err := l.listener.Accept()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return fmt.Errorf("the client has not started its agent %v", l.Last())
		}
		_ = conn.SetReadDeadline(time.Now().Add(graceOfEnd))
		lines := bufio.NewReaderSize(conn, 64<<10)
		line, err := readLine(lines)
		if err == nil && subtle.ConstantTimeCompare(line, []byte(secret)) == 1 {
			_ = conn.SetReadDeadline(time.Time{})
			l.conn, l.lines = conn, lines
			return nil
		}
		_ = conn.Close() // a stranger
	}
}

// Read ends the launcher when the client has ended its input, as agents do.
func (l *clientLink) Read() ([]byte, error) {
	line, err := readLine(l.lines)
	if err != nil {
		_ = l.CloseInput()
	}
	return line, err
}

func (l *clientLink) Write(b []byte) error {
	_, err := l.conn.Write(b)
	return err
}

// CloseInput ends the launcher.
func (l *clientLink) CloseInput() error { return l.conn.(*net.TCPConn).CloseWrite() }

func (l *clientLink) Close() error {
	if l.listener != nil {
		_ = l.listener.Close()
	}
	if l.conn != nil {
		_ = l.conn.Close()
	}
	if l.processLink != nil {
		_ = l.processLink.Close()
	}
	return os.RemoveAll(l.dir)
}

// copyOf makes a copy of a program, which shares its space if possible.
func copyOf(program, to string) error {
	if os.Link(program, to) == nil {
		return nil
	}
	b, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o700)
}

// Launched connects a client to the check that has started it, if this program is the copy that the
// client has started as its agent. It reports whether that is so.
func Launched() (bool, error) {
	self, err := os.Executable()
	if err != nil {
		return false, nil
	}
	meeting, err := os.ReadFile(filepath.Join(filepath.Dir(self), meetingName))
	if err != nil {
		return false, nil
	}
	address, secret, _ := strings.Cut(string(meeting), "\n")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return true, err
	}
	if _, err := io.WriteString(conn, secret); err != nil {
		return true, err
	}
	go func() { // ends with the program
		_, _ = io.Copy(conn, os.Stdin)
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	_, err = io.Copy(os.Stdout, conn)
	return true, err
}

// ServeClient returns a target whose client is started by a command, once for each connection, and
// reaches its agent by WebSocket or HTTP: each [URLWord] in the command becomes the URL.
func ServeClient(c Command, kind Kind) Target {
	return Target{Kind: kind, Open: func(ctx context.Context, cwd string) (Link, error) {
		return serveClient(ctx, Command{Args: c.Args, Env: c.Env, Dir: cwd}, kind)
	}}
}

// servedLink is a [Link] to a client that is a child process and has connected to a server of its own.
type servedLink struct {
	*processLink
	s    stream.Stream
	wire *wire
	end  func()
}

func serveClient(ctx context.Context, c Command, kind Kind) (Link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	var known atomic.Bool
	w := new(wire)
	met := make(chan stream.Stream, 1)
	handler := remote.NewHandler(func(ctx context.Context, s stream.Stream) error {
		if known.CompareAndSwap(false, true) { // a second connection finds no agent
			met <- s
			select {
			case <-ctx.Done():
			case <-serving.Done():
			}
		}
		return s.Close()
	}, &remote.Options{Logger: slog.New(slog.DiscardHandler), Resume: true})
	served := make(chan struct{})
	go func() { // ends with serving
		defer close(served)
		_ = handler.Serve(serving, &watchedListener{listener, w})
	}()
	stop := func() { end(); <-served }
	scheme := map[Kind]string{WebSocket: "ws", HTTP: "http"}[kind]
	p, err := startWith(c, URLWord, scheme+"://"+listener.Addr().String()+"/acp")
	if err != nil {
		stop()
		return nil, err
	}
	select {
	case s := <-met:
		return &servedLink{p, s, w, stop}, nil
	case <-ctx.Done():
	case <-p.done:
	}
	stop()
	return nil, errors.Join(fmt.Errorf("the client has not connected %v", p.Last()), p.Close())
}

func (l *servedLink) Read() ([]byte, error) { return l.s.Read() }
func (l *servedLink) Write(b []byte) error  { return l.s.Write(b) }
func (l *servedLink) CloseInput() error     { return l.s.Close() }
func (l *servedLink) seen() *wire           { return l.wire }

func (l *servedLink) Close() error {
	_ = l.s.Close() // it may have ended
	l.end()
	return l.processLink.Close()
}
