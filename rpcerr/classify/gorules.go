package classify

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"database/sql/driver"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"reflect"
	"regexp/syntax"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/validate"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// rule is one row of the table of what Go has: a name for people, and a test.
type rule struct {
	name  string
	match func(error) (kind.Kind, bool)
}

// is returns a row for a value found by errors.Is.
func is(name string, target error, k kind.Kind) rule {
	return rule{name, func(err error) (kind.Kind, bool) { return k, errors.Is(err, target) }}
}

// as is a row for a type found by errors.As.
func as[E error](k kind.Kind) rule {
	return rule{reflect.TypeFor[E]().String(), func(err error) (kind.Kind, bool) {
		_, ok := errors.AsType[E](err)
		return k, ok
	}}
}

// asWhen is a row for some of the values of a type.
func asWhen[E error](k kind.Kind, when func(E) bool) rule {
	return rule{reflect.TypeFor[E]().String(), func(err error) (kind.Kind, bool) {
		e, ok := errors.AsType[E](err)
		return k, ok && when(e)
	}}
}

// goRules are tried from top to bottom. What is more telling stands first: an
// error number of the system before the *url.Error around it.
var goRules = []rule{
	is("context.Canceled", context.Canceled, kind.Cancelled),
	is("acp.ErrTurnCancelled", acp.ErrTurnCancelled, kind.Cancelled),
	is("context.DeadlineExceeded", context.DeadlineExceeded, kind.Timeout),
	{"runtime.Error", func(err error) (kind.Kind, bool) {
		_, ok := errors.AsType[runtime.Error](err) // a nil pointer, an index, a type assertion: always a bug
		return kind.Internal, ok
	}},

	// The connection of the protocol itself.
	as[*acp.InvalidError](kind.Internal), // this program's own values, or the peer's response: not the caller's input
	is("acp.ErrTurnRunning", acp.ErrTurnRunning, kind.Conflict),
	is("acp.ErrHandlerStuck", acp.ErrHandlerStuck, kind.Internal),
	is("acp.ErrClosed", acp.ErrClosed, kind.ServiceUnavailable),
	is("acp.ErrStalled", acp.ErrStalled, kind.ServiceUnavailable),
	is("acp.ErrOverloaded", acp.ErrOverloaded, kind.ServiceUnavailable),
	{"validation", func(err error) (kind.Kind, bool) { return kind.Validation, validate.IsValidation(err) }},

	// Programs. They come before files, because a missing program is both.
	is("exec.ErrNotFound", exec.ErrNotFound, kind.NotFound),
	is("exec.ErrDot", exec.ErrDot, kind.Configuration),
	is("exec.ErrWaitDelay", exec.ErrWaitDelay, kind.Timeout),
	as[*exec.ExitError](kind.Internal), // a tool that runs commands reports their status as output

	// Databases.
	is("sql.ErrNoRows", sql.ErrNoRows, kind.NotFound),
	is("sql.ErrConnDone", sql.ErrConnDone, kind.ServiceUnavailable),
	is("driver.ErrBadConn", driver.ErrBadConn, kind.ServiceUnavailable),
	is("sql.ErrTxDone", sql.ErrTxDone, kind.Database),
	{"SQLSTATE", sqlState},

	// Certificates: waiting does not mend them.
	as[*tls.CertificateVerificationError](kind.Configuration),
	as[x509.UnknownAuthorityError](kind.Configuration),
	as[x509.HostnameError](kind.Configuration),
	as[x509.CertificateInvalidError](kind.Configuration),
	as[tls.RecordHeaderError](kind.Configuration), // the other end does not speak TLS
	as[tls.AlertError](kind.ServiceUnavailable),

	// HTTP.
	is("http.ErrSchemeMismatch", http.ErrSchemeMismatch, kind.Configuration),
	is("http.ErrServerClosed", http.ErrServerClosed, kind.ServiceUnavailable),
	is("http.ErrHandlerTimeout", http.ErrHandlerTimeout, kind.Timeout),
	is("http.ErrMissingFile", http.ErrMissingFile, kind.Validation),
	is("http.ErrNoCookie", http.ErrNoCookie, kind.NotFound),
	as[*http.MaxBytesError](kind.Validation),

	// The system's error numbers, then the names that io/fs gives to groups of them.
	{"syscall.Errno", errno},
	is("fs.ErrNotExist", fs.ErrNotExist, kind.NotFound),
	is("fs.ErrPermission", fs.ErrPermission, kind.Forbidden),
	is("fs.ErrExist", fs.ErrExist, kind.Conflict),
	is("fs.ErrInvalid", fs.ErrInvalid, kind.Validation),
	is("fs.ErrClosed", fs.ErrClosed, kind.Internal),
	asWhen[*fs.PathError](kind.Forbidden, func(e *fs.PathError) bool { return strings.Contains(e.Err.Error(), "path escapes") }), // os.Root has no exported name for it
	is("errors.ErrUnsupported", errors.ErrUnsupported, kind.InvalidRequest),

	// The network. Whatever timed out is a timeout, at any depth.
	{"Timeout() bool", timedOut},
	as[*net.DNSError](kind.ServiceUnavailable),
	is("net.ErrClosed", net.ErrClosed, kind.ServiceUnavailable),
	is("io.ErrClosedPipe", io.ErrClosedPipe, kind.ServiceUnavailable),
	as[*net.ParseError](kind.Validation),
	as[*net.AddrError](kind.Validation),
	as[net.UnknownNetworkError](kind.Validation),
	as[*net.OpError](kind.ServiceUnavailable),

	// Text that does not say what it should. Data of a machine is Serialization,
	// what a person or a model may have typed is Validation.
	as[*json.InvalidUnmarshalError](kind.Internal), // a wrong argument in the program
	as[*json.SyntaxError](kind.Serialization),
	as[*json.UnmarshalTypeError](kind.Serialization),
	{"json: unknown field", unknownMember},
	as[*json.UnsupportedTypeError](kind.Serialization),
	as[*json.UnsupportedValueError](kind.Serialization),
	as[*json.MarshalerError](kind.Serialization),
	as[*xml.SyntaxError](kind.Serialization),
	as[*xml.UnsupportedTypeError](kind.Serialization),
	as[*csv.ParseError](kind.Serialization),
	as[base64.CorruptInputError](kind.Serialization),
	as[hex.InvalidByteError](kind.Serialization),
	is("hex.ErrLength", hex.ErrLength, kind.Serialization),
	is("io.ErrUnexpectedEOF", io.ErrUnexpectedEOF, kind.Serialization),
	is("bufio.ErrTooLong", bufio.ErrTooLong, kind.Validation),
	is("bytes.ErrTooLarge", bytes.ErrTooLarge, kind.Validation),
	as[*strconv.NumError](kind.Validation),
	as[*time.ParseError](kind.Validation),
	as[*syntax.Error](kind.Validation),
	as[url.EscapeError](kind.Validation),
	as[url.InvalidHostError](kind.Validation),
	asWhen[*url.Error](kind.Validation, func(e *url.Error) bool { return e.Op == "parse" }),
	asWhen[*url.Error](kind.Configuration, func(e *url.Error) bool { return refused(e.Err) }),
	as[*url.Error](kind.ServiceUnavailable),
}

// refused reports whether net/http did not try to send a request because of its URL. The
// errors have no exported names.
func refused(err error) bool {
	return err != nil && (strings.HasPrefix(err.Error(), "unsupported protocol scheme") || err.Error() == "http: no Host in request URL")
}

// timedOut looks at every error in the chain, because an outer one often
// knows only its direct child.
func timedOut(err error) (kind.Kind, bool) {
	found := false
	walk(err, func(err error) bool {
		t, ok := err.(interface{ Timeout() bool })
		found = ok && t.Timeout()
		return found
	})
	return kind.Timeout, found
}

// unknownMember finds the error of a json.Decoder that allows no unknown members, which has
// no exported name. Sprint survives an Error method that panics.
func unknownMember(err error) (kind.Kind, bool) {
	found := false
	walk(err, func(err error) bool {
		found = strings.HasPrefix(fmt.Sprint(err), "json: unknown field ")
		return found
	})
	return kind.Serialization, found
}

// errno gives kinds to the error numbers that say more than io/fs does.
func errno(err error) (kind.Kind, bool) {
	n, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		return "", false
	}
	if k, ok := systemErrnos[n]; ok {
		return k, true
	}
	k, ok := errnos[n]
	return k, ok
}

var errnos = map[syscall.Errno]kind.Kind{
	syscall.ECONNREFUSED: kind.ServiceUnavailable,
	syscall.ECONNRESET:   kind.ServiceUnavailable,
	syscall.ECONNABORTED: kind.ServiceUnavailable,
	syscall.EPIPE:        kind.ServiceUnavailable,
	syscall.EHOSTUNREACH: kind.ServiceUnavailable,
	syscall.ENETUNREACH:  kind.ServiceUnavailable,
	syscall.ENETDOWN:     kind.ServiceUnavailable,
	syscall.EAGAIN:       kind.ServiceUnavailable,
	syscall.EMFILE:       kind.ServiceUnavailable,
	syscall.ENFILE:       kind.ServiceUnavailable,
	syscall.ENOMEM:       kind.ServiceUnavailable,
	syscall.ENOSPC:       kind.ServiceUnavailable,
	syscall.EDQUOT:       kind.ServiceUnavailable, // its text reads like a rate limit
	syscall.ETIMEDOUT:    kind.Timeout,
	syscall.EADDRINUSE:   kind.Conflict,
	syscall.ENOTEMPTY:    kind.Conflict,
	syscall.EBUSY:        kind.Conflict,
	syscall.EROFS:        kind.Forbidden,
	syscall.EISDIR:       kind.Validation,
	syscall.ENOTDIR:      kind.Validation,
	syscall.EINVAL:       kind.Validation,
	syscall.ENAMETOOLONG: kind.Validation,
	syscall.ELOOP:        kind.Validation,
	syscall.EFBIG:        kind.Validation,
}

// sqlState reads the five characters that the drivers of several databases
// return, by class and where it matters by value.
func sqlState(err error) (kind.Kind, bool) {
	var driver interface{ SQLState() string }
	if !errors.As(err, &driver) {
		return "", false
	}
	state := driver.SQLState()
	if len(state) != 5 {
		return "", false
	}
	switch state {
	case "23505", "23P01":
		return kind.Conflict, true
	case "42501":
		return kind.Forbidden, true
	case "57014":
		return kind.Timeout, true
	}
	switch state[:2] {
	case "08", "53", "57":
		return kind.ServiceUnavailable, true
	case "22", "23":
		return kind.Validation, true
	case "28":
		return kind.Configuration, true // this program's own login was refused, not the caller's
	case "40", "55":
		return kind.Conflict, true
	}
	return kind.Database, true
}
