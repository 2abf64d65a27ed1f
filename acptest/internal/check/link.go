package check

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// Kind is how a peer is reached. Kinds combine as bits.
type Kind uint8

// The values of [Kind].
const (
	Memory Kind = 1 << iota // in this program
	Process
	WebSocket
	HTTP

	Bytes   = Memory | Process // peers that read lines, which may hold anything
	Network = WebSocket | HTTP
)

// Has reports whether k has a kind; 0 has all.
func (k Kind) Has(kind Kind) bool { return k == 0 || k&kind != 0 }

// Link carries messages between a check and its peer. Read and Write are called by one goroutine
// each.
type Link interface {
	// Read returns the next message, or the next line, without its end.
	Read() ([]byte, error)
	// Write sends what it gets: bytes with their line ends if the kind of the link is one of
	// [Bytes], else a message.
	Write([]byte) error
	// CloseInput ends what the peer reads.
	CloseInput() error
	// Done is closed when the peer has ended.
	Done() <-chan struct{}
	// Interrupt asks the peer to end, as its user does. It reports false if that is not possible.
	Interrupt() bool
	// Left reports whether processes that the peer has started are left: while it runs, those that
	// have ended and that it has not waited for; when Done is closed, those that still run. It is not
	// known for each kind of link.
	Left() (left, known bool)
	// Last returns what is known of a peer besides its messages.
	Last() Last
	// Close ends the peer and everything that it started, and waits for them.
	Close() error
}

// Last is what the process of a peer has said and done besides its messages.
type Last struct {
	Stderr string // the last lines of its standard error, masked and clean for a terminal
	Exit   string // how it has ended, such as "exit status 1"; empty if it has not
}

// String returns all of it in a sentence, for an error.
func (l Last) String() string {
	return fmt.Sprintf("(%s). The end of its standard error:\n%s", cmp.Or(l.Exit, "it still runs"), cmp.Or(l.Stderr, "(empty)"))
}

// Target is the program that is checked.
type Target struct {
	Kind Kind
	// Open starts the program, or connects to it, for one connection. The sessions of the run work in
	// the folder cwd.
	Open func(ctx context.Context, cwd string) (Link, error)
	// URL is where a peer of the kind [Network] listens, Client sends requests there, and Header
	// returns the headers that show who sends them. Header may be nil.
	URL    string
	Client *http.Client
	Header func(context.Context) (http.Header, error)
	// Drive makes a client send a prompt. Nil means that it does so by itself, or not at all.
	Drive func(ctx context.Context, text string) error
}

// InMemory returns a target that serve runs in this program. Serve must return when its ctx or
// its stream ends.
func InMemory(serve func(context.Context, stream.Stream) error) Target {
	return Target{Kind: Memory, Open: func(ctx context.Context, _ string) (Link, error) {
		in, toPeer := io.Pipe()
		fromPeer, out := io.Pipe()
		ctx, cancel := context.WithCancel(ctx)
		l := &memory{to: toPeer, from: fromPeer, lines: bufio.NewReaderSize(fromPeer, 64<<10), cancel: cancel, done: make(chan struct{})}
		go func() { // ends with the stream, or with ctx
			defer close(l.done)
			s := stream.Lines(in, out, nil)
			l.err = serve(ctx, s)
			_ = s.Close() // serve has closed it if it is right
		}()
		return l, nil
	}}
}

// memory is a [Link] to a peer in this program.
type memory struct {
	to     *io.PipeWriter
	from   *io.PipeReader
	lines  *bufio.Reader
	cancel context.CancelFunc
	done   chan struct{}
	err    error // of serve, once done is closed
}

func (l *memory) Read() ([]byte, error)  { return readLine(l.lines) }
func (l *memory) Write(b []byte) error   { _, err := l.to.Write(b); return err }
func (l *memory) CloseInput() error      { return l.to.Close() }
func (l *memory) Interrupt() bool        { l.cancel(); return true }
func (l *memory) Done() <-chan struct{}  { return l.done }
func (*memory) Left() (left, known bool) { return false, false }
func (*memory) Last() Last               { return Last{} }
func (l *memory) Close() error {
	l.cancel()
	err := errors.Join(l.to.Close(), l.from.Close())
	<-l.done
	return err
}

// readLine returns a line without its line feed. The last one may lack it, but a message that the end of
// its peer has cut off is none.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadBytes('\n')
	if n := len(line); n > 0 && line[n-1] == '\n' {
		return line[:n-1], nil
	}
	if len(line) > 0 && errors.Is(err, io.EOF) && (line[0] != '{' || json.Valid(line)) {
		return line, nil
	}
	return nil, err
}

// Dial returns a target that is reached by URL.
func Dial(url string, opts *remote.DialOptions) Target {
	kind := HTTP
	if strings.HasPrefix(url, "ws") {
		kind = WebSocket
	}
	if opts == nil {
		opts = &remote.DialOptions{}
	}
	return Target{Kind: kind, URL: url, Client: cmp.Or(opts.Client, http.DefaultClient), Header: opts.Header,
		Open: func(ctx context.Context, _ string) (Link, error) {
			w := new(wire)
			o := *opts
			o.Client = watched(opts.Client, w)
			s, err := remote.Dial(ctx, url, &o)
			if err != nil {
				return nil, err
			}
			return &streamLink{s: s, wire: w, done: make(chan struct{})}, nil
		}}
}

// streamLink is a [Link] over a [stream.Stream].
type streamLink struct {
	s    stream.Stream
	wire *wire
	once sync.Once
	done chan struct{}
}

func (l *streamLink) Read() ([]byte, error) {
	msg, err := l.s.Read()
	if err != nil {
		l.once.Do(func() { close(l.done) })
	}
	return msg, err
}
func (l *streamLink) Write(b []byte) error   { return l.s.Write(b) }
func (l *streamLink) CloseInput() error      { return l.s.Close() }
func (l *streamLink) Done() <-chan struct{}  { return l.done }
func (*streamLink) Interrupt() bool          { return false }
func (*streamLink) Left() (left, known bool) { return false, false }
func (*streamLink) Last() Last               { return Last{} }
func (l *streamLink) Close() error           { return l.s.Close() }
func (l *streamLink) seen() *wire            { return l.wire }
