package envelope

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/acpkit/go-sdk/internal/validate"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

type rule struct {
	code  Code
	match func(error) bool
}

func is(code Code, targets ...error) rule {
	return rule{code, func(err error) bool {
		for _, t := range targets {
			if errors.Is(err, t) {
				return true
			}
		}
		return false
	}}
}

// rules are tried from top to bottom: what is more telling stands first.
var rules = []rule{
	// Work that was stopped before it was done; the codes know no other word for it.
	is(Timeout, context.DeadlineExceeded, context.Canceled, os.ErrDeadlineExceeded, exec.ErrWaitDelay),
	{PathEscape, escapes},
	is(NotAFile, notAFile...),
	is(TooLarge, syscall.EFBIG, bufio.ErrTooLong),
	is(OutputLimit, bytes.ErrTooLarge),
	is(InvalidInput, badPath...),
	is(InvalidInput, fs.ErrInvalid),
	{TooLarge, maxBytes},
	{InvalidInput, badJSON},
	{InvalidInput, badValue},
	{InvalidInput, validate.IsValidation},
	is(IOError, syscall.EAGAIN), // which calls itself a timeout
	{Timeout, timedOut},
	is(IOError, exec.ErrNotFound, exec.ErrDot), // a program that cannot be started is not a missing path of the caller's
	is(NotFound, fs.ErrNotExist),
	is(IOError, fs.ErrPermission, fs.ErrExist, fs.ErrClosed, io.ErrUnexpectedEOF, io.ErrShortWrite, io.ErrClosedPipe),
	{IOError, func(err error) bool {
		_, number := errors.AsType[syscall.Errno](err)
		_, path := errors.AsType[*fs.PathError](err)
		_, link := errors.AsType[*os.LinkError](err)
		_, start := errors.AsType[*exec.Error](err)
		_, exit := errors.AsType[*exec.ExitError](err)
		return number || path || link || start || exit
	}},
}

// escapes finds the error of os.Root, which has no exported name.
func escapes(err error) bool {
	e, ok := errors.AsType[*fs.PathError](err)
	return ok && strings.Contains(e.Err.Error(), "path escapes")
}

// badJSON finds the errors of encoding/json for text that is not what it should be.
func badJSON(err error) bool {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, member := errors.AsType[*json.UnmarshalTypeError](err)
	// A decoder that allows no unknown members has no exported name for its error. Sprint
	// survives an Error method that panics.
	return syntax || member || anyIn(err, func(err error) bool { return strings.HasPrefix(fmt.Sprint(err), "json: unknown field ") })
}

// badValue finds the errors of text that is not the number, time or bytes it should be,
// inside JSON or not.
func badValue(err error) bool {
	_, number := errors.AsType[*strconv.NumError](err)
	_, when := errors.AsType[*time.ParseError](err)
	_, base64 := errors.AsType[base64.CorruptInputError](err)
	return number || when || base64
}

// maxBytes finds the error of http.MaxBytesReader by the name of its type: a program
// that writes envelopes must not link net/http.
func maxBytes(err error) bool {
	return anyIn(err, func(err error) bool {
		t := reflect.TypeOf(err)
		return t.Kind() == reflect.Pointer && t.Elem().PkgPath() == "net/http" && t.Elem().Name() == "MaxBytesError"
	})
}

// anyIn reports whether match holds for err or for an error that it wraps.
func anyIn(err error, match func(error) bool) bool {
	if err == nil || match(err) {
		return err != nil
	}
	switch w := err.(type) {
	case interface{ Unwrap() error }:
		return anyIn(w.Unwrap(), match)
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(w.Unwrap(), func(err error) bool { return anyIn(err, match) })
	}
	return false
}

// timedOut finds an error of the network that ran out of time.
func timedOut(err error) bool {
	t, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return ok && t.Timeout()
}

// ofKind returns the code of an explicit error that does not name one.
func ofKind(k kind.Kind) Code {
	switch k {
	case kind.NotFound, kind.MethodNotFound:
		return NotFound
	case kind.Timeout, kind.Cancelled:
		return Timeout
	case kind.Validation, kind.InvalidParams, kind.InvalidRequest, kind.ParseError, kind.ContextRequired, kind.Conflict:
		return InvalidInput
	case kind.ContextTooLarge:
		return TooLarge
	case kind.Internal, kind.Unknown:
		return Internal
	}
	return IOError
}
