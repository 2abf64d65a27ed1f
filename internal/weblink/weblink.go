// Package weblink decides which addresses of a peer a person may be asked to open, and how they are shown.
package weblink

import (
	"errors"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

// Link is the address of a web page.
type Link struct {
	URL  string // in ASCII
	Host string // with the port; as it will be reached
}

// The errors of Parse.
var (
	errURL  = errors.New("must be a URL")
	errWeb  = errors.New("must be an http or https URL with a host")
	errHost = errors.New("must name its host in ASCII, an international one as xn--, without a user and an address in the usual form")
)

// Parse returns the link of a text. The system that opens it could run a program or open a file for
// other schemes, so it must be http or https. Its host must be what it looks like: a browser reads a host
// that is not in ASCII, a user before it, or a number in another way than a person does.
func Parse(raw string) (Link, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return Link{}, errURL
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" { // Parse has made it lower case
		return Link{}, errWeb
	}
	if u.User != nil || strings.Contains(raw, `\`) || !isHost(u.Hostname()) {
		return Link{}, errHost
	}
	u.Host = strings.ToLower(u.Host)
	return Link{ascii(u.String()), u.Host}, nil
}

var (
	name   = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\.?$`)
	number = regexp.MustCompile(`(^|\.)(0[xX][0-9A-Fa-f]*|[0-9]+)\.?$`) // a browser reads it as an address
)

func isHost(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Zone() == ""
	}
	return name.MatchString(host) && !number.MatchString(host)
}

// ascii returns a URL with all that is not ASCII encoded.
func ascii(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c > ' ' && c < 0x7f {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + string("0123456789ABCDEF"[c>>4]) + string("0123456789ABCDEF"[c&15]))
		}
	}
	return b.String()
}
