// Package webguard contains what the network transports share: the checks of a request, what a
// handler needs of its server, the log of refusals, and the client of HTTP.
package webguard

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"slices"
	"strings"
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
