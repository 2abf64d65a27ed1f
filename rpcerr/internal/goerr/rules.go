// Package goerr is the table of the errors of the standard library. Each row has a kind for package
// classify, and a code for package toolcode.
package goerr

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
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
	"net/url"
	"os"
	"os/exec"
	"reflect"
	"regexp/syntax"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/errs"
	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/internal/validate"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Finding is the result of a row for an error.
type Finding struct {
	Kind kind.Kind // "" if package classify has no rule for it
	Word string    // the code of package toolcode, "" if that has none
}

// Rule is one row: a name for people, and a test.
type Rule struct {
	Name  string
	Match func(error) (Finding, bool)
}

// Is returns a row for a value found by errors.Is.
func Is(name string, target error, k kind.Kind, word string) Rule {
	return when(name, k, word, func(err error) bool { return errs.Is(err, target) })
}

// As returns a row for a type found by errors.As.
func As[E error](k kind.Kind, word string) Rule {
	return asWhen(k, word, func(E) bool { return true })
}

// asWhen is a row for some of the values of a type.
func asWhen[E error](k kind.Kind, word string, is func(E) bool) Rule {
	return when(reflect.TypeFor[E]().String(), k, word, func(err error) bool {
		e, ok := errs.As[E](err)
		return ok && is(e)
	})
}

func when(name string, k kind.Kind, word string, is func(error) bool) Rule {
	return Rule{name, func(err error) (Finding, bool) { return Finding{k, word}, is(err) }}
}

// First and Then are tried from top to bottom. More specific rows come first: an error number of
// the system before the *url.Error that wraps it. Between the two, package classify inserts the
// rows for packages that a program with package toolcode alone need not link.
var First = []Rule{
	As[*panics.Panic](kind.Internal, ""), // always a bug, whatever its text says
	Is("context.Canceled", context.Canceled, kind.Cancelled, "timeout"),
	Is("acp.ErrTurnCancelled", acp.ErrTurnCancelled, kind.Cancelled, ""),
	Is("context.DeadlineExceeded", context.DeadlineExceeded, kind.Timeout, "timeout"),
	As[runtime.Error](kind.Internal, ""), // a nil pointer, an index, a type assertion: always a bug

	// The connection of the protocol itself.
	As[*acp.InvalidError](kind.Internal, ""), // this program's own values, or the peer's response: not the caller's input
	Is("acp.ErrTurnRunning", acp.ErrTurnRunning, kind.Conflict, ""),
	Is("acp.ErrHandlerStuck", acp.ErrHandlerStuck, kind.Internal, ""),
	Is("acp.ErrClosed", acp.ErrClosed, kind.ServiceUnavailable, ""),
	Is("acp.ErrStalled", acp.ErrStalled, kind.ServiceUnavailable, ""),
	Is("acp.ErrOverloaded", acp.ErrOverloaded, kind.ServiceUnavailable, ""),
	when("validation", kind.Validation, "invalid_input", func(err error) bool { return errs.Walk(err, validate.IsValidation) }),

	// Programs come before files, because the error for a missing program also matches the row for
	// a missing file.
	Is("exec.ErrNotFound", exec.ErrNotFound, kind.NotFound, "io_error"),
	Is("exec.ErrDot", exec.ErrDot, kind.Configuration, "io_error"),
	Is("exec.ErrWaitDelay", exec.ErrWaitDelay, kind.Timeout, "timeout"),
	As[*exec.ExitError](kind.Internal, ""), // a tool that runs commands reports their status as output
}

// Then is the second part of the table.
var Then = []Rule{
	when("*http.MaxBytesError", kind.Validation, "too_large", maxBytes),

	// The system's error numbers, then the names that io/fs gives to groups of them.
	{"syscall.Errno", errno},
	Is("fs.ErrNotExist", fs.ErrNotExist, kind.NotFound, "not_found"),
	Is("fs.ErrPermission", fs.ErrPermission, kind.Forbidden, "io_error"),
	Is("fs.ErrExist", fs.ErrExist, kind.Conflict, "io_error"),
	Is("fs.ErrInvalid", fs.ErrInvalid, kind.Validation, "invalid_input"),
	Is("fs.ErrClosed", fs.ErrClosed, kind.Internal, "io_error"),
	asWhen(kind.Forbidden, "path_escape", func(e *fs.PathError) bool { return strings.Contains(e.Err.Error(), "path escapes") }), // os.Root has no exported name for it
	Is("errors.ErrUnsupported", errors.ErrUnsupported, kind.InvalidRequest, ""),

	// The network. An error that reports a timeout at any depth is a timeout.
	when("Timeout() bool", kind.Timeout, "timeout", timedOut),
	As[*net.DNSError](kind.ServiceUnavailable, ""),
	Is("net.ErrClosed", net.ErrClosed, kind.ServiceUnavailable, ""),
	Is("io.ErrClosedPipe", io.ErrClosedPipe, kind.ServiceUnavailable, "io_error"),
	As[*net.ParseError](kind.Validation, ""),
	As[*net.AddrError](kind.Validation, ""),
	As[net.UnknownNetworkError](kind.Validation, ""),
	As[*net.OpError](kind.ServiceUnavailable, ""),

	// Text in a wrong format. Data of a program is Serialization; input that a person or a model
	// may have typed is Validation.
	As[*json.InvalidUnmarshalError](kind.Internal, ""), // a wrong argument in the program
	As[*json.SyntaxError](kind.Serialization, "invalid_input"),
	As[*json.UnmarshalTypeError](kind.Serialization, "invalid_input"),
	when("json: unknown field", kind.Serialization, "invalid_input", unknownMember),
	As[*json.UnsupportedTypeError](kind.Serialization, ""),
	As[*json.UnsupportedValueError](kind.Serialization, ""),
	As[*json.MarshalerError](kind.Serialization, ""),
	As[*xml.SyntaxError](kind.Serialization, ""),
	As[*xml.UnsupportedTypeError](kind.Serialization, ""),
	As[*csv.ParseError](kind.Serialization, ""),
	As[base64.CorruptInputError](kind.Serialization, "invalid_input"),
	As[hex.InvalidByteError](kind.Serialization, ""),
	Is("hex.ErrLength", hex.ErrLength, kind.Serialization, ""),
	Is("io.ErrUnexpectedEOF", io.ErrUnexpectedEOF, kind.Serialization, "io_error"),
	Is("io.ErrShortWrite", io.ErrShortWrite, "", "io_error"),
	Is("bufio.ErrTooLong", bufio.ErrTooLong, kind.Validation, "too_large"),
	Is("bytes.ErrTooLarge", bytes.ErrTooLarge, kind.Validation, "output_limit"),
	As[*strconv.NumError](kind.Validation, "invalid_input"),
	As[*time.ParseError](kind.Validation, "invalid_input"),
	As[*syntax.Error](kind.Validation, ""),
	As[url.EscapeError](kind.Validation, ""),
	As[url.InvalidHostError](kind.Validation, ""),
	asWhen(kind.Validation, "", func(e *url.Error) bool { return e.Op == "parse" }),
	asWhen(kind.Configuration, "", func(e *url.Error) bool { return refused(e.Err) }),
	As[*url.Error](kind.ServiceUnavailable, ""),

	// Any other error number of the system.
	As[syscall.Errno]("", "io_error"),
	As[*fs.PathError]("", "io_error"),
	As[*os.LinkError]("", "io_error"),
	As[*exec.Error]("", "io_error"),
	As[*exec.ExitError]("", "io_error"),
}

var all = slices.Concat(First, Then)

// Word returns the code of package toolcode for err, and "" if the table has none.
func Word(err error) string {
	for _, r := range all {
		if f, ok := r.Match(err); ok && f.Word != "" {
			return f.Word
		}
	}
	return ""
}

// refused reports whether net/http did not try to send a request because of its URL. The
// errors have no exported names.
func refused(err error) bool {
	return err != nil && (strings.HasPrefix(err.Error(), "unsupported protocol scheme") || err.Error() == "http: no Host in request URL")
}

// timedOut looks at every error in the chain, because an outer one often
// knows only its direct child.
func timedOut(err error) bool {
	return errs.Walk(err, func(err error) bool {
		t, ok := err.(interface{ Timeout() bool })
		return ok && t.Timeout()
	})
}

// unknownMember finds the error of a json.Decoder that allows no unknown members, which has
// no exported name. Sprint survives an Error method that panics.
func unknownMember(err error) bool {
	return errs.Walk(err, func(err error) bool { return strings.HasPrefix(fmt.Sprint(err), "json: unknown field ") })
}

// maxBytes finds the error of http.MaxBytesReader by the name of its type.
func maxBytes(err error) bool {
	return errs.Walk(err, func(err error) bool {
		t := reflect.TypeOf(err)
		return t.Kind() == reflect.Pointer && t.Elem().PkgPath() == "net/http" && t.Elem().Name() == "MaxBytesError"
	})
}

// errno returns the kind of the error numbers that are more specific than the errors of io/fs.
func errno(err error) (f Finding, ok bool) {
	n, ok := errs.As[syscall.Errno](err)
	if !ok {
		return f, false
	}
	f.Kind = cmp.Or(system(n), posix(n))
	switch f.Kind {
	case kind.NotFound:
		f.Word = "not_found"
	case kind.Timeout:
		f.Word = "timeout"
	case kind.Validation:
		f.Word = cmp.Or(errnoWords[n], "invalid_input")
	default:
		f.Word = "io_error"
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
