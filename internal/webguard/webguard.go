// Package webguard contains what the network transports share: the checks of a request, what a
// handler needs of its server, the log of refusals, and the client of HTTP.
package webguard

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// CheckOrigin refuses a request from a page of another site. A request without Origin does not come
// from a page and is allowed. A page from the same host is allowed, and so are the listed origins,
// each as scheme://host or scheme://host:port. "null" is refused unless it is listed.
func CheckOrigin(r *http.Request, allowed []string) error {
	origins := r.Header.Values("Origin")
	switch {
	case len(origins) == 0:
		return nil
	case len(origins) > 1:
		return errors.New("more than one Origin header")
	}
	origin := origins[0]
	if slices.ContainsFunc(allowed, func(s string) bool { return strings.EqualFold(s, origin) }) {
		return nil
	}
	if u, err := url.Parse(origin); err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host) {
		return nil
	}
	return fmt.Errorf("origin %.100q is not allowed", origin)
}

// CheckHost refuses a request whose Host header is neither a loopback host nor listed. A page of
// another site can make its own name resolve to an address in the user's network. A listed name
// matches every port; one with a port matches only that port.
func CheckHost(r *http.Request, allowed []string) error {
	name := hostname(r.Host)
	if isLoopbackName(name) {
		return nil
	}
	for _, s := range allowed {
		if strings.EqualFold(s, r.Host) || strings.EqualFold(hostname(s), name) && hostname(s) == strings.Trim(s, "[]") {
			return nil
		}
	}
	return fmt.Errorf("host %.100q is not allowed", r.Host)
}

// hostname returns host without port and brackets.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

func isLoopbackName(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Unmap().IsLoopback()
}

// LocalAddressIsLoopback reports whether the request arrived at a loopback address of this machine,
// or through a Unix socket. It checks the local address, because behind a proxy the address of the
// peer proves nothing.
func LocalAddressIsLoopback(r *http.Request) bool {
	switch a := r.Context().Value(http.LocalAddrContextKey).(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return false
}

// maxInstance is the longest name of an instance in bytes, as that of a host.
const maxInstance = 253

// ConnectionID returns a new id for a connection: the name of the instance and a dot, if there is
// a name, and a random text that cannot be guessed. The error reports a name that cannot be used
// in a header, or in the configuration of a load balancer.
func ConnectionID(instance string) (string, error) {
	if instance == "" {
		return rand.Text(), nil
	}
	bad := func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_.", c))
	}
	if len(instance) > maxInstance || strings.ContainsFunc(instance, bad) {
		return "", errors.New("the name of the instance must have letters, digits, '-', '_' and '.' alone, and at most 253 of them")
	}
	return instance + "." + rand.Text(), nil
}

// Client returns a copy of base that keeps cookies, in jar unless that is nil, and that does not
// follow redirects.
func Client(base http.Client, jar http.CookieJar) *http.Client {
	if jar != nil {
		base.Jar = jar
	}
	if base.Jar == nil {
		base.Jar, _ = cookiejar.New(nil) // never fails
	}
	base.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &base
}

// CanFlush reports whether a response can be sent in parts. Middleware often wraps the
// ResponseWriter of net/http without a method Unwrap, which hides Flush.
func CanFlush(w http.ResponseWriter) bool {
	return supports(w, func(w http.ResponseWriter) bool {
		_, ok := w.(http.Flusher)
		if !ok {
			_, ok = w.(interface{ FlushError() error })
		}
		return ok
	})
}

// CanHijack reports whether a handler can take over the network connection of a request.
func CanHijack(w http.ResponseWriter) bool {
	return supports(w, func(w http.ResponseWriter) bool {
		_, ok := w.(http.Hijacker)
		return ok
	})
}

func supports(w http.ResponseWriter, has func(http.ResponseWriter) bool) bool {
	for {
		if has(w) {
			return true
		}
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return false
		}
		w = wrapper.Unwrap()
	}
}

// refusalTimeout is how long a client may take to send a body that is not wanted.
const refusalTimeout = 10 * time.Second

// LimitBody limits the time in which the body of a request arrives. net/http reads the rest of an
// unread body before it sends the response, without a time limit: a client that announces a body
// and sends none would keep its network connection, even after a refusal. A handler that reads
// the body sets its own deadline.
func LimitBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 { // without a body, net/http already reads the next request, and the deadline would end this one
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(refusalTimeout)) // not every server supports deadlines
	}
}

// refusalLines is how many refusals are logged in each minute, because any peer can cause them.
const refusalLines = 20

// Refusals counts refused requests, and logs them up to a number each minute. The zero value is ready
// to use. It is safe for concurrent use.
type Refusals struct {
	mu     sync.Mutex // guards the fields below
	since  time.Time
	lines  int
	hidden int // refusals that were not logged
	all    int64
}

// Count returns how many refusals there were, with those that were not logged.
func (r *Refusals) Count() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}

// Log counts and logs a refusal. The first line of a minute says how many refusals of the last
// minute were not logged.
func (r *Refusals) Log(log *slog.Logger, level slog.Level, msg string, args ...any) {
	r.mu.Lock()
	r.all++
	if time.Since(r.since) >= time.Minute {
		if r.since, r.lines = time.Now(), 0; r.hidden > 0 {
			args = append(args, "not_logged_before", r.hidden)
			r.hidden = 0
		}
	}
	r.lines++
	hide := r.lines > refusalLines
	if hide {
		r.hidden++
	}
	r.mu.Unlock()
	if !hide {
		log.Log(context.Background(), level, msg, args...)
	}
}
