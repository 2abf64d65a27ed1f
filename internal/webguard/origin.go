// Package webguard holds what the HTTP handlers of the module share: the checks that each
// of them makes before it looks at a request (where a browser comes from, and which host
// it believes to talk to), and how a panic is logged.
package webguard

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// CheckOrigin refuses a request that a page of another site sends. A request without
// Origin does not come from a page and is allowed; one from the host that it is sent
// to is allowed, and so are those that are listed, each as scheme://host or
// scheme://host:port. "null" is refused unless it is listed.
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

// CheckHost refuses a request whose Host header names neither a loopback host nor one
// that is listed: a page of a foreign site can make its own name resolve to an address
// in the user's network. A listed name matches with every port; one with a port matches
// that port alone.
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

// LocalAddressIsLoopback reports whether the request came in at a loopback address of
// this machine, or through a Unix socket. It looks at the address that was listened
// on: the address of the peer proves nothing behind a proxy.
func LocalAddressIsLoopback(r *http.Request) bool {
	switch a := r.Context().Value(http.LocalAddrContextKey).(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return false
}
