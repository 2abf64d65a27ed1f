package mcp

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/acpkit/go-sdk/acp"
)

const probeTime = 3 * time.Second // for a server to respond to the probe

// remote returns the dial function of a server over HTTP.
func remote(d *acp.MCPServerHTTP, s *server, network http.RoundTripper) func(context.Context, *sdk.Client) (*sdk.ClientSession, func() string, error) {
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
				Endpoint: d.URL, HTTPClient: &http.Client{Transport: &bound{network, origin, headers}},
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
	network http.RoundTripper
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
	res, err := b.network.RoundTrip(req)
	if err == nil {
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, maxBody)
		if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
			lines.Split(whole)
		}
		res.Body = &body{Closer: res.Body, lines: lines}
	}
	return res, err
}

const maxBody = 32 << 20 // bytes of a body, or of an event of a stream, as for messages over stdio

// body limits what a server sends, and passes it on by lines of events, or as a whole.
type body struct {
	io.Closer
	lines *bufio.Scanner
	size  int    // of the event so far
	rest  []byte // that was read and is not passed on yet
}

// whole is a bufio.SplitFunc for a body that has no lines.
func whole(data []byte, end bool) (int, []byte, error) {
	if !end || len(data) == 0 {
		return 0, nil, nil
	}
	return len(data), data, nil
}

var errLong = fmt.Errorf("its response is longer than %d MiB", maxBody>>20)

func (b *body) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		if !b.lines.Scan() {
			if errors.Is(b.lines.Err(), bufio.ErrTooLong) {
				return 0, errLong
			}
			return 0, cmp.Or(b.lines.Err(), io.EOF)
		}
		line := b.lines.Bytes()
		if b.size += len(line); b.size > maxBody {
			return 0, errLong
		} else if len(line) == 0 { // it ends an event
			b.size = 0
		}
		b.rest = append(told(line), '\n') // in the place of that which the Scanner has cut off
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

var errPrivate = errors.New("its address is not one of the public network")

// publicNetwork returns a transport that reaches public addresses only. The address is checked when
// it is connected to, so that a name cannot stand for another address by then.
func publicNetwork() *http.Transport {
	dialer := &net.Dialer{Timeout: 30 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		if at, err := netip.ParseAddrPort(address); err != nil || !isPublic(at.Addr()) {
			return errPrivate
		}
		return nil
	}}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil // it would resolve the names
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if errors.Is(err, errPrivate) {
			return nil, errPrivate // without the address that was found
		}
		return conn, err
	}
	return t
}

// notPublic lists what netip does not know: networks for carriers, tests and protocols, and those
// whose addresses contain an address of version 4.
var notPublic = prefixes("0.0.0.0/8 100.64.0.0/10 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4 " +
	"::/96 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20 5f00::/16 fec0::/10")

func prefixes(list string) (all []netip.Prefix) {
	for _, p := range strings.Fields(list) {
		all = append(all, netip.MustParsePrefix(p))
	}
	return all
}

func isPublic(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	own, err := net.InterfaceAddrs()
	return err == nil && a.IsGlobalUnicast() && !a.IsPrivate() &&
		!slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(a) }) &&
		!slices.ContainsFunc(own, func(of net.Addr) bool {
			n, ok := of.(*net.IPNet)
			return ok && n.IP.Equal(a.AsSlice())
		})
}
