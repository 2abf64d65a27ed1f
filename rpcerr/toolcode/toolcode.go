// Package toolcode encodes the failure of a tool as a JSON object with a stable code, for models and
// programs that compare the code. Experimental: it may change in any release.
//
//	{"error":"not_found","message":"There is no file notes.md."}
//
// The codes are the [Code] constants, which do not change. A tool fails with
//
//	return toolcode.NoMatch.Newf(nil, "old_string was not found in %s", path)
//
// which is a [kind.Error] whose reason is the code. For a tool of package agent/tools that is all: the
// model reads the object, with the hint behind the message. A person reads the message alone, as in
// "Error: old_string was not found in main.go"; the raw output of the tool call has the code in
// data.reason. An agent with tools of its own gives its model the text of [Envelope.String].
//
// [Of] returns the object for any error.
// It contains a code and a message only. Whether and when to try again, the hint and the data
// are lost; [Envelope.Err] returns what the code implies.
package toolcode

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/internal/errs"
	"github.com/acpkit/go-sdk/rpcerr/internal/goerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Code is a stable name for a way in which tools fail.
type Code string

// The codes.
const (
	InvalidInput   Code = "invalid_input"   // the arguments break the schema or make no sense
	NotFound       Code = "not_found"       // no such path, or no such tool
	NotAFile       Code = "not_a_file"      // a directory where a file was expected, or the reverse
	IsBinary       Code = "is_binary"       // a file that is not text
	NoMatch        Code = "no_match"        // the text to replace is not there
	AmbiguousMatch Code = "ambiguous_match" // it is there more than once
	PatchFailed    Code = "patch_failed"    // a hunk does not apply
	Timeout        Code = "timeout"         // the command took too long
	OutputLimit    Code = "output_limit"    // the command wrote too much and was ended
	TooLarge       Code = "too_large"       // the input is larger than allowed
	PathEscape     Code = "path_escape"     // the path leads out of the workspace
	IOError        Code = "io_error"        // the system failed in another way
	Internal       Code = "internal"        // a bug; the message says nothing
)

// codes has the kind and the fixed message of each code.
var codes = map[Code]struct {
	kind    kind.Kind
	message string
}{
	InvalidInput:   {kind.Validation, "The input is not valid."},
	NotFound:       {kind.NotFound, "It does not exist."},
	NotAFile:       {kind.Validation, "The path is not of the expected type."},
	IsBinary:       {kind.Validation, "The file is not text."},
	NoMatch:        {kind.Validation, "The text was not found."},
	AmbiguousMatch: {kind.Validation, "The text was found more than once."},
	PatchFailed:    {kind.Conflict, "The patch does not apply."},
	Timeout:        {kind.Timeout, "It took too long."},
	OutputLimit:    {kind.Validation, "There was too much output."},
	TooLarge:       {kind.Validation, "The input is too large."},
	PathEscape:     {kind.Forbidden, "The path leads out of the workspace."},
	IOError:        {kind.ServiceUnavailable, "The system could not do it."},
	Internal:       {kind.Internal, "internal error"},
}

// New returns an error with the code. The peer reads the message, except for [Internal],
// whose message is only logged. The error is retryable if the code is timeout; use
// WithRetryable to change that. An empty message or an unknown code is bad use.
func (c Code) New(message string) *kind.Error {
	return c.build(func(k kind.Kind) *kind.Error { return k.New(message) })
}

// Newf is [Code.New] with a formatted message and a cause, as [kind.Kind.Newf] takes them.
func (c Code) Newf(cause error, format string, args ...any) *kind.Error {
	return c.build(func(k kind.Kind) *kind.Error { return k.Newf(cause, format, args...) })
}

func (c Code) build(with func(kind.Kind) *kind.Error) *kind.Error {
	row, known := codes[c]
	if !known {
		return new(kind.Error).WithCause(&errs.Misuse{Func: "toolcode.New", Problem: "unknown code " + strconv.Quote(string(c))})
	}
	e := with(row.kind)
	if c == Internal {
		e = kind.Internal.New(kind.Internal.Message()).WithDebug(e.Message).WithCause(e.Unwrap())
	}
	return e.WithReason(string(c)).WithRetryable(c == Timeout)
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

// Envelope is a failure as one JSON object. Of one that encoding/json has read, Error may be a
// code of another program.
type Envelope struct {
	Error   Code   `json:"error"`
	Message string `json:"message"`
}

// Of returns the envelope of err.
//
//   - An error with a kind keeps its message. Its code is its reason, if that is a code of the kind, or else follows
//     from the kind.
//   - An error of a file, a command, JSON, a validator or a context gets the code that fits and a fixed message.
//   - Any other error, and a nil err, gets the code internal and a fixed message.
//
// Package classify and a connection do not change the result, unless only a pattern recognized err. What the envelope
// leaves out is logged once to logger; nil means slog.Default().
func Of(err error, logger *slog.Logger) Envelope {
	code, message, hides := find(err)
	if hides && !errs.IsLogged(err) {
		level := slog.LevelWarn
		if code == Internal {
			level = slog.LevelError
		}
		cmp.Or(logger, slog.Default()).LogAttrs(context.Background(), level, "a tool failed", append([]slog.Attr{slog.String("code", string(code))}, logAttrs(err)...)...)
	}
	if code == Internal {
		message = codes[Internal].message
	}
	return Envelope{code, strings.ToValidUTF8(message, "\uFFFD")}
}

// find returns the code and the message of err, and whether they hide anything of it.
func find(err error) (code Code, message string, hides bool) {
	e, ok := kind.From(err)
	if ok && e.Is(errs.ErrDerived) && errors.Unwrap(e) != nil && codes[Code(e.Reason)].kind == "" {
		err, ok = errors.Unwrap(e), false // the cause is more specific than the kind
	}
	if ok {
		code, message = codeOf(e), e.Error()
		if string(code) == e.Reason && message == e.Kind.Message() {
			message = codes[code].message // there is no explicit message, and the code is more specific than the kind
		}
		return code, message, code == Internal || e.Debug != "" || errors.Unwrap(e) != nil && errors.Unwrap(e) != err
	}
	if code = Code(goerr.Word(err)); code == "" {
		code = Internal
	}
	return code, codes[code].message, true
}

// codeOf returns the code of an error that carries a kind. Reasons of other programs may
// have the name of a code: one that implies another kind yields to the code that follows from
// the kind, except where package classify gives an error one of the general codes.
func codeOf(e *kind.Error) Code {
	code, plain := Code(e.Reason), ofKind(e.Kind)
	row, known := codes[code]
	if known && (row.kind == e.Kind || row.kind == codes[plain].kind || e.Message == e.Kind.Message() && (code == IOError || code == InvalidInput)) {
		return code
	}
	return plain
}

// logAttrs returns err for the log: its text, and the record inside.
func logAttrs(err error) []slog.Attr {
	e, ok := kind.From(err)
	switch {
	case !ok:
		return []slog.Attr{slog.String("error", errs.LogText(err))}
	case error(e) == err:
		return []slog.Attr{slog.Any("error", e)}
	}
	return []slog.Attr{slog.String("error", errs.LogText(err)), slog.Any("inside", e)}
}

// String returns the envelope as JSON.
func (e Envelope) String() string {
	b, _ := json.Marshal(e) // two strings
	return string(b)
}

// Err returns the envelope as an error like any other, with the kind that its code
// implies, and with kind Unknown for a code of another program.
func (e Envelope) Err() *kind.Error {
	message := e.Message
	if strings.TrimSpace(message) == "" {
		message = cmp.Or(codes[e.Error].message, kind.Unknown.Message())
	}
	if _, known := codes[e.Error]; known {
		return e.Error.New(message)
	}
	return kind.Unknown.New(message).WithReason(string(e.Error))
}
