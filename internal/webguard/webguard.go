// Package webguard contains what the network transports share: the checks of a request, what a
// handler needs of its server, the log of refusals, and the client of HTTP.
package webguard

import (
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"net/http/cookiejar"
	"strings"
)

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
