package kit

import (
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// linked is the target of a URI: lines of a file, or the URI itself if it is not that of a file.
type linked struct {
	path         string
	first, limit uint32 // the first line and the number of lines; both are 0 for all lines
	file         bool
}

// lines matches the line numbers that editors put into fragments: #L10, #L10-20, #L10-L20 and
// #L10:20.
var lines = regexp.MustCompile(`^L(\d{1,9})(?:[-:]L?(\d{1,9}))?$`)

// linkedBy returns the target of a URI. The path of a file is absolute and has no "..", not even an
// encoded one. A path with a drive gets backslashes on every system, because the client may run on
// another system than the agent. A URI of a file on another host is not treated as a file.
func linkedBy(uri string) linked {
	other := linked{path: uri}
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.User != nil || u.Host != "" && !strings.EqualFold(u.Host, "localhost") {
		return other
	}
	p := u.Path // decoded
	switch {
	case p == "" || !utf8.ValidString(p) || strings.IndexByte(p, 0) >= 0:
		return other
	case len(p) > 1 && (p[1] == '/' || p[1] == '\\'): // a share on another host
		return other
	case hasDrive(p):
		p = p[1:3] + strings.ReplaceAll(path.Clean("/"+strings.ReplaceAll(p[3:], `\`, "/")), "/", `\`)
	default:
		p = path.Clean(p)
	}
	l := linked{path: p, file: true}
	if m := lines.FindStringSubmatch(u.Fragment); m != nil {
		first, _ := strconv.Atoi(m[1]) // at most nine digits
		last := first
		if m[2] != "" {
			last, _ = strconv.Atoi(m[2])
		}
		if first > 0 && first <= last {
			l.first, l.limit = uint32(first), uint32(last-first+1)
		}
	}
	return l
}

// hasDrive reports whether the path of a URI begins with a drive, as in /C:/.
func hasDrive(p string) bool {
	letter := len(p) > 2 && (p[1]|0x20 >= 'a' && p[1]|0x20 <= 'z')
	return letter && p[2] == ':' && (len(p) == 3 || p[3] == '/' || p[3] == '\\')
}
