package goerr

import (
	"cmp"
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
	n, ok := inside.As[syscall.Errno](err)
	if !ok {
		return f, false
	}
	f.Kind = cmp.Or(system(n), posix(n))
	switch f.Kind {
	case kind.NotFound:
		f.Word = notFound
	case kind.Timeout:
		f.Word = timeout
	case kind.Validation:
		f.Word = cmp.Or(errnoWords[n], invalidInput)
	default:
		f.Word = ioError
	}
	return f, f.Kind != ""
}

func posix(n syscall.Errno) kind.Kind {
	switch n {
	case syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ENETDOWN,
		syscall.EAGAIN, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOSPC,
		syscall.EDQUOT: // whose text reads like a rate limit
		return kind.ServiceUnavailable
	case syscall.ETIMEDOUT:
		return kind.Timeout
	case syscall.EADDRINUSE, syscall.ENOTEMPTY, syscall.EBUSY:
		return kind.Conflict
	case syscall.EROFS:
		return kind.Forbidden
	case syscall.EISDIR, syscall.ENOTDIR, syscall.EINVAL, syscall.ENAMETOOLONG, syscall.ELOOP, syscall.EFBIG:
		return kind.Validation
	}
	return ""
}
