package goerr

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"syscall"

	"github.com/acpkit/go-sdk/rpcerr/internal/inside"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// refused reports whether net/http did not try to send a request because of its URL. The
// errors have no exported names.
func refused(err error) bool {
	return err != nil && (strings.HasPrefix(err.Error(), "unsupported protocol scheme") || err.Error() == "http: no Host in request URL")
}

// timedOut looks at every error in the chain, because an outer one often
// knows only its direct child.
func timedOut(err error) bool {
	return inside.Walk(err, func(err error) bool {
		t, ok := err.(interface{ Timeout() bool })
		return ok && t.Timeout()
	})
}

// unknownMember finds the error of a json.Decoder that allows no unknown members, which has
// no exported name. Sprint survives an Error method that panics.
func unknownMember(err error) bool {
	return inside.Walk(err, func(err error) bool { return strings.HasPrefix(fmt.Sprint(err), "json: unknown field ") })
}

// maxBytes finds the error of http.MaxBytesReader by the name of its type.
func maxBytes(err error) bool {
	return inside.Walk(err, func(err error) bool {
		t := reflect.TypeOf(err)
		return t.Kind() == reflect.Pointer && t.Elem().PkgPath() == "net/http" && t.Elem().Name() == "MaxBytesError"
	})
}

// errno gives kinds to the error numbers that say more than io/fs does.
func errno(err error) (f Finding, ok bool) {
	n, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		return f, false
	}
	if f.Kind, ok = systemErrnos[n]; !ok {
		f.Kind, ok = errnos[n]
	}
	switch f.Kind {
	case kind.NotFound:
		f.Word = notFound
	case kind.Timeout:
		f.Word = timeout
	case kind.Validation:
		if f.Word = errnoWords[n]; f.Word == "" {
			f.Word = invalidInput
		}
	default:
		f.Word = ioError
	}
	return f, ok
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
