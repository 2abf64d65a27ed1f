package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/stream"
)

// stableVersion is the protocol version for servers that do not respond to the probe for a later
// one. Servers over stdio are not probed, because many never respond to the probe.
const stableVersion = "2025-11-25"

const (
	probeTime = 3 * time.Second // for a server over HTTP to respond to the probe
	grace     = 2 * time.Second // for a process to end by itself, and again after it was told to end
)

// stdio returns the dial function of a server that is a process of this machine.
func stdio(d *acp.MCPServerStdio, cwd string, s *server) func(context.Context, *sdk.Client) (*sdk.ClientSession, func() string, error) {
	env := environment()
	for _, v := range d.Env {
		env = append(env, v.Name+"="+v.Value)
		s.hidden = append(s.hidden, v.Value)
	}
	return func(ctx context.Context, client *sdk.Client) (*sdk.ClientSession, func() string, error) {
		cmd := exec.Command(d.Command, d.Args...)
		cmd.Dir, cmd.Env = cwd, env
		p, err := stream.Command(cmd, &stream.CommandOptions{
			Grace: grace, StderrTail: 4 << 10,
			OnStderr: func(line string) { s.connector.opts.Logger.Debug("mcp", "server", s.name, "stderr", s.hide(line)) },
		})
		if err != nil {
			return nil, nil, err
		}
		session, err := client.Connect(ctx, &transport{p: p}, &sdk.ClientSessionOptions{ProtocolVersion: stableVersion})
		if err != nil {
			_ = p.Close() // err is the error to report
		}
		return session, p.Stderr, err
	}
}

// needed lists the variables that a process gets in addition to those of the client.
var needed = map[bool]string{
	false: " PATH HOME USER LOGNAME SHELL LANG TERM TMPDIR TZ ",
	true:  " PATH PATHEXT SYSTEMROOT SYSTEMDRIVE COMSPEC WINDIR TEMP TMP USERNAME USERPROFILE HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA PROGRAMFILES PROGRAMDATA ",
}[runtime.GOOS == "windows"]

func environment() (env []string) {
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		if name = strings.ToUpper(name); name != "" && (strings.Contains(needed, " "+name+" ") || strings.HasPrefix(name, "LC_")) {
			env = append(env, e)
		}
	}
	return env
}

// transport carries MCP over a process. Close ends the process and its descendants.
type transport struct {
	p  *stream.Process
	mu sync.Mutex // held while a message is written
}

func (t *transport) Connect(context.Context) (sdk.Connection, error) { return t, nil }

// Read ignores ctx. It ends when the process ends, and Close ends the process.
func (t *transport) Read(context.Context) (jsonrpc.Message, error) {
	line, err := t.p.Read()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", sdk.ErrConnectionClosed, err)
	}
	return jsonrpc.DecodeMessage(line)
}

func (t *transport) Write(_ context.Context, m jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.p.Write(line)
}

func (t *transport) Close() error {
	_ = t.p.Close() // how a server ends does not matter
	<-t.p.Done()
	return nil
}

func (t *transport) SessionID() string { return "" }

// remote returns the dial function of a server over HTTP.
func remote(d *acp.MCPServerHTTP, s *server) func(context.Context, *sdk.Client) (*sdk.ClientSession, func() string, error) {
	headers := make(http.Header)
	for _, h := range d.Headers {
		headers.Add(h.Name, h.Value)
		s.hidden = append(s.hidden, h.Value)
	}
	return func(ctx context.Context, client *sdk.Client) (*sdk.ClientSession, func() string, error) {
		origin, err := url.Parse(d.URL)
		if err != nil {
			return nil, nil, errors.New("its URL is invalid")
		}
		connect := func(ctx context.Context, version string) (*sdk.ClientSession, error) {
			return client.Connect(ctx, &sdk.StreamableClientTransport{
				Endpoint: d.URL, HTTPClient: &http.Client{Transport: &bound{origin, headers}},
			}, &sdk.ClientSessionOptions{ProtocolVersion: version})
		}
		probe, cancel := context.WithTimeout(ctx, probeTime)
		session, err := connect(probe, "")
		late := probe.Err() != nil
		cancel()
		if err != nil && late && ctx.Err() == nil {
			session, err = connect(ctx, stableVersion)
		}
		return session, nil, err
	}
}

// bound adds headers to the requests for one origin, because a redirect may lead to another one.
type bound struct {
	origin  *url.URL
	headers http.Header
}

func (b *bound) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme == b.origin.Scheme && req.URL.Host == b.origin.Host {
		req = req.Clone(req.Context())
		for name, values := range b.headers {
			req.Header[name] = values
		}
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err == nil {
		res.Body = &body{ReadCloser: res.Body, events: strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")}
	}
	return res, err
}

const maxBody = 32 << 20 // bytes of a body, or of an event of a stream, as for messages over stdio

// body limits what a server sends.
type body struct {
	io.ReadCloser
	events bool
	size   int  // of the event so far, or of the body
	line   bool // the line has anything
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	for _, c := range p[:n] {
		switch b.size++; {
		case c == '\n' && !b.line && b.events: // a blank line ends an event
			b.size = 0
		case c != '\r':
			b.line = c != '\n'
		}
	}
	if b.size > maxBody {
		return 0, fmt.Errorf("its response is longer than %d MiB", maxBody>>20)
	}
	return n, err
}
