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

// CheckOrigin refuses a request from a page of another site. A request without Origin does not come
// from a page and is allowed. A page of the server itself is allowed, and so are the listed origins,
// each as scheme://host or scheme://host:port. "null" is refused unless it is listed.
//
// An origin is the server's own if its host and port are those of the Host header, and its scheme
// is that of the server: https if the request came over TLS, that of a host which is listed with
// its scheme, and otherwise http or https, because a proxy may have ended TLS.
func CheckOrigin(r *http.Request, origins, hosts []string) error {
	sent := r.Header.Values("Origin")
	switch {
	case len(sent) == 0:
		return nil
	case len(sent) > 1:
		return errors.New("more than one Origin header")
	}
	origin := sent[0]
	if slices.ContainsFunc(origins, func(s string) bool { return strings.EqualFold(s, origin) }) || isOwn(origin, r, hosts) {
		return nil
	}
	return fmt.Errorf("origin %+.100q is not allowed", origin)
}

func isOwn(origin string, r *http.Request, hosts []string) bool {
	u, ok := parseOrigin(origin)
	if !ok || hostPort(u.Host, u.Scheme) != hostPort(r.Host, u.Scheme) || r.TLS != nil && u.Scheme != "https" {
		return false
	}
	for _, s := range hosts {
		known, ok := parseOrigin(s)
		if ok && hostPort(known.Host, known.Scheme) == hostPort(r.Host, known.Scheme) {
			return known.Scheme == u.Scheme
		}
	}
	return true
}

// parseOrigin parses an origin of the web. It has a scheme and a host, perhaps a port, and nothing
// else.
func parseOrigin(s string) (*url.URL, bool) {
	u, err := url.Parse(s)
	return u, err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && strings.EqualFold(s, u.Scheme+"://"+u.Host)
}

// hostPort returns a host in one form, with the port that a scheme has by default.
func hostPort(host, scheme string) string {
	u := url.URL{Host: host}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return strings.ToLower(net.JoinHostPort(u.Hostname(), port))
}

// CheckHost refuses a request whose Host header is neither a loopback host nor listed. A page of
// another site can make its own name resolve to an address in the user's network. A listed name
// matches every port; one with a port, or with a scheme, matches only that port.
func CheckHost(r *http.Request, allowed []string) error {
	name := hostname(r.Host)
	if isLoopbackName(name) {
		return nil
	}
	for _, s := range allowed {
		if u, ok := parseOrigin(s); ok {
			if hostPort(u.Host, u.Scheme) == hostPort(r.Host, u.Scheme) {
				return nil
			}
		} else if strings.EqualFold(s, r.Host) || strings.EqualFold(hostname(s), name) && hostname(s) == strings.Trim(s, "[]") {
			return nil
		}
	}
	return fmt.Errorf("host %+.100q is not allowed", r.Host)
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
