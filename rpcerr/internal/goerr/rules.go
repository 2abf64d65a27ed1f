// Package goerr is the table of the errors that Go has: for each a kind, which package
// classify reads, and a code of package toolcode.
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
	"github.com/acpkit/go-sdk/internal/validate"
	"github.com/acpkit/go-sdk/rpcerr/internal/inside"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Finding is what a row states about an error.
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
	return when(name, k, word, func(err error) bool { return inside.Is(err, target) })
}

// As returns a row for a type found by errors.As.
func As[E error](k kind.Kind, word string) Rule {
	return asWhen(k, word, func(E) bool { return true })
}

// asWhen is a row for some of the values of a type.
func asWhen[E error](k kind.Kind, word string, is func(E) bool) Rule {
	return when(reflect.TypeFor[E]().String(), k, word, func(err error) bool {
		e, ok := inside.As[E](err)
		return ok && is(e)
	})
}

func when(name string, k kind.Kind, word string, is func(error) bool) Rule {
	return Rule{name, func(err error) (Finding, bool) { return Finding{k, word}, is(err) }}
}

// The words of package toolcode that stand in the table.
const (
	noWord       = ""
	invalidInput = "invalid_input"
	notFound     = "not_found"
	notAFile     = "not_a_file"
	timeout      = "timeout"
	outputLimit  = "output_limit"
	tooLarge     = "too_large"
	pathEscape   = "path_escape"
	ioError      = "io_error"
)

// First and Then are tried from top to bottom. What is more telling stands first: an
// error number of the system before the *url.Error around it. Between the two, package
// classify has the rows of packages that a program with package toolcode alone need not link.
var First = []Rule{
	Is("context.Canceled", context.Canceled, kind.Cancelled, timeout),
	Is("acp.ErrTurnCancelled", acp.ErrTurnCancelled, kind.Cancelled, noWord),
	Is("context.DeadlineExceeded", context.DeadlineExceeded, kind.Timeout, timeout),
	As[runtime.Error](kind.Internal, noWord), // a nil pointer, an index, a type assertion: always a bug

	// The connection of the protocol itself.
	As[*acp.InvalidError](kind.Internal, noWord), // this program's own values, or the peer's response: not the caller's input
	Is("acp.ErrTurnRunning", acp.ErrTurnRunning, kind.Conflict, noWord),
	Is("acp.ErrHandlerStuck", acp.ErrHandlerStuck, kind.Internal, noWord),
	Is("acp.ErrClosed", acp.ErrClosed, kind.ServiceUnavailable, noWord),
	Is("acp.ErrStalled", acp.ErrStalled, kind.ServiceUnavailable, noWord),
	Is("acp.ErrOverloaded", acp.ErrOverloaded, kind.ServiceUnavailable, noWord),
	when("validation", kind.Validation, invalidInput, func(err error) bool { return inside.Walk(err, validate.IsValidation) }),

	// Programs. They come before files, because a missing program is both: to an envelope it
	// is no missing path of the caller's.
	Is("exec.ErrNotFound", exec.ErrNotFound, kind.NotFound, ioError),
	Is("exec.ErrDot", exec.ErrDot, kind.Configuration, ioError),
	Is("exec.ErrWaitDelay", exec.ErrWaitDelay, kind.Timeout, timeout),
	As[*exec.ExitError](kind.Internal, noWord), // a tool that runs commands reports their status as output
}

// Then is the second part of the table.
var Then = []Rule{
	when("*http.MaxBytesError", kind.Validation, tooLarge, maxBytes),

	// The system's error numbers, then the names that io/fs gives to groups of them.
	{"syscall.Errno", errno},
	Is("fs.ErrNotExist", fs.ErrNotExist, kind.NotFound, notFound),
	Is("fs.ErrPermission", fs.ErrPermission, kind.Forbidden, ioError),
	Is("fs.ErrExist", fs.ErrExist, kind.Conflict, ioError),
	Is("fs.ErrInvalid", fs.ErrInvalid, kind.Validation, invalidInput),
	Is("fs.ErrClosed", fs.ErrClosed, kind.Internal, ioError),
	asWhen(kind.Forbidden, pathEscape, func(e *fs.PathError) bool { return strings.Contains(e.Err.Error(), "path escapes") }), // os.Root has no exported name for it
	Is("errors.ErrUnsupported", errors.ErrUnsupported, kind.InvalidRequest, noWord),

	// The network. Whatever timed out is a timeout, at any depth.
	when("Timeout() bool", kind.Timeout, timeout, timedOut),
	As[*net.DNSError](kind.ServiceUnavailable, noWord),
	Is("net.ErrClosed", net.ErrClosed, kind.ServiceUnavailable, noWord),
	Is("io.ErrClosedPipe", io.ErrClosedPipe, kind.ServiceUnavailable, ioError),
	As[*net.ParseError](kind.Validation, noWord),
	As[*net.AddrError](kind.Validation, noWord),
	As[net.UnknownNetworkError](kind.Validation, noWord),
	As[*net.OpError](kind.ServiceUnavailable, noWord),

	// Text that does not say what it should. Data of a machine is Serialization,
	// what a person or a model may have typed is Validation.
	As[*json.InvalidUnmarshalError](kind.Internal, noWord), // a wrong argument in the program
	As[*json.SyntaxError](kind.Serialization, invalidInput),
	As[*json.UnmarshalTypeError](kind.Serialization, invalidInput),
	when("json: unknown field", kind.Serialization, invalidInput, unknownMember),
	As[*json.UnsupportedTypeError](kind.Serialization, noWord),
	As[*json.UnsupportedValueError](kind.Serialization, noWord),
	As[*json.MarshalerError](kind.Serialization, noWord),
	As[*xml.SyntaxError](kind.Serialization, noWord),
	As[*xml.UnsupportedTypeError](kind.Serialization, noWord),
	As[*csv.ParseError](kind.Serialization, noWord),
	As[base64.CorruptInputError](kind.Serialization, invalidInput),
	As[hex.InvalidByteError](kind.Serialization, noWord),
	Is("hex.ErrLength", hex.ErrLength, kind.Serialization, noWord),
	Is("io.ErrUnexpectedEOF", io.ErrUnexpectedEOF, kind.Serialization, ioError),
	Is("io.ErrShortWrite", io.ErrShortWrite, "", ioError),
	Is("bufio.ErrTooLong", bufio.ErrTooLong, kind.Validation, tooLarge),
	Is("bytes.ErrTooLarge", bytes.ErrTooLarge, kind.Validation, outputLimit),
	As[*strconv.NumError](kind.Validation, invalidInput),
	As[*time.ParseError](kind.Validation, invalidInput),
	As[*syntax.Error](kind.Validation, noWord),
	As[url.EscapeError](kind.Validation, noWord),
	As[url.InvalidHostError](kind.Validation, noWord),
	asWhen(kind.Validation, noWord, func(e *url.Error) bool { return e.Op == "parse" }),
	asWhen(kind.Configuration, noWord, func(e *url.Error) bool { return refused(e.Err) }),
	As[*url.Error](kind.ServiceUnavailable, noWord),

	// What else the system failed at.
	As[syscall.Errno]("", ioError),
	As[*fs.PathError]("", ioError),
	As[*os.LinkError]("", ioError),
	As[*exec.Error]("", ioError),
	As[*exec.ExitError]("", ioError),
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
